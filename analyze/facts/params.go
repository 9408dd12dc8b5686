package facts

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/trace"
)

// ParamClass is the parameters of one shape and dtype. Without recorded shapes all
// parameters are one class with Dims nil and Numel 0.
type ParamClass struct {
	Dims  []int64
	Numel int64
	Dtype string
	Size  int64 // bytes of one element, 0 unknown
	Count int   // parameters, as one backward pass accumulates them
}

// Params is what a rank trains, read from its gradient accumulations.
type Params struct {
	Classes []ParamClass
	Count   int
	Numel   int64
	Bytes   int64 // of the gradients
}

// classKey tells classes apart.
type classKey struct{ dims, dtype string }

// shapeKey is a shape as text, for maps.
func shapeKey(dims []int64) string {
	var buf [64]byte
	key := buf[:0]
	for _, d := range dims {
		key = append(strconv.AppendInt(key, d, 10), ' ')
	}
	return string(key)
}

func (p *Params) add(dims []int64, dtype string) {
	c := ParamClass{Dims: dims, Dtype: dtype, Size: DtypeBytes(dtype)}
	if dims != nil {
		c.Numel = numel(dims)
	}
	p.Classes = append(p.Classes, c)
}

func (p *Params) total() {
	p.Count, p.Numel, p.Bytes = 0, 0, 0
	for _, c := range p.Classes {
		p.Count += c.Count
		p.Numel += int64(c.Count) * c.Numel
		p.Bytes += int64(c.Count) * c.Numel * c.Size
	}
}

// Known tells whether shapes were recorded.
func (p *Params) Known() bool { return p.Numel > 0 }

// Optimizer is an optimizer and the classes of parameters that it steps.
type Optimizer struct {
	Name    string
	Classes []int // into Params.Classes
	Updates []int // steps in which it runs
}

// assignParams gives classes of parameters to optimizers: all to the only one, else
// to the one whose spans carry tensors, or whose collectives carry messages, of that
// many elements and that dtype. A class that several claim, or none, stays without.
func (c *computer) assignParams(r *Rank) {
	places := make(map[string]int)
	for i := range r.Steps {
		for _, name := range r.Steps[i].Optimizers {
			at, known := places[name]
			if !known {
				at = len(r.Optimizers)
				places[name] = at
				r.Optimizers = append(r.Optimizers, Optimizer{Name: name})
			}
			r.Optimizers[at].Updates = append(r.Optimizers[at].Updates, i)
		}
	}
	slices.SortFunc(r.Optimizers, func(a, b Optimizer) int { return cmp.Compare(a.Name, b.Name) })
	if len(r.Optimizers) == 0 {
		return
	}
	if len(r.Optimizers) == 1 {
		for class := range r.Params.Classes {
			r.Optimizers[0].Classes = append(r.Optimizers[0].Classes, class)
		}
		return
	}
	carried := c.carried(r)
	for class := range r.Params.Classes {
		p := &r.Params.Classes[class]
		owner := r.ownerOf(carried, p.key())
		if owner < 0 { // lists of tensors are recorded without the type of their elements
			owner = r.ownerOf(carried, numelKey{p.Numel, ""})
		}
		if owner >= 0 {
			r.Optimizers[owner].Classes = append(r.Optimizers[owner].Classes, class)
		}
	}
}

// ownerOf is the only optimizer that carries tensors or messages of some kind, or -1.
func (r *Rank) ownerOf(carried map[string]map[numelKey]bool, key numelKey) int {
	owner := -1
	for i := range r.Optimizers {
		switch {
		case !carried[r.Optimizers[i].Name][key]:
		case owner >= 0:
			return -1
		default:
			owner = i
		}
	}
	return owner
}

// numelKey is a number of elements and an element type in its plain name.
type numelKey struct {
	numel int64
	dtype string
}

func (p *ParamClass) key() numelKey { return numelKey{p.Numel, plainDtype(p.Dtype)} }

// plainDtype makes one name of c10::BFloat16 and BFloat16.
func plainDtype(name string) string {
	return strings.ToLower(strings.TrimPrefix(name, "c10::"))
}

// carrier is what the spans of one optimizer carry.
type carrier struct {
	tensors map[numelKey]bool
	seen    map[*operand]bool // by the first of them: equal texts are parsed once
}

// carried collects, per optimizer, the tensors and messages inside its spans.
func (c *computer) carried(r *Rank) map[string]map[numelKey]bool {
	all, carriers := make(map[string]map[numelKey]bool), make(map[string]*carrier)
	var before lately
	c.eachStepped(r.host, func(row int32, optimizer string) {
		if before.again(c.col.Args[row], optimizer) {
			return
		}
		to := carriers[optimizer]
		if to == nil {
			to = &carrier{make(map[numelKey]bool), make(map[*operand]bool)}
			carriers[optimizer], all[optimizer] = to, to.tensors
		}
		if ops := c.shapes.inputs(row); len(ops) > 0 && !to.seen[&ops[0]] {
			to.seen[&ops[0]] = true
			carryShapes(to.tensors, ops)
		}
		c.carryMessage(to.tensors, row)
	})
	return all
}

// eachStepped calls do once for each row inside spans of optimizers, with the name of the
// innermost of them that has one.
func (c *computer) eachStepped(tracks []trace.TrackID, do func(row int32, optimizer string)) {
	type span struct {
		end       int64
		optimizer string
	}
	var open []span
	done, track := int32(0), trace.Track{} // rows before done were visited or are in no span
	enter := func(row int32) {
		if name := optimizerName(c.t.String(c.col.Name[row])); name != "" {
			open = append(open, span{c.col.Start[row] + c.col.Dur[row], name})
		}
	}
	c.eachOf(tracks, optimizerStep, func(row int32) {
		if row >= int32(track.First+track.N) {
			track, open = c.t.Tracks()[c.col.Track[row]], open[:0]
		}
		if row >= done {
			enter(row)
		}
		end := c.col.Start[row] + c.col.Dur[row]
		for done = max(done, row+1); done < int32(track.First+track.N) && c.col.Start[done] < end; done++ {
			for len(open) > 0 && open[len(open)-1].end <= c.col.Start[done] {
				open = open[:len(open)-1]
			}
			if len(open) > 0 {
				do(done, open[len(open)-1].optimizer)
			}
			if c.names.is(c.col.Name[done], optimizerStep) && c.col.Phase[done] == trace.Complete {
				enter(done)
			}
		}
	})
}

func carryShapes(set map[numelKey]bool, ops []operand) {
	for _, o := range ops {
		dtype := plainDtype(o.dtype)
		if o.list {
			dtype = ""
		}
		for _, s := range o.shapes {
			if len(s) > 0 {
				set[numelKey{numel(s), dtype}] = true
			}
		}
	}
}

func (c *computer) carryMessage(set map[numelKey]bool, row int32) {
	if _, ok := c.t.Event(int(row)).Arg(trace.KeyDtype); !ok {
		return
	}
	var m Message
	if m.describe(c.t.Event(int(row))); m.Dtype != "" {
		set[numelKey{m.InElems, plainDtype(m.Dtype)}] = true
		set[numelKey{m.OutElems, plainDtype(m.Dtype)}] = true
	}
}

// dropLeaves leaves out what accumulates a gradient and is no parameter, such as the
// hidden state that a chunked loss detaches: single tensors of a shape that no optimizer
// touches. It does so only where the spans of every optimizer show the shapes of its
// parameters, most of all parameters among them.
func (c *computer) dropLeaves(r *Rank) {
	stepped := make(map[string]map[string]bool)
	var before lately
	for _, row := range r.optimizer {
		name, end := optimizerName(c.t.String(c.col.Name[row])), c.col.Start[row]+c.col.Dur[row]
		track := c.t.Tracks()[c.col.Track[row]]
		shapes := stepped[name]
		for i := row + 1; i < int32(track.First+track.N) && c.col.Start[i] < end; i++ {
			if shapes == nil {
				shapes = make(map[string]bool)
				stepped[name] = shapes
			}
			if !before.again(c.col.Args[i], name) {
				noteShapes(shapes, c.shapes.inputs(i))
			}
		}
	}
	if r.Params.covered(stepped) {
		for i := range r.Params.Classes {
			p := &r.Params.Classes[i]
			if p.Count == 1 && !anyHas(stepped, shapeKey(p.Dims)) {
				p.Count = 0
			}
		}
		r.Params.total()
	}
}

func noteShapes(stepped map[string]bool, ops []operand) {
	for _, o := range ops {
		for _, s := range o.shapes {
			stepped[shapeKey(s)] = true
		}
	}
}

func anyHas(sets map[string]map[string]bool, key string) bool {
	for _, set := range sets {
		if set[key] {
			return true
		}
	}
	return false
}

// covered tells whether the shapes that optimizers touch are those of most parameters,
// by number and by elements, and every optimizer touches some.
func (p *Params) covered(stepped map[string]map[string]bool) bool {
	count, elements := 0, int64(0)
	touches := make(map[string]bool)
	for _, class := range p.Classes {
		key := shapeKey(class.Dims)
		if class.Dims == nil || !anyHas(stepped, key) {
			continue
		}
		count += class.Count
		elements += int64(class.Count) * class.Numel
		for name, set := range stepped {
			touches[name] = touches[name] || set[key]
		}
	}
	for name := range stepped {
		if !touches[name] {
			return false
		}
	}
	return 2*count > p.Count && 2*elements > p.Numel
}
