package graph

// Plan is the order in which a graph is replayed. It holds as long as no node, edge or group
// is added, cut or moved; durations, releases and lags may change.
type Plan struct {
	g     *Graph
	order []int32 // nodes whose start is next; ^g for the ends of the members of group g
	in    lists   // edges by their target, ascending
	mates lists   // nodes by group, ascending
}

// lists are lists of numbers in one piece of memory: list i is item[first[i]:first[i+1]].
type lists struct {
	first []int32
	item  []int32
}

func (l *lists) of(i int32) []int32 { return l.item[l.first[i]:l.first[i+1]] }

// listsOf makes n lists of the positions in keys, each in the list of its key; None is in none.
func listsOf(n int, keys []int32) lists {
	l := lists{first: make([]int32, n+2)}
	count := l.first[2:]
	kept := 0
	for _, k := range keys {
		if k == None {
			continue
		}
		kept++
		if int(k)+1 < n {
			count[k]++
		}
	}
	for i := 1; i < len(count); i++ {
		count[i] += count[i-1]
	}
	l.item = make([]int32, kept)
	next := l.first[1:]
	for i, k := range keys {
		if k != None {
			l.item[next[k]] = int32(i)
			next[k]++
		}
	}
	l.first = l.first[:n+1]
	return l
}

// Plan finds the order of a replay, or the cycle because of which there is none.
func (g *Graph) Plan() (*Plan, error) {
	p := &Plan{g: g, in: listsOf(g.Len(), g.To), mates: listsOf(int(g.groups), g.Group)}
	w := newWalk(g)
	p.order = make([]int32, 0, g.Len()+int(g.groups))
	for n := range w.left {
		if w.left[n] == 0 {
			p.order = append(p.order, int32(n))
		}
	}
	started := 0
	for i := 0; i < len(p.order); i++ {
		n := p.order[i]
		if n < 0 {
			for _, member := range p.mates.of(^n) {
				p.order = w.release(p.order, member, false)
			}
			continue
		}
		started++
		p.order = w.start(p.order, n)
	}
	if started < g.Len() {
		return nil, p.cycle(w)
	}
	return p, nil
}

// walk is how far the search for an order has come.
type walk struct {
	g     *Graph
	out   lists
	left  []int32 // by node: edges whose sources are not there yet
	alone []int32 // by group: members that have not started
}

func newWalk(g *Graph) *walk {
	w := &walk{g: g, out: listsOf(g.Len(), g.From), left: make([]int32, g.Len()), alone: make([]int32, g.groups)}
	for _, to := range g.To {
		if to != None {
			w.left[to]++
		}
	}
	for _, group := range g.Group {
		if group != None {
			w.alone[group]++
		}
	}
	return w
}

// start notes that the start of a node is known, and with it its end, but for a member of a
// group that others have to join.
func (w *walk) start(order []int32, n Node) []int32 {
	group := w.g.Group[n]
	order = w.release(order, n, true)
	if group == None {
		return w.release(order, n, false)
	}
	if w.alone[group]--; w.alone[group] == 0 {
		order = append(order, ^group)
	}
	return order
}

// release takes away one source from all that wait for the start, or the end, of a node.
func (w *walk) release(order []int32, n Node, start bool) []int32 {
	for _, e := range w.out.of(n) {
		if w.g.Kind[e].FromStart() != start {
			continue
		}
		to := w.g.To[e]
		if w.left[to]--; w.left[to] == 0 {
			order = append(order, to)
		}
	}
	return order
}
