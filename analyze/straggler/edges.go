package straggler

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/analyze/straggler/optable"
	"github.com/gaprof/gaprof/trace/graph"
)

// tolerance is how far the clocks of two ends of a transfer may differ, in ns.
const tolerance = 50_000

// local adds the edges within one worker in one step, by when operations were seen to start.
func (b *builder) local(s share) {
	compute := b.of(s, optable.ForwardCompute, optable.BackwardCompute)
	b.chain(compute)
	for _, t := range []optable.Type{
		optable.ForwardSend, optable.ForwardRecv, optable.BackwardSend, optable.BackwardRecv,
	} {
		b.chain(b.of(s, t))
	}
	for _, d := range directions {
		b.transfers(s, d)
	}
	b.firstBackward(s, compute)
	b.chain(b.of(s, optable.AllGather, optable.ReduceScatter))
	b.gathers(s)
	b.tail(s, compute)
}

// chain makes each operation wait for the one before it.
func (b *builder) chain(list []op) {
	for i := 1; i < len(list); i++ {
		b.edge(list[i-1], list[i])
	}
}

// direction is one of the two passes through a pipeline.
type direction struct {
	compute, recv, send optable.Type
	next                int32 // from a model chunk to the one that it sends to
}

var directions = []direction{
	{optable.ForwardCompute, optable.ForwardRecv, optable.ForwardSend, 1},
	{optable.BackwardCompute, optable.BackwardRecv, optable.BackwardSend, -1},
}

// transfers joins the sends and receives of a worker to the computations that make and take
// what is sent.
func (b *builder) transfers(s share, d direction) {
	compute := b.of(s, d.compute)
	if len(compute) == 0 {
		return
	}
	last, first := b.Start[compute[len(compute)-1]], b.end(compute[0])
	for _, c := range compute {
		last, first = max(last, b.Start[c]), min(first, b.end(c))
	}
	recvs := slices.DeleteFunc(b.of(s, d.recv), func(i op) bool { return b.Start[i] > last+tolerance })
	sends := slices.DeleteFunc(b.of(s, d.send), func(i op) bool { return b.end(i) < first-tolerance })
	skip := 0
	if len(recvs)+1 == len(compute) {
		skip = 1 // the first computation had nothing to wait for
	}
	for k, i := range recvs {
		if k += skip; k < len(compute) {
			b.edge(i, compute[k])
			if k > 0 {
				b.edge(compute[k-1], i)
			}
			b.meet(s, i, compute[k], -d.next)
		}
	}
	for k, i := range sends {
		if k < len(compute) {
			b.edge(compute[k], i)
			b.meet(s, i, compute[k], d.next)
		}
	}
}

// firstBackward makes the first transfers of backward wait for the forward pass before the
// last one, with which a schedule of one forward and one backward pass issues them.
func (b *builder) firstBackward(s share, compute []op) {
	at := slices.IndexFunc(compute, func(i op) bool { return b.Type[i] == optable.BackwardCompute })
	if at < 2 {
		return
	}
	for _, t := range []optable.Type{optable.BackwardRecv, optable.BackwardSend} {
		if list := b.of(s, t); len(list) > 0 {
			b.edge(compute[at-2], list[0])
		}
	}
}

// gathers makes the first forward pass of each model chunk wait for the last all-gather of
// its parameters.
func (b *builder) gathers(s share) {
	forward := b.of(s, optable.ForwardCompute)
	gathers := b.of(s, optable.AllGather)
	for chunk := range b.chunks {
		ofChunk := func(i op) bool { return b.Chunk[i] == chunk }
		at := slices.IndexFunc(forward, ofChunk)
		last := -1
		for k, i := range gathers {
			if ofChunk(i) {
				last = k
			}
		}
		if at >= 0 && last >= 0 {
			b.edge(gathers[last], forward[at])
		}
	}
}

// tail orders what follows the last computation of a step.
func (b *builder) tail(s share, compute []op) {
	var list []op
	if len(compute) > 0 {
		list = append(list, slices.MaxFunc(compute, func(x, y op) int {
			return cmp.Or(cmp.Compare(b.end(x), b.end(y)), cmp.Compare(y, x))
		}))
	}
	reduce := b.of(s, optable.ReduceScatter)
	list = append(list, b.of(s, optable.GC)...)
	separate := b.of(s, optable.SeparateGrad)
	beside := len(separate) > 0 // reduction overlaps backward
	if beside {
		b.reduceBeside(s, reduce)
	}
	from := len(list)
	list = append(list, b.of(s, optable.LayerNormGrads)...)
	if stage := b.workers[s.worker].Stage; stage == 0 || stage == b.stages-1 {
		list = append(list, b.of(s, optable.EmbeddingGrads)...)
	}
	if !beside {
		list = append(list, reduce...)
	}
	list = append(list, separate...)
	list = append(append(list, b.of(s, optable.Clip)...), b.of(s, optable.Optimizer)...)
	b.chain(list)
	if beside && len(reduce) > 0 && from < len(list) {
		b.edge(reduce[len(reduce)-1], list[from])
	}
}

// reduceBeside makes the first reduce-scatter of each model chunk wait for the last backward
// pass of the chunk.
func (b *builder) reduceBeside(s share, reduce []op) {
	backward := b.of(s, optable.BackwardCompute)
	for chunk := range b.chunks {
		first := slices.IndexFunc(reduce, func(i op) bool { return b.Chunk[i] == chunk })
		last := none
		for _, i := range backward {
			if b.Chunk[i] == chunk && (last == none || b.end(i) > b.end(last)) {
				last = i
			}
		}
		if first >= 0 && last != none {
			b.edge(last, reduce[first])
		}
	}
}

// edge makes an operation wait for the end of another.
func (b *builder) edge(from, to op) { b.g.Connect(from, to, graph.Order, 0) }
