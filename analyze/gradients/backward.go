package gradients

import (
	"slices"
	"sort"
	"strings"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// Backward is one backward pass of a rank: a maximal run of autograd nodes without a
// forward operator, or a message of the loop's own, between them. PyTorch records no span
// around backward() itself.
type Backward struct {
	Start, End  int64  // ns on the host: of its first and its last autograd node
	First, Last int64  // ns on the host: start of the first and end of the last gradient accumulation
	Accumulated []int  // by class of Params, as far as reached: gradient accumulations
	InPlace     int    // accumulations that add to an existing gradient rather than setting it
	Forwards    int    // forward passes that it runs back through, at least 1: see commonCount, nodeOrder
	Added       []int  // by class, as far as reached: those of Accumulated that add to an existing gradient
	Plain       bool   // every accumulation sets a new gradient, and no hook does anything with it
	Nodes       uint64 // a hash of its nodes, in order: equal passes have equal ones
	FromLoss    bool   // it begins at the loss itself, not at a product or a quotient of it
	FromMean    bool   // it begins at a mean
	FromSum     bool   // it begins at a sum
	FromProduct bool   // it begins at a product or a quotient
}

// Backwards is the backward passes of a rank and the parameters that they show.
type Backwards struct {
	List    []Backward // in order of start
	Params  Params     // all that accumulates a gradient, leaves that are no parameters included
	forward []int64    // starts of forward operators on the driving threads, ascending
}

// FindBackwards finds the backward passes and, from them, the parameters: as a pass
// accumulates the gradient of each parameter once, the most accumulations of a class in one
// pass are its parameters.
func FindBackwards(x *timeline.Rank) Backwards {
	if len(x.Nodes) == 0 {
		return Backwards{}
	}
	f := finder{
		x:         x,
		in:        x.Inputs(),
		nodeCount: make(map[trace.StringID]int),
		classes:   classNumbers{of: make(map[classKey]int), seen: make(map[*timeline.Operand]int)},
	}
	f.forward = forwardStarts(x)
	messages := messageStarts(x)
	slack := x.Rounding()
	end := x.Nodes[0].Start
	for i, n := range x.Nodes {
		if i == 0 || steps.AnyIn(f.forward, end+slack, n.Start) || steps.AnyIn(messages, end+slack, n.Start) {
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

// finder goes over the autograd nodes in the order of time and builds the backward passes.
type finder struct {
	Backwards
	x         *timeline.Rank
	in        *timeline.Operands
	classes   classNumbers
	nodeCount map[trace.StringID]int // by name: the nodes of the last pass
	order     nodeOrder              // of those
}

// begin ends the last backward pass and begins another with its first node.
func (f *finder) begin(first timeline.Span) {
	f.finish()
	root := timeline.NodeName(f.x.Name(first.Row))
	classes := len(f.Params.Classes)
	counts := make([]int, 2*classes)
	f.List = append(f.List, Backward{
		Start:       first.Start,
		End:         first.End,
		Accumulated: counts[:0:classes],
		Added:       counts[classes:classes],
		Plain:       true,
		FromLoss:    isLoss(root),
		FromMean:    strings.HasPrefix(root, "MeanBackward"),
		FromSum:     strings.HasPrefix(root, "SumBackward"),
		FromProduct: strings.HasPrefix(root, "MulBackward") || strings.HasPrefix(root, "DivBackward"),
	})
}

// add adds a node to the last backward pass. The evaluate_function span around an
// accumulation that is recorded itself is neither an accumulation nor a node of the model.
func (f *finder) add(n timeline.Span) {
	b := &f.List[len(f.List)-1]
	b.End = max(b.End, n.End)
	switch {
	case f.x.Accumulates(n.Row):
		f.accumulate(b, n, f.classes.number(&f.Params, f.in.Of(n.Row)))
	case !f.x.Is(n.Row, timeline.AccumulateGrad):
		f.nodeCount[f.x.Col.Name[n.Row]]++
		b.Nodes = b.Nodes*1_000_003 + uint64(f.x.Col.Name[n.Row]) + 1
		f.order.node(timeline.NodeName(f.x.Name(n.Row)))
	}
}

// accumulate counts one gradient accumulation by the class of its parameter.
func (f *finder) accumulate(b *Backward, n timeline.Span, class int) {
	for len(b.Accumulated) <= class {
		b.Accumulated, b.Added = append(b.Accumulated, 0), append(b.Added, 0)
	}
	if addsInside(f.x, n.Row) {
		b.InPlace++
		b.Added[class]++
	}
	b.Plain = b.Plain && onlySets(f.x, n.Row)
	b.Accumulated[class]++
	f.order.accumulated()
	if b.First == 0 {
		b.First = n.Start
	}
	b.Last = max(b.Last, n.End)
	f.Params.Classes[class].Count = max(f.Params.Classes[class].Count, b.Accumulated[class])
}

// finish sets the number of forward passes of the last backward pass.
func (f *finder) finish() {
	if n := len(f.List); n > 0 {
		f.List[n-1].Forwards = f.order.several(commonCount(f.x, f.nodeCount, f.List[n-1].Accumulated))
	}
	clear(f.nodeCount)
	f.order = nodeOrder{}
}

// addsInside reports whether an accumulation adds to a gradient instead of setting it: then
// aten::add_ runs inside it.
func addsInside(x *timeline.Rank, row int32) bool {
	end, trackEnd := x.End(row), x.TrackEnd(row)
	for i := row + 1; i < trackEnd && x.Col.Start[i] < end; i++ {
		if x.Is(i, timeline.AddInPlace) {
			return true
		}
	}
	return false
}

// onlySets reports whether an accumulation sets a gradient, and nothing else happens to it, such
// as a hook that adds it to a buffer.
func onlySets(x *timeline.Rank, row int32) bool {
	if parent := x.Col.Parent[row]; parent != trace.NoParent && x.Is(parent, timeline.EvaluateFunction) {
		row = parent
	}
	detaches := false
	end, trackEnd := x.End(row), x.TrackEnd(row)
	for i := row + 1; i < trackEnd && x.Col.Start[i] < end; i++ {
		switch x.Name(i) { // what PyTorch runs to set a gradient to what backward computed
		case "aten::detach":
			detaches = true
		case "detach", "torch::autograd::AccumulateGrad":
		default:
			return false
		}
	}
	return detaches
}

// joinPartial joins a backward pass that reaches less than half of the parameters with the
// next one of its step. A chunked loss runs backward through the head once per chunk and
// then once through the model; counted apart, each chunk would be a micro-batch.
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
		open = 2*params.reached(b.Accumulated) < params.Count && next < len(passes) &&
			s.At(b.Start) == s.At(passes[next].Start)
	}
	return list
}

// join adds the backward pass that follows. Accumulated becomes a slice of its own, since
// the old one belongs to the pass before joining.
func (b *Backward) join(next Backward) {
	sum := make([]int, max(len(b.Accumulated), len(next.Accumulated)))
	for i := range b.Accumulated {
		sum[i] += b.Accumulated[i]
	}
	for i := range next.Accumulated {
		sum[i] += next.Accumulated[i]
	}
	b.End, b.Last = max(b.End, next.End), max(b.Last, next.Last)
	b.Accumulated = sum
	b.Added = nil // of two passes over one leaf
	b.InPlace += next.InPlace
	b.Plain = b.Plain && next.Plain
	b.Forwards = max(b.Forwards, next.Forwards)
}

// of returns how many accumulations of a class a backward pass has.
func (b *Backward) of(class int) int {
	if class < len(b.Accumulated) {
		return b.Accumulated[class]
	}
	return 0
}

// between returns the part of a list of backward passes, in order of start, that begins in
// [start, end).
func between(passes []Backward, start, end int64) []Backward {
	from := firstFrom(passes, start)
	return passes[from:max(from, firstFrom(passes, end))]
}

// firstFrom returns the index of the first backward pass that begins at start or later, in
// a list in order of start.
func firstFrom(passes []Backward, start int64) int {
	return sort.Search(len(passes), func(i int) bool { return passes[i].Start >= start })
}

// isLoss reports whether a node of backward, by its name, is that of a loss.
func isLoss(node string) bool {
	for _, prefix := range []string{"NllLoss", "BinaryCrossEntropy", "MseLoss", "SmoothL1Loss", "HuberLoss"} {
		if strings.HasPrefix(node, prefix) {
			return true
		}
	}
	return false
}
