package whatif

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/graph"
)

// grad is the gradient of a parameter that becomes final.
type grad struct {
	elems int64
	dtype string
	ready graph.Node // the last compute op launched before
	row   int32      // that accumulates it
	taken bool
}

// hoists finds the reduce-scatters that could be launched when their gradient is ready.
func (b *builder) hoists() {
	type key struct {
		step int32
		name string
	}
	groups := make(map[key][]graph.Node)
	var keys []key
	for i := range b.f.Collectives {
		c := &b.f.Collectives[i]
		if c.Kind != timeline.ReduceScatter || c.Site.Site != timeline.SiteOptimizerStep || c.Step < 0 || c.Replayed {
			continue
		}
		if b.r.Before[b.r.Kernel[i]] == graph.None {
			continue // its launch is not in the recording
		}
		k := key{int32(c.Step), c.Site.Name}
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], b.r.Kernel[i])
	}
	if len(keys) == 0 {
		return
	}
	computes := b.computes()
	for _, k := range keys {
		if h, ok := b.hoist(k.step, groups[k], computes); ok {
			h.Optimizer = k.name
			b.r.Hoists = append(b.r.Hoists, h)
			if same, ok := b.sameBefore(&h); ok {
				b.r.Hoists = append(b.r.Hoists, same)
			}
		}
	}
}

// computes lists the compute ops by when their calls begin.
func (b *builder) computes() []graph.Node {
	var list []graph.Node
	b.r.ops(func(op graph.Node) {
		if b.r.Collective[op] < 0 && b.r.Before[op] != graph.None {
			list = append(list, op)
		}
	})
	slices.SortStableFunc(list, func(i, j graph.Node) int { return cmp.Compare(b.calledAt(i), b.calledAt(j)) })
	return list
}

// calledAt is when the call that launched an op began.
func (b *builder) calledAt(op graph.Node) int64 { return b.r.Start[b.r.Before[op]] }

// hoist matches the reduce-scatters of an optimizer in a step with gradients by size and dtype.
func (b *builder) hoist(step int32, kernels, computes []graph.Node) (Hoist, bool) {
	h := Hoist{Step: step, After: graph.None, Then: graph.None}
	h.Ready, h.Grads = make(map[graph.Node]graph.Node), make(map[graph.Node]int32)
	grads := b.gradsOf(step, computes)
	for _, kernel := range kernels {
		c := &b.f.Collectives[b.r.Collective[kernel]]
		i := slices.IndexFunc(grads, func(g grad) bool {
			return !g.taken && g.elems == c.InElems && g.dtype == plainDtype(c.Dtype) && g.ready != graph.None
		})
		resource := b.r.Graph.Resource[kernel]
		if len(h.Moved) > 0 && b.r.Graph.Resource[h.Moved[0]] != resource {
			continue // of another stream
		}
		if i >= 0 && b.r.End[grads[i].ready] < b.r.Start[kernel] && b.calledAt(grads[i].ready) < b.calledAt(kernel) {
			grads[i].taken = true
			h.Moved = append(h.Moved, kernel)
			h.Ready[kernel], h.Grads[kernel] = grads[i].ready, grads[i].row
		}
	}
	if len(h.Moved) == 0 {
		return h, false
	}
	b.order(&h)
	if slices.ContainsFunc(h.Was, func(op graph.Node) bool { return b.r.Collective[op] < 0 }) {
		b.r.OnCompute = true // moving them would move compute
		return h, false
	}
	return h, true
}

// plainDtype is a dtype as both operators and collectives can be compared by.
func plainDtype(name string) string { return strings.ToLower(strings.TrimPrefix(name, "c10::")) }

// gradsOf lists the gradients that the last backward pass of a step accumulates, by time.
func (b *builder) gradsOf(step int32, computes []graph.Node) []grad {
	passes := b.f.Steps[step].Backwards
	if len(passes) == 0 {
		return nil
	}
	p := &passes[len(passes)-1]
	in := b.x.Inputs()
	var list []grad
	from := sort.Search(len(b.x.Nodes), func(i int) bool { return b.x.Nodes[i].Start >= p.Start })
	for _, n := range b.x.Nodes[from:] {
		if n.Start >= p.End {
			break
		}
		if !b.x.Accumulates(n.Row) {
			continue
		}
		ops := in.Of(n.Row)
		if len(ops) == 0 || len(ops[0].Shapes) != 1 {
			continue
		}
		g := grad{elems: timeline.Numel(ops[0].Shapes[0]), dtype: plainDtype(ops[0].Dtype)}
		g.ready, g.row = graph.None, n.Row
		i := sort.Search(len(computes), func(i int) bool { return b.calledAt(computes[i]) >= n.End })
		if i > 0 {
			g.ready = computes[i-1]
		}
		list = append(list, g)
	}
	return list
}

// order finds the order of the stream with the reduce-scatters launched when their gradients
// are ready, and all others when they are.
func (b *builder) order(h *Hoist) {
	stream := int(b.r.Graph.Resource[h.Moved[0]])
	ops := b.r.streams[stream].ops
	key := func(op graph.Node) int64 {
		if ready, moved := h.Ready[op]; moved {
			return b.calledAt(ready)
		}
		if b.r.Before[op] == graph.None {
			return b.first - 1
		}
		return b.calledAt(op)
	}
	least := key(h.Moved[0])
	for _, op := range h.Moved {
		least = min(least, key(op))
	}
	from := sort.Search(len(ops), func(i int) bool { return b.askedAt(stream, i) > least })
	to := from
	for i := from; i < len(ops); i++ {
		if _, moved := h.Ready[ops[i]]; moved {
			to = i + 1
		}
	}
	h.Was, h.Order = slices.Clone(ops[from:to]), slices.Clone(ops[from:to])
	slices.SortStableFunc(h.Order, func(i, j graph.Node) int { return cmp.Compare(key(i), key(j)) })
	if from > 0 {
		h.After = ops[from-1]
	}
	if to < len(ops) {
		h.Then = ops[to]
	}
}

func (b *builder) askedAt(stream, i int) int64 { return b.asked[stream][i] }

// sameBefore is the same one period earlier, where that was launched before the recording.
func (b *builder) sameBefore(h *Hoist) (Hoist, bool) {
	same := Hoist{Optimizer: h.Optimizer, Step: -1, Ready: make(map[graph.Node]graph.Node), After: graph.None}
	ok := true
	move := func(list []graph.Node) (moved []graph.Node) {
		for _, n := range list {
			o, known := b.origin[n]
			ok = ok && known
			moved = append(moved, o)
		}
		return moved
	}
	same.Moved, same.Order, same.Was = move(h.Moved), move(h.Order), move(h.Was)
	for i, n := range h.Moved {
		ready, known := b.origin[h.Ready[n]]
		ok = ok && known
		same.Ready[same.Moved[i]] = ready
	}
	then, known := b.origin[h.Then]
	same.Then = then
	if after, known := b.origin[h.After]; known {
		same.After = after
	}
	return same, ok && known && h.Then != graph.None
}
