package gradients

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// Optimizer is an optimizer and the classes of parameters that it steps.
type Optimizer struct {
	Name    string // the class in its spans, such as AdamW
	Classes []int  // indexes into Params.Classes, ascending; none if no class can be attributed
	Updates []int  // indexes of the steps in which it runs, ascending
}

// findOptimizers lists the optimizers of all steps by name and attributes classes of
// parameters to them. A single optimizer steps everything. Of several, the one steps a
// class inside whose spans tensors or messages with its number of elements and its dtype
// occur; a class that fits none or several of them stays without one.
func findOptimizers(x *timeline.Rank, list []steps.Step, params *Params) []Optimizer {
	optimizers := named(list)
	switch len(optimizers) {
	case 0:
		return nil
	case 1:
		for class := range params.Classes {
			optimizers[0].Classes = append(optimizers[0].Classes, class)
		}
		return optimizers
	}
	carried := carried(x)
	for class := range params.Classes {
		p := &params.Classes[class]
		owner := ownerOf(optimizers, carried, p.key())
		if owner < 0 { // lists of tensors are recorded without the dtype of their elements
			owner = ownerOf(optimizers, carried, numelKey{p.Numel, ""})
		}
		if owner >= 0 {
			optimizers[owner].Classes = append(optimizers[owner].Classes, class)
		}
	}
	return optimizers
}

// named lists the optimizers of all steps by name, with the steps they run in.
func named(list []steps.Step) []Optimizer {
	var optimizers []Optimizer
	numbers := make(map[string]int)
	for i := range list {
		for _, name := range list[i].Optimizers {
			at, known := numbers[name]
			if !known {
				at = len(optimizers)
				numbers[name] = at
				optimizers = append(optimizers, Optimizer{Name: name})
			}
			optimizers[at].Updates = append(optimizers[at].Updates, i)
		}
	}
	slices.SortFunc(optimizers, func(a, b Optimizer) int { return cmp.Compare(a.Name, b.Name) })
	return optimizers
}

// ownerOf returns the index of the only optimizer with tensors or messages of some kind, -1
// if there is none or more than one.
func ownerOf(optimizers []Optimizer, carried map[string]map[numelKey]bool, key numelKey) int {
	owner := -1
	for i := range optimizers {
		switch {
		case !carried[optimizers[i].Name][key]:
		case owner >= 0:
			return -1
		default:
			owner = i
		}
	}
	return owner
}

// numelKey is a number of elements and a dtype as plainDtype has it, "" for any. Shapes are
// no part of it, because optimizers view and flatten their tensors.
type numelKey struct {
	numel int64
	dtype string
}

func (p *ParamClass) key() numelKey { return numelKey{p.Numel, plainDtype(p.Dtype)} }

// plainDtype maps the names of a dtype, such as c10::BFloat16 and BFloat16, to one.
func plainDtype(name string) string {
	return strings.ToLower(strings.TrimPrefix(name, "c10::"))
}

// carrier collects what occurs inside the spans of one optimizer.
type carrier struct {
	tensors map[numelKey]bool
	seen    map[*timeline.Operand]bool // operands examined before, by the first: equal texts share them
}

// carried collects, by optimizer, the tensors and messages inside its spans.
func carried(x *timeline.Rank) map[string]map[numelKey]bool {
	all, carriers := make(map[string]map[numelKey]bool), make(map[string]*carrier)
	var before timeline.SeenArgs
	in := x.Inputs()
	eachStepped(x, func(row int32, optimizer string) {
		if before.Again(x.Col.Args[row], optimizer) {
			return
		}
		to := carriers[optimizer]
		if to == nil {
			to = &carrier{make(map[numelKey]bool), make(map[*timeline.Operand]bool)}
			carriers[optimizer], all[optimizer] = to, to.tensors
		}
		if ops := in.Of(row); len(ops) > 0 && !to.seen[&ops[0]] {
			to.seen[&ops[0]] = true
			carryShapes(to.tensors, ops)
		}
		carryMessage(to.tensors, x, row)
	})
	return all
}

// eachStepped calls do once for each row inside spans of optimizers, with the name of the
// innermost of them that has one. It goes over each row once, with a stack of open spans,
// however deep spans are nested.
func eachStepped(x *timeline.Rank, do func(row int32, optimizer string)) {
	type span struct {
		end       int64
		optimizer string
	}
	var open []span
	track := trace.Track{} // that of the last span
	done := int32(0)       // rows before it were visited or are in no span
	enter := func(row int32) {
		if name := timeline.OptimizerName(x.Name(row)); name != "" {
			open = append(open, span{x.End(row), name})
		}
	}
	x.Each(x.Host, timeline.OptimizerStep, func(row int32) {
		if row >= int32(track.First+track.N) {
			track, open = x.Trace.Tracks()[x.Col.Track[row]], open[:0]
		}
		if row >= done {
			enter(row)
		}
		end := x.End(row)
		for done = max(done, row+1); done < int32(track.First+track.N) && x.Col.Start[done] < end; done++ {
			for len(open) > 0 && open[len(open)-1].end <= x.Col.Start[done] {
				open = open[:len(open)-1]
			}
			if _, closure := x.ClosureAt(x.Col.Start[done]); len(open) > 0 && !closure {
				do(done, open[len(open)-1].optimizer)
			}
			if x.Is(done, timeline.OptimizerStep) && x.Col.Phase[done] == trace.Complete {
				enter(done)
			}
		}
	})
}

// carryShapes adds the tensors of operands, but not single numbers, to a set.
func carryShapes(set map[numelKey]bool, ops []timeline.Operand) {
	for _, o := range ops {
		dtype := plainDtype(o.Dtype)
		if o.List {
			dtype = ""
		}
		for _, s := range o.Shapes {
			if len(s) > 0 {
				set[numelKey{timeline.Numel(s), dtype}] = true
			}
		}
	}
}

// carryMessage adds both sides of the message that a row describes, if it does, to a set.
func carryMessage(set map[numelKey]bool, x *timeline.Rank, row int32) {
	if _, ok := x.Trace.Event(int(row)).Arg(trace.KeyDtype); !ok {
		return
	}
	if m := x.MessageAt(row); m.Dtype != "" {
		set[numelKey{m.InElems, plainDtype(m.Dtype)}] = true
		set[numelKey{m.OutElems, plainDtype(m.Dtype)}] = true
	}
}
