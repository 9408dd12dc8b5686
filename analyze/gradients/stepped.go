package gradients

import (
	"encoding/binary"
	"slices"
	"sort"
	"strings"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// stepping counts the parameters that optimizer spans touch, each span once. The zero value is
// none; see newStepping.
type stepping struct {
	x       *timeline.Rank
	params  *Params
	classes map[string]int    // by the key of their shape
	spans   map[int32]touches // by row
	alike   map[string]int    // numbers of what spans touch, by its text
	scratch []operatorCount   // of one span
}

// touches is what one optimizer span touches.
type touches struct {
	counts []int // parameters, by class
	kind   int   // the same for spans with the same counts
}

// operatorCount is how many tensors of each class the operators of one name go over.
type operatorCount struct {
	name   trace.StringID
	counts []int // by class
}

func newStepping(x *timeline.Rank, p *Params) *stepping {
	return &stepping{x: x, params: p, classes: p.byShape(), spans: make(map[int32]touches), alike: make(map[string]int)}
}

// once reports whether the optimizers of a step touch no more parameters than one of its
// backward passes reaches. Two networks of the same shapes are one to their passes, and two to
// the optimizers.
func (t *stepping) once(s *steps.Step, passes []Backward) bool {
	for class, n := range t.between(s.Update.Start, s.HostEnd) {
		reaches := func(b Backward) bool { return b.of(class) >= n }
		if t.params.Classes[class].Count > 0 && n > 0 && !slices.ContainsFunc(passes, reaches) {
			return false
		}
	}
	return true
}

// between counts, by class, the parameters that the optimizer spans between two instants
// touch, 0 where that cannot be said: of the operators in place that go over tensors of a
// class, the one with the fewest has one each.
func (t *stepping) between(start, end int64) []int {
	total := make([]int, len(t.params.Classes))
	optimizers := t.x.Optimizers
	first := sort.Search(len(optimizers), func(i int) bool { return optimizers[i].End > start })
	for _, span := range optimizers[first:] {
		if span.Start >= end {
			break
		}
		for class, n := range t.touched(span).counts {
			total[class] += n
		}
	}
	return total
}

// touched counts the parameters that one optimizer span touches.
func (t *stepping) touched(span timeline.Span) touches {
	known, ok := t.spans[span.Row]
	if !ok {
		known.counts = t.count(span)
		var buf [64]byte
		key := buf[:0]
		for _, n := range known.counts {
			key = binary.AppendVarint(key, int64(n))
		}
		if known.kind, ok = t.alike[string(key)]; !ok {
			known.kind = len(t.alike)
			t.alike[string(key)] = known.kind
		}
		if len(t.x.Optimizers)*len(t.params.Classes) <= mostWork {
			t.spans[span.Row] = known
		}
	}
	return known
}

func (t *stepping) count(span timeline.Span) []int {
	x, own := t.x, span.Start
	if c, ok := x.Closure(span.Row); ok {
		own = c.End
	}
	in, trackEnd := x.Inputs(), x.TrackEnd(span.Row)
	t.scratch = t.scratch[:0]
	for i := span.Row + 1; i < trackEnd && x.Col.Start[i] < span.End; i++ {
		if x.Col.Start[i] < own || !x.Is(x.Col.Parent[i], timeline.OptimizerStep) {
			continue
		}
		if ops := in.Of(i); len(ops) > 0 && strings.HasSuffix(x.Name(i), "_") {
			t.shapes(t.ofOperator(x.Col.Name[i]), ops[0].Shapes)
		}
	}
	return t.least()
}

// ofOperator returns the counts of an operator in the span at hand.
func (t *stepping) ofOperator(name trace.StringID) []int {
	i := slices.IndexFunc(t.scratch, func(o operatorCount) bool { return o.name == name })
	if i >= 0 {
		return t.scratch[i].counts
	}
	var counts []int
	if i = len(t.scratch); i < cap(t.scratch) {
		counts = t.scratch[:i+1][i].counts // of an earlier span
		clear(counts)
	}
	if counts == nil {
		counts = make([]int, len(t.params.Classes))
	}
	t.scratch = append(t.scratch, operatorCount{name, counts})
	return counts
}

// shapes counts the shapes that are those of a class.
func (t *stepping) shapes(counts []int, shapes [][]int64) {
	var buf [64]byte
	for _, s := range shapes {
		if class, ok := t.classes[string(appendShape(buf[:0], s))]; ok {
			counts[class]++
		}
	}
}

// least returns the least count of each class that is not 0, over all operators of the span at
// hand.
func (t *stepping) least() []int {
	least := make([]int, len(t.params.Classes))
	for _, of := range t.scratch {
		for class, count := range of.counts {
			if count > 0 {
				least[class] = leastOf(least[class], count)
			}
		}
	}
	return least
}
