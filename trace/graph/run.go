package graph

import "slices"

// Run replays the graph on a machine, where nodes get in each other's way. Unlike that of a
// replay, the order in which they do is known only while time passes: nodes that share a
// domain wait in a queue ordered by time, and those of one time by their numbers. All others
// are as in a replay, to which Run is equal where nothing shares a domain. A graph with a
// cycle is an error that names it.
func (g *Graph) Run(m *Machine) (*Times, error) {
	r := newRunner(g, m)
	for n := range Node(g.Len()) {
		if r.left[n] == 0 {
			r.ready(n)
		}
	}
	r.settle()
	for len(r.queue) > 0 {
		r.handle(r.queue.pop())
		r.settle()
	}
	if r.ended < g.Len() {
		if _, err := g.Plan(); err != nil {
			return nil, err
		}
		panic("graph: a run has come to a halt")
	}
	return &r.t, nil
}

// runner is a run that is under way.
type runner struct {
	g     *Graph
	m     *Machine
	t     Times
	out   lists
	mates lists
	left  []int32 // by node: edges whose sources are not there yet
	alone []int32 // by group: members that have not started
	last  []int64 // by group: the latest start of its members
	queue queue
	todo  []int32 // nodes whose start is known and told to nobody; ^n for an end
	ended int

	domains []domain
	phases  []phase // by node that computes on a domain
	slot    []int32 // by node: its phase
}

// phase is how far a node that computes has come.
type phase struct {
	since   int64 // ns: when its speed last changed
	left    int64 // ns of work at full speed at that time
	version int32 // of its end in the queue; earlier ones are void
	slow    bool
}

func newRunner(g *Graph, m *Machine) *runner {
	n := g.Len()
	r := &runner{
		g: g, m: m, t: Times{Start: slices.Clone(g.Release), End: make([]int64, n)},
		out: listsOf(n, g.From), mates: listsOf(int(g.groups), g.Group),
		left: make([]int32, n), alone: make([]int32, g.groups), last: make([]int64, g.groups),
		domains: make([]domain, m.domains()), slot: make([]int32, n),
	}
	for _, to := range g.To {
		if to != None {
			r.left[to]++
		}
	}
	for group := range r.last {
		r.last[group] = -1 << 63
	}
	for _, group := range g.Group {
		if group != None {
			r.alone[group]++
		}
	}
	return r
}

// shared reports whether a node shares a domain with others, and which. What computes in a
// group does not.
func (r *runner) shared(n Node) (int32, Role) {
	role := r.m.role(n)
	if role == Light || role != Transfer && r.g.Group[n] != None {
		return None, Light
	}
	return r.m.domainOf(r.g.Resource[n]), role
}

// ready takes a node whose sources are all there: it starts, or waits for its time in the queue.
func (r *runner) ready(n Node) {
	if d, _ := r.shared(n); d != None {
		r.queue.push(entry{at: r.t.Start[n], node: n, kind: starting})
		return
	}
	r.todo = append(r.todo, n)
}

// settle tells everyone what is known, until nothing is left that does not have to wait for its time.
func (r *runner) settle() {
	for len(r.todo) > 0 {
		n := r.todo[len(r.todo)-1]
		r.todo = r.todo[:len(r.todo)-1]
		if n < 0 {
			r.release(^n, false)
			r.ended++
			continue
		}
		r.release(n, true)
		switch d, role := r.shared(n); {
		case r.g.Group[n] != None:
			r.join(n)
		case d == None:
			r.end(n, r.t.Start[n]+r.g.Work[n])
		case role == Transfer:
			r.transfer(n, r.t.Start[n], r.t.Start[n]+r.g.Work[n])
		}
	}
}

// release takes away one source from all that wait for the start, or the end, of a node.
func (r *runner) release(n Node, start bool) {
	for _, e := range r.out.of(n) {
		if r.g.Kind[e].FromStart() != start {
			continue
		}
		to := r.g.To[e]
		r.t.Start[to] = max(r.t.Start[to], r.g.reach(&r.t, e))
		if r.left[to]--; r.left[to] == 0 {
			r.ready(to)
		}
	}
}

func (r *runner) end(n Node, at int64) {
	r.t.End[n] = at
	r.todo = append(r.todo, ^n)
}

// join notes that a member of a group has started; the last one lets all of them go on.
func (r *runner) join(n Node) {
	group := r.g.Group[n]
	r.last[group] = max(r.last[group], r.t.Start[n])
	if r.alone[group]--; r.alone[group] > 0 {
		return
	}
	from := r.last[group]
	for _, member := range r.mates.of(group) {
		if d, role := r.shared(member); d != None && role == Transfer {
			r.transfer(member, from, from+r.g.Work[member])
			continue
		}
		r.end(member, from+r.g.Work[member])
	}
}

// transfer lets a node move data from one time to another.
func (r *runner) transfer(n Node, from, to int64) {
	r.queue.push(entry{at: from, node: n, kind: moving})
	r.queue.push(entry{at: to, node: n, kind: ending})
}

// handle lets happen what the queue says.
func (r *runner) handle(e entry) {
	d, role := r.shared(e.node)
	on := &r.domains[d]
	switch {
	case e.kind == starting && role == Transfer:
		r.startTransfer(on, e)
	case e.kind == starting:
		r.startCompute(on, e, role)
	case e.kind == moving:
		if on.transfers++; on.transfers == 1 {
			r.change(on, e.at, true)
		}
	case role == Transfer:
		if on.transfers--; on.transfers == 0 {
			r.change(on, e.at, false)
		}
		r.end(e.node, e.at)
	case e.version == r.phases[r.slot[e.node]].version:
		r.endCompute(on, e, role)
	}
}

func (r *runner) startTransfer(on *domain, e entry) {
	if r.m.Exclude && on.blocks(r.m.priorityOf(r.g.Resource[e.node])) {
		on.waiting = append(on.waiting, e.node)
		return
	}
	r.todo = append(r.todo, e.node)
}

func (r *runner) startCompute(on *domain, e entry, role Role) {
	slot := int32(len(r.phases))
	r.slot[e.node] = slot
	r.phases = append(r.phases, phase{since: e.at, left: r.g.Work[e.node], slow: on.transfers > 0})
	on.computing = append(on.computing, e.node)
	if role == Filling {
		on.filling = append(on.filling, filler{e.node, r.m.priorityOf(r.g.Resource[e.node])})
	}
	r.expect(e.node)
	r.todo = append(r.todo, e.node)
}

// expect puts the end of a node that computes into the queue, at the speed that it has.
func (r *runner) expect(n Node) {
	p := &r.phases[r.slot[n]]
	left := p.left
	if p.slow {
		left = (left*r.m.Slow + 999) / 1000
	}
	p.version++
	r.queue.push(entry{at: p.since + left, node: n, kind: ending, version: p.version})
}

// change makes what computes on a domain slower, or as fast as it was.
func (r *runner) change(on *domain, at int64, slow bool) {
	if r.m.Slow <= 1000 {
		return
	}
	for _, n := range on.computing {
		p := &r.phases[r.slot[n]]
		done := max(0, at-p.since)
		if p.slow {
			done = done * 1000 / r.m.Slow
		}
		p.left, p.since, p.slow = max(0, p.left-done), max(at, p.since), slow
		r.expect(n)
	}
}

// endCompute ends a node and lets transfers start that have waited for that.
func (r *runner) endCompute(on *domain, e entry, role Role) {
	on.computing = without(on.computing, e.node)
	r.end(e.node, e.at)
	if role != Filling {
		return
	}
	i := slices.IndexFunc(on.filling, func(f filler) bool { return f.node == e.node })
	on.filling = slices.Delete(on.filling, i, i+1)
	kept := on.waiting[:0]
	for _, n := range on.waiting {
		if on.blocks(r.m.priorityOf(r.g.Resource[n])) {
			kept = append(kept, n)
			continue
		}
		r.t.Start[n] = max(r.t.Start[n], e.at)
		r.todo = append(r.todo, n)
	}
	on.waiting = kept
}

func without(list []int32, n Node) []int32 {
	i := slices.Index(list, n)
	return slices.Delete(list, i, i+1)
}
