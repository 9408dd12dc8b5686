package gradients

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// Backward is one backward pass of a rank: a maximal run of autograd nodes without
// a forward operator between them. Times are host times in ns.
type Backward struct {
	Start, End  int64
	First, Last int64 // start of the first and end of the last gradient accumulation
	Accumulated []int // by class of Params: how often one was accumulated
	InPlace     int   // accumulations that add to a gradient that was there
	Forwards    int   // forward passes that it runs back through: see smallestCount
	FromLoss    bool  // it begins with the loss itself, not with a product or a quotient of it
}

// Backwards is the backward passes of a rank, by start, and what they show at once.
type Backwards struct {
	List    []Backward
	Params  Params
	forward []int64 // starts of forward operators on the threads that drive training, ascending
}

// FindBackwards finds the backward passes and, from them, the parameters: a parameter
// of a shape and dtype is what one pass accumulates once.
func FindBackwards(x *timeline.Rank) Backwards {
	if len(x.Nodes) == 0 {
		return Backwards{}
	}
	f := finder{x: x, in: x.Inputs(), nodeCount: make(map[trace.StringID]int),
		classes: classNumbers{of: make(map[classKey]int), seen: make(map[*timeline.Operand]int)}}
	f.forward = forwardStarts(x)
	slack := rounding(x)
	end := x.Nodes[0].Start
	for i, n := range x.Nodes {
		if i == 0 || steps.AnyIn(f.forward, end+slack, n.Start) {
			f.begin(n)
		}
		end = max(end, n.End)
		f.add(n)
	}
	f.finish()
	f.List = slices.DeleteFunc(f.List, func(b Backward) bool { return len(b.Accumulated) == 0 })
	f.Params.total()
	return f.Backwards
}

// finder goes over the nodes of backward in the order of time.
type finder struct {
	Backwards
	x         *timeline.Rank
	in        *timeline.Operands
	classes   classNumbers
	nodeCount map[trace.StringID]int // of the last pass, by name
}

// begin ends the last backward pass and begins one with its first node.
func (f *finder) begin(first timeline.Span) {
	f.finish()
	f.List = append(f.List, Backward{Start: first.Start, End: first.End, Accumulated: make([]int, 0, len(f.Params.Classes)),
		FromLoss: strings.HasPrefix(timeline.NodeName(f.x.Name(first.Row)), "NllLoss")})
}

// add adds a node to the last backward pass.
func (f *finder) add(n timeline.Span) {
	b := &f.List[len(f.List)-1]
	b.End = max(b.End, n.End)
	switch {
	case f.x.Accumulates(n.Row):
		f.accumulate(b, n, f.classes.number(&f.Params, f.in.Of(n.Row)))
	case !f.x.Is(n.Row, timeline.AccumulateGrad):
		f.nodeCount[f.x.Col.Name[n.Row]]++
	}
}

// accumulate counts one gradient accumulation by the class of its parameter.
func (f *finder) accumulate(b *Backward, n timeline.Span, class int) {
	if addsInside(f.x, n.Row) {
		b.InPlace++
	}
	for len(b.Accumulated) <= class {
		b.Accumulated = append(b.Accumulated, 0)
	}
	b.Accumulated[class]++
	if b.First == 0 {
		b.First = n.Start
	}
	b.Last = max(b.Last, n.End)
	f.Params.Classes[class].Count = max(f.Params.Classes[class].Count, b.Accumulated[class])
}

// finish gives the last backward pass its number of forwards.
func (f *finder) finish() {
	if n := len(f.List); n > 0 {
		f.List[n-1].Forwards = smallestCount(f.x, f.nodeCount)
	}
	clear(f.nodeCount)
}

// addsInside reports whether an accumulation adds to a gradient instead of setting it.
func addsInside(x *timeline.Rank, row int32) bool {
	end, trackEnd := x.End(row), x.TrackEnd(row)
	for i := row + 1; i < trackEnd && x.Col.Start[i] < end; i++ {
		if x.Is(i, timeline.AddInPlace) {
			return true
		}
	}
	return false
}

// joinPartial joins a backward pass that reaches less than half of the parameters with
// the next one of its step: a chunked loss runs the head backward for each chunk and
// then the model once.
func joinPartial(passes []Backward, params *Params, s *steps.Steps) []Backward {
	var list []Backward
	open := false
	for i, b := range passes {
		if open {
			last := &list[len(list)-1]
			last.join(b)
			b = *last
		} else {
			list = append(list, b)
		}
		next := i + 1
		open = 2*params.reached(b.Accumulated) < params.Count && next < len(passes) && s.At(b.Start) == s.At(passes[next].Start)
	}
	return list
}

// join adds the pass that follows.
func (b *Backward) join(next Backward) {
	sum := make([]int, max(len(b.Accumulated), len(next.Accumulated)))
	for i := range b.Accumulated {
		sum[i] += b.Accumulated[i]
	}
	for i := range next.Accumulated {
		sum[i] += next.Accumulated[i]
	}
	b.End, b.Last, b.Accumulated = max(b.End, next.End), max(b.Last, next.Last), sum
	b.InPlace += next.InPlace
	b.Forwards = max(b.Forwards, next.Forwards)
}

// rounding is how far a child may seem to begin after its parent's end: writers that
// give whole microseconds cut start and duration, up to one each.
func rounding(x *timeline.Rank) int64 {
	const sample = 10_000
	for i := range min(sample, len(x.Col.Start)) {
		if x.Col.Start[i]%1000 != 0 || x.Col.Dur[i]%1000 != 0 {
			return 0
		}
	}
	return 2000
}

// forwardStarts are the starts of operators on the threads that drive training,
// outside backward and optimizer. Other threads (data loading) say nothing.
func forwardStarts(x *timeline.Rank) []int64 {
	const elsewhere = timeline.OptimizerStep | timeline.EvaluateFunction | timeline.AccumulateGrad | timeline.Framework | timeline.BackwardNode
	var starts []int64
	x.Each(drivingThreads(x), timeline.AtenOp|timeline.Compiled, func(row int32) {
		if parent := x.Col.Parent[row]; parent != trace.NoParent && x.Is(parent, timeline.AtenOp) {
			return // only outermost operators count
		}
		if !x.Inside(row, elsewhere) {
			starts = append(starts, x.Col.Start[row])
		}
	})
	slices.Sort(starts)
	return starts
}

// drivingThreads are those that step an optimizer outside backward or carry
// ProfilerStep#; where there are none, all that are not autograd's.
func drivingThreads(x *timeline.Rank) []trace.TrackID {
	var drive, rest []trace.TrackID
	for _, id := range x.Host {
		drives := x.Track(id)&timeline.ProfilerStep != 0
		x.Each([]trace.TrackID{id}, timeline.OptimizerStep, func(row int32) { drives = drives || !x.InBackward(row) })
		if drives {
			drive = append(drive, id)
		} else if !x.Autograd(id) {
			rest = append(rest, id)
		}
	}
	if len(drive) > 0 {
		return drive
	}
	return rest
}

// lossArithmetic are nodes that join the losses of several forward passes into one
// and so may occur once however many forwards there were.
var lossArithmetic = map[string]bool{
	"AddBackward0": true, "SubBackward0": true, "MulBackward0": true, "DivBackward0": true, "SumBackward0": true, "StackBackward0": true,
	"MeanBackward0": true, "NegBackward0": true, "CatBackward0": true, "SumBackward1": true, "MeanBackward1": true, "ToCopyBackward0": true,
}

// smallestCount is how often the rarest backward node occurs: each forward pass
// leaves every node of the model at least once. Nodes that join losses do not count
// where there are others, and a single name says nothing: that many equal layers look
// like that many forwards.
func smallestCount(x *timeline.Rank, nodeCount map[trace.StringID]int) int {
	if len(nodeCount) < 2 {
		return 1
	}
	least, leastJoin := 0, 0
	for id, n := range nodeCount {
		if lossArithmetic[timeline.NodeName(x.Trace.String(id))] {
			leastJoin = leastOf(leastJoin, n)
		} else {
			least = leastOf(least, n)
		}
	}
	return cmp.Or(least, leastJoin, 1)
}

func leastOf(least, n int) int {
	if least == 0 || n < least {
		return n
	}
	return least
}

// between returns the passes that begin in [start, end), of a list by start.
func between(passes []Backward, start, end int64) []Backward {
	from := firstFrom(passes, start)
	return passes[from:max(from, firstFrom(passes, end))]
}

// firstFrom is the index of the first backward pass from a moment on, of a list by start.
func firstFrom(passes []Backward, start int64) int {
	return sort.Search(len(passes), func(i int) bool { return passes[i].Start >= start })
}
