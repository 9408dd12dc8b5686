package gradients

import (
	"slices"
	"sort"
	"strings"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// Gap is the time between two backward passes of one step, and what becomes of the gradients
// that the first of them left.
type Gap struct {
	Start, End int64 // ns: end of the last accumulation of one pass, start of the first one of the next

	// Accumulating says that the second pass goes on with what the first one began: both reach
	// the same parameters, no optimizer runs them by its closure, and the step has as many
	// passes as others. A step that a program leaves out has those of two.
	Accumulating bool
	Used         bool // the gradients are read before the second pass: by a norm, an unscaling, a change of weights
	Cleared      bool // zero_grad runs, or gradients are filled with zeros
	Renewed      bool // the second pass sets all gradients: somebody cleared them
	Apart        bool // the second pass does not add to what the first one left, whatever the reason
}

// Gaps is the gaps of one step, in order of time.
type Gaps []Gap

// At returns the gap that holds an instant, or nil.
func (g Gaps) At(t int64) *Gap {
	i := sort.Search(len(g), func(i int) bool { return g[i].End > t })
	if i == len(g) || t < g[i].Start {
		return nil
	}
	return &g[i]
}

// Loses reports whether gradients that are cleared in the gap are lost to the update.
func (g *Gap) Loses() bool { return g.Accumulating && !g.Used }

// gapsOf lists the gaps of every step, given the backward passes of each. ops are the gradient
// operations, in order of start.
func gapsOf(t *stepping, list []steps.Step, passes [][]Backward, ops []operation) []Gaps {
	x, params := t.x, t.params
	usual := usualPasses(list, passes)
	all := make([]Gaps, len(passes))
	var zeros []int64
	reducer := x.AnyName()&timeline.Reducer != 0 && x.AnyName()&timeline.FSDP2 == 0
	var shapes map[string]int // parameters by shape, made when they are needed
	for i, passes := range passes {
		if len(passes) < 2 {
			continue
		}
		if shapes == nil {
			shapes = params.shapes()
			zeros = zeroStarts(x, ops, shapes)
		}
		alone := len(passes) == usual[optimizersOf(&list[i])] && t.once(&list[i], passes)
		for k := range passes[:len(passes)-1] {
			a, b := &passes[k], &passes[k+1]
			g := Gap{Start: a.Last, End: b.First, Renewed: b.Plain && params.Known()}
			g.Used = usedIn(x, ops, params, shapes, &g, params.reached(a.Accumulated))
			closure := oneClosure(x, a, b)
			g.Accumulating = alone && params.sameReach(a, b) && !closure
			g.Cleared = steps.AnyIn(zeros, g.Start, g.End)
			g.Apart = closure || g.Cleared || b.InPlace == 0 && reducer && params.Known()
			all[i] = append(all[i], g)
		}
	}
	return all
}

// keepApart leaves out of the reductions that are done again those of gradients that nothing is
// added to: of SAM's first pass, or of LBFGS's evaluations, each of which is needed.
func keepApart(list []HostCollective, own []Step) {
	for i := range list {
		c := &list[i]
		if !c.Again {
			continue
		}
		for _, g := range own[c.Step].Gaps {
			c.Again = c.Again && !(g.Apart && g.End > c.Event.Start)
		}
	}
}

// optimizersOf is a key of steps with the same optimizers.
func optimizersOf(s *steps.Step) string { return strings.Join(s.Optimizers, "\x00") }

// zeroStarts returns the starts of zero_grad spans and of operators outside of backward that fill
// tensors of the shapes of parameters with zeros, ascending.
func zeroStarts(x *timeline.Rank, ops []operation, shapes map[string]int) []int64 {
	var starts []int64
	for _, z := range x.Spans(x.Host, timeline.ZeroGrad) {
		starts = append(starts, z.Start)
	}
	for i := range ops {
		if ops[i].family == zeroFill && hasAny(shapes, ops[i].shapes()) && !x.InBackward(ops[i].row) {
			starts = append(starts, ops[i].start)
		}
	}
	slices.Sort(starts)
	return starts
}

// hasAny reports whether one of some shapes is among those of parameters.
func hasAny(parameters map[string]int, shapes [][]int64) bool {
	return slices.ContainsFunc(shapes, func(s []int64) bool { return parameters[shapeKey(s)] > 0 })
}

// usualPasses returns how many backward passes a step usually has, by its optimizers: the most
// frequent number of complete steps, the least of several.
func usualPasses(list []steps.Step, passes [][]Backward) map[string]int {
	counts := make(map[string]map[int]int)
	for i := range passes {
		key := optimizersOf(&list[i])
		if counts[key] == nil {
			counts[key] = make(map[int]int)
		}
		if n := len(passes[i]); n > 0 && (i > 0 || list[i].Complete || len(list) == 1) {
			counts[key][n]++
		}
	}
	usual := make(map[string]int)
	for key, of := range counts {
		for n, times := range of {
			if best := usual[key]; best == 0 || times > of[best] || times == of[best] && n < best {
				usual[key] = n
			}
		}
	}
	return usual
}

// oneClosure reports whether two backward passes run in the closure of one optimizer span: it
// evaluates a loss several times, and uses the gradients of each.
func oneClosure(x *timeline.Rank, a, b *Backward) bool {
	first, ok := x.ClosureAt(a.Start)
	second, also := x.ClosureAt(b.Start)
	return ok && also && first.Row == second.Row
}

// sameReach reports whether two backward passes reach the same parameters, as far as classes
// tell: 90 % of those of either. A first pass that reaches what the second does not, as an input
// whose gradient says how to change it, is for that.
func (p *Params) sameReach(a, b *Backward) bool {
	both, most := 0, 0
	for class := range p.Classes {
		n, m := a.of(class), b.of(class)
		if n > 0 && m == 0 {
			return false
		}
		both, most = both+min(n, m), most+max(n, m)
	}
	return float64(both) >= coverage*float64(most)
}

// shapes counts the parameters by shape.
func (p *Params) shapes() map[string]int {
	counts := make(map[string]int)
	for i := range p.Classes {
		if p.Classes[i].Count > 0 && p.Classes[i].Dims != nil {
			counts[shapeKey(p.Classes[i].Dims)] += p.Classes[i].Count
		}
	}
	return counts
}

// usedIn reports whether operations between two instants, outside backward, read gradients or
// change weights: unscaling, or norms, sums into or copies of tensors with the shapes of half
// of the tensors that a backward pass reaches, or one tensor that is joined of as many.
func usedIn(x *timeline.Rank, ops []operation, params *Params, shapes map[string]int, g *Gap, reached int) bool {
	var found map[family]map[string]int
	for i := from(ops, g.Start); i < len(ops) && ops[i].start < g.End; i++ {
		t := &ops[i]
		switch t.family {
		case unscale:
			return true
		case join:
			if t.of == nil || 2*params.named(t.shapes()) >= reached {
				return true
			}
		case norm, adjust, copyInto:
			if x.InBackward(t.row) {
				continue
			}
			if found == nil {
				found = make(map[family]map[string]int)
			}
			if found[t.family] == nil {
				found[t.family] = make(map[string]int)
			}
			for _, s := range t.shapes() {
				found[t.family][shapeKey(s)]++
			}
		}
	}
	for _, counts := range found {
		n := 0
		for key, times := range counts {
			n += min(times, shapes[key])
		}
		if 2*n >= reached {
			return true
		}
	}
	return false
}

// named counts the tensors that have as many elements as parameters, each of which is matched once.
func (p *Params) named(shapes [][]int64) (n int) {
	left := make(map[int64]int)
	for i := range p.Classes {
		left[p.Classes[i].Numel] += p.Classes[i].Count
	}
	for _, s := range shapes {
		if left[timeline.Numel(s)]--; left[timeline.Numel(s)] >= 0 {
			n++
		}
	}
	return n
}

// from returns the index of the first operation that begins at an instant or later.
func from(ops []operation, start int64) int {
	return sort.Search(len(ops), func(i int) bool { return ops[i].start >= start })
}
