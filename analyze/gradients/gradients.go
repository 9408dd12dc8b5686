package gradients

import (
	"cmp"
	"sync"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/parallel"
)

// Gradients is what a rank does with its gradients: a value that holds no reference
// into the trace once its texts are cloned.
type Gradients struct {
	Params          Params           // without leaves that no optimizer touches
	Optimizers      []Optimizer      // by name
	Backwards       []Backward       // in order of start; partial ones are joined
	HostCollectives []HostCollective // in order of start
	NoSync          []NoSync         // where the program is inside no_sync(), in order of start
	Stacks          bool             // the program's stacks were recorded, so that no_sync() would show
	Sync            Sync             // how gradients are reduced over ranks
	Tokens          TokenAllReduce   // where the token count is reduced over ranks
	Passes          []Pass           // by step
	Written         []bool           // by step: gradients may have been cleared since the update before: see written
	ShardsKept      []bool           // by step: gradients of shards were there before it: see kept
	Steps           []Step           // by index of the rank's steps
}

// Compute derives what a rank does with its gradients from its index, its steps and its
// backward passes. world is the number of ranks, 0 unknown. rows are the rows of
// HostCollectives, entry by entry: they would not survive the trace, but the caller needs
// them to join device collectives to these.
func Compute(x *timeline.Rank, s *steps.Steps, b Backwards, world int64) (g *Gradients, rows []int32) {
	g = &Gradients{}
	var list []operation
	var touch *stepping
	parallel.Both(func() { list = operations(x) }, func() {
		g.Params = withoutLeaves(x, b.Params)
		g.Backwards = joinPartial(b.List, &g.Params, s)
		oneForward(g.Backwards, &g.Params)
		g.Optimizers = findOptimizers(x, s.List, &g.Params)
		touch = newStepping(x, &g.Params)
		g.Steps = accumulate(touch, s.List, g.Optimizers, g.Backwards, b.forward)
		g.HostCollectives, rows = hostCollectives(x, s, &g.Params, g.Optimizers, g.Backwards)
		g.NoSync, g.Stacks = noSyncs(x), x.AnyName()&timeline.ProgramLine != 0
		markNoSync(x, g.HostCollectives, rows, g.NoSync)
		readiness(x, g.Backwards, g.HostCollectives)
		g.Sync = synchronization(s.List, g.Steps, g.Backwards, g.HostCollectives, world)
	})
	markScattered(x, g.HostCollectives, rows, list)
	reduced := reductions(g.HostCollectives)
	markAveraged(reduced, list)
	m := newMatcher(&g.Params, g.Optimizers, cmp.Or(g.Sync.Shards, g.Sync.Ranks, world))
	m.shapes.markNorms(list)
	g.Written = written(x, s.List, g.Steps, m.shapes, list)
	g.ShardsKept = kept(x, s.List, g.HostCollectives, list)
	passes := make([][]Backward, len(g.Steps))
	for i := range g.Steps {
		passes[i] = g.Steps[i].Backwards
	}
	for i, gaps := range gapsOf(touch, s.List, passes, list) {
		g.Steps[i].Gaps = gaps
	}
	keepApart(g.HostCollectives, g.Steps)
	parallel.Both(func() {
		f := passFinder{x: x, list: list, collectives: g.HostCollectives, rows: rows,
			byHand: byHand(x, reduced), numbers: ofNumbers(g.HostCollectives),
			waits: sync.OnceValue(func() *timeline.Set { return collectiveTime(x) })}
		g.Passes = f.find(s.List, g.Steps, m)
	}, func() {
		g.Tokens = tokenAllReduce(x, s.List, g.Steps, g.HostCollectives, normStarts(list), b.forward)
	})
	return g, rows
}

// Texts calls visit for every text that may be a piece of the trace's memory, and so would
// keep all of it alive. The caller replaces each with a copy.
func (g *Gradients) Texts(visit func(*string)) {
	visit(&g.Sync.Site.Name)
	for i := range g.Params.Classes {
		visit(&g.Params.Classes[i].Dtype)
	}
	for i := range g.Optimizers {
		visit(&g.Optimizers[i].Name)
	}
	for i := range g.HostCollectives {
		c := &g.HostCollectives[i]
		c.Event.Texts(visit)
		visit(&c.Dtype)
		visit(&c.Group)
		visit(&c.Site.Name)
	}
	for i := range g.NoSync {
		g.NoSync[i].Event.Texts(visit)
	}
	for i := range g.Passes {
		g.Passes[i].First.Texts(visit)
		visit(&g.Passes[i].Optimizer)
	}
	for i := range g.Steps {
		s := &g.Steps[i]
		visit(&s.Kind)
		for k := range s.PerOptimizer {
			visit(&s.PerOptimizer[k].Name)
		}
	}
}
