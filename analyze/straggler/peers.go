package straggler

import (
	"github.com/gaprof/gaprof/analyze/straggler/optable"
	"github.com/gaprof/gaprof/trace/graph"
)

// builder makes the graph of a job: operation i is node i.
type builder struct {
	*job
	g *graph.Graph

	peers map[peer][]op // operations that wait for each other
	order []peer        // of the first operation of each
	count map[link]int32
}

// peer is what operations that wait for each other have in common.
type peer struct {
	step  int32
	kind  optable.Type // of sends and receives, the send
	a, b  int32        // what else tells one group of a kind from another
	which int32        // number among those
}

// link is one way between two stages, as one worker sees it.
type link struct {
	step, worker int32
	kind         optable.Type
}

// build makes the graph of a job.
func (j *job) build() *graph.Graph {
	b := &builder{
		job: j, g: new(graph.Graph), peers: make(map[peer][]op), count: make(map[link]int32),
	}
	b.g.Grow(j.Len(), 2*j.Len())
	for range j.Type {
		b.g.Add(graph.None, 0)
	}
	for _, s := range j.shares {
		b.local(s)
		b.collectives(s)
	}
	for _, key := range b.order {
		if list := b.peers[key]; len(list) > 1 {
			b.g.Join(list...)
		}
	}
	return b.g
}

func (b *builder) join(key peer, i op) {
	if len(b.peers[key]) == 0 {
		b.order = append(b.order, key)
	}
	b.peers[key] = append(b.peers[key], i)
}

// meet pairs a send or a receive with the one of the stage that the neighbouring model chunk
// is in: the k-th with the k-th. chunk is from the model chunk of its computation to that one.
func (b *builder) meet(s share, i, compute op, chunk int32) {
	w := b.workers[s.worker]
	own := b.ModelChunk[compute]
	if own < 0 {
		own = max(0, b.Chunk[compute])*b.stages + w.Stage
	}
	if other := own + chunk; other < 0 || other >= b.chunks*b.stages {
		return // it was never sent
	}
	at := link{s.step, s.worker, b.Type[i]}
	k := b.count[at]
	b.count[at]++
	sender, kind := w.Stage, b.Type[i]
	switch kind {
	case optable.ForwardRecv:
		sender, kind = (w.Stage+chunk+b.stages)%b.stages, optable.ForwardSend
	case optable.BackwardRecv:
		sender, kind = (w.Stage+chunk+b.stages)%b.stages, optable.BackwardSend
	}
	b.join(peer{s.step, kind, w.DP, sender, k}, i)
}

// collectives notes which collectives of a worker have peers.
func (b *builder) collectives(s share) {
	w := b.workers[s.worker]
	for i := s.from; i < s.to; i++ {
		switch t := b.Type[i]; t {
		case optable.AllGather, optable.ReduceScatter, optable.SeparateGrad:
			b.join(peer{s.step, t, w.Stage, 0, b.Seq[i]}, i)
		case optable.EmbeddingGrads:
			if w.Stage == 0 || w.Stage == b.stages-1 {
				b.join(peer{s.step, t, w.DP, 0, b.Seq[i]}, i)
			}
		case optable.Clip:
			b.join(peer{s.step, t, 0, 0, b.Seq[i]}, i)
		}
	}
}
