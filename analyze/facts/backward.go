package facts

import (
	"cmp"
	"slices"
	"sort"

	"github.com/gaprof/gaprof/trace"
)

// Backward is one backward pass of a rank: a maximal run of autograd nodes without
// a forward operator between them. Times are host times in ns.
type Backward struct {
	Start, End  int64
	First, Last int64 // start of the first and end of the last gradient accumulation
	Accumulated []int // by class of Parameters: how often one was accumulated
	InPlace     int   // accumulations that add to a gradient that was there
	Forwards    int   // forward passes that it runs back through: see smallestCount
	root        trace.StringID
}

// hostOp is a span of a host thread in one list over all threads.
type hostOp struct {
	row        int32
	start, end int64
}

// backwards finds the backward passes and, from them, the parameters: a parameter
// of a shape and dtype is what one pass accumulates once.
func (c *computer) backwards(r *Rank) {
	r.nodes = c.spansOf(r.host, evaluate|accumulate)
	if len(r.nodes) == 0 {
		return
	}
	r.forward = c.forwardStarts(r)
	classes := classNumbers{of: make(map[classKey]int), seen: make(map[*operand]int)}
	nodeCount := make(map[trace.StringID]int)
	exact := c.exactNodes(r)
	slack := c.rounding()
	end := r.nodes[0].start
	for i, n := range r.nodes {
		if i == 0 || anyIn(r.forward, end+slack, n.start) {
			finish(r, c, nodeCount)
			r.Backwards = append(r.Backwards, Backward{Start: n.start, End: n.end, Accumulated: make([]int, 0, len(r.Params.Classes)), root: c.col.Name[n.row]})
		}
		b := &r.Backwards[len(r.Backwards)-1]
		b.End = max(b.End, n.end)
		end = max(end, n.end)
		switch class := c.names.class[c.col.Name[n.row]]; {
		case class == accumulate, class&accumulate != 0 && !exact:
			c.accumulated(r, b, n, classes.number(&r.Params, c.shapes.inputs(n.row)))
		case class&accumulate == 0:
			nodeCount[c.col.Name[n.row]]++
		}
	}
	finish(r, c, nodeCount)
	r.Backwards = slices.DeleteFunc(r.Backwards, func(b Backward) bool { return len(b.Accumulated) == 0 })
	r.Params.total()
}

// joinPartial joins a backward pass that reaches less than half of the parameters with
// the next one of its step: a chunked loss runs the head backward for each chunk and
// then the model once.
func (r *Rank) joinPartial() {
	var list []Backward
	open := false
	for i, b := range r.Backwards {
		if open {
			last := &list[len(list)-1]
			last.join(b)
			b = *last
		} else {
			list = append(list, b)
		}
		next := i + 1
		open = 2*r.Params.reached(b.Accumulated) < r.Params.Count && next < len(r.Backwards) && r.StepAt(b.Start) == r.StepAt(r.Backwards[next].Start)
	}
	r.Backwards = list
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

// reached is how many parameters some accumulations are of.
func (p *Params) reached(accumulated []int) int {
	n := 0
	for i, count := range accumulated {
		n += min(count, p.Classes[i].Count)
	}
	return n
}

// rounding is how far a child may seem to begin after its parent's end: writers that
// give whole microseconds cut start and duration, up to one each.
func (c *computer) rounding() int64 {
	const sample = 10_000
	for i := range min(sample, len(c.col.Start)) {
		if c.col.Start[i]%1000 != 0 || c.col.Dur[i]%1000 != 0 {
			return 0
		}
	}
	return 2000
}

// spansOf lists the spans of some classes over all threads by start.
func (c *computer) spansOf(tracks []trace.TrackID, class nameClass) []hostOp {
	n := 0
	c.eachOf(tracks, class, func(int32) { n++ })
	list := make([]hostOp, 0, n)
	c.eachOf(tracks, class, func(row int32) {
		list = append(list, hostOp{row, c.col.Start[row], c.col.Start[row] + c.col.Dur[row]})
	})
	sortOps(list)
	return list
}

// forwardStarts are the starts of operators on the threads that drive training,
// outside backward and optimizer. Other threads (data loading) say nothing.
func (c *computer) forwardStarts(r *Rank) []int64 {
	drive := c.drivingThreads(r)
	var starts []int64
	c.eachOf(drive, atenOp|compiled, func(row int32) {
		if c.col.Parent[row] != trace.NoParent && c.atenInside(row) {
			return
		}
		if !c.inside(row, optimizerStep|evaluate|accumulate|framework|backwardNode) {
			starts = append(starts, c.col.Start[row])
		}
	})
	slices.Sort(starts)
	return starts
}

// atenInside tells whether an operator's parent is one too: only outermost ones count.
func (c *computer) atenInside(row int32) bool {
	return c.names.is(c.col.Name[c.col.Parent[row]], atenOp)
}

// drivingThreads are those that step an optimizer outside backward or carry
// ProfilerStep#; where there are none, all that are not autograd's.
func (c *computer) drivingThreads(r *Rank) []trace.TrackID {
	var drive, rest []trace.TrackID
	for _, id := range r.host {
		drives := c.trackClass[id]&profilerStep != 0
		c.eachOf([]trace.TrackID{id}, optimizerStep, func(row int32) { drives = drives || !c.inBackward(row) })
		if drives {
			drive = append(drive, id)
		} else if !c.autogradThread[id] {
			rest = append(rest, id)
		}
	}
	if len(drive) > 0 {
		return drive
	}
	return rest
}

// classNumbers numbers the classes of parameters as they come.
type classNumbers struct {
	of   map[classKey]int
	seen map[*operand]int // by the first of several operands: equal texts are parsed once
}

// number is the class of what an accumulation takes; a new one is added to p.
func (k *classNumbers) number(p *Params, ops []operand) int {
	if len(ops) == 0 || len(ops[0].shapes) != 1 {
		return k.numberOf(p, nil, "", classKey{})
	}
	class, ok := k.seen[&ops[0]]
	if !ok {
		dims, dtype := ops[0].shapes[0], ops[0].dtype
		class = k.numberOf(p, dims, dtype, classKey{shapeKey(dims), dtype})
		k.seen[&ops[0]] = class
	}
	return class
}

func (k *classNumbers) numberOf(p *Params, dims []int64, dtype string, key classKey) int {
	class, ok := k.of[key]
	if !ok {
		class = len(p.Classes)
		k.of[key] = class
		p.add(dims, dtype)
	}
	return class
}

// accumulated counts one gradient accumulation by the class of its parameter.
func (c *computer) accumulated(r *Rank, b *Backward, n hostOp, class int) {
	if c.addsInside(n.row) {
		b.InPlace++
	}
	for len(b.Accumulated) <= class {
		b.Accumulated = append(b.Accumulated, 0)
	}
	b.Accumulated[class]++
	if b.First == 0 {
		b.First = n.start
	}
	b.Last = max(b.Last, n.end)
	r.Params.Classes[class].Count = max(r.Params.Classes[class].Count, b.Accumulated[class])
}

// addsInside tells whether an accumulation adds to a gradient instead of setting it.
func (c *computer) addsInside(row int32) bool {
	end := c.col.Start[row] + c.col.Dur[row]
	track := c.t.Tracks()[c.col.Track[row]]
	for i := row + 1; i < int32(track.First+track.N) && c.col.Start[i] < end; i++ {
		if c.names.is(c.col.Name[i], addInPlace) {
			return true
		}
	}
	return false
}

// finish gives the last backward pass its number of forwards.
func finish(r *Rank, c *computer, nodeCount map[trace.StringID]int) {
	if n := len(r.Backwards); n > 0 {
		r.Backwards[n-1].Forwards = c.smallestCount(nodeCount)
	}
	clear(nodeCount)
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
func (c *computer) smallestCount(nodeCount map[trace.StringID]int) int {
	if len(nodeCount) < 2 {
		return 1
	}
	least, leastJoin := 0, 0
	for id, n := range nodeCount {
		if lossArithmetic[nodeName(c.t.String(id))] {
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

// backwardsIn returns the passes that begin in [start, end).
func (r *Rank) backwardsIn(start, end int64) []Backward {
	from := sort.Search(len(r.Backwards), func(i int) bool { return r.Backwards[i].Start >= start })
	to := sort.Search(len(r.Backwards), func(i int) bool { return r.Backwards[i].Start >= end })
	return r.Backwards[from:max(from, to)]
}
