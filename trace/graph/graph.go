package graph

import "slices"

// Node numbers a node of a graph, from 0 in the order of adding.
type Node = int32

// None is no node, no resource, no group and no edge.
const None = -1

// Kind is why one node waits for another.
type Kind uint8

// The kinds of edges. Launch and Queue count from the start of their source, all others from its end.
const (
	Order  Kind = iota // the source runs before on the same resource
	Launch             // the source is the host's call that launches the node
	Event              // the source's stream records an event that the node's stream waits for
	Sync               // the host waits for the source
	Time               // no cause is recorded: what ends just before, by time
	Queue              // the host's call has room in the queue of launches once the source starts
	NumKinds
)

// String is the kind in words.
func (k Kind) String() string {
	return [...]string{"order", "launch", "event", "sync", "time", "queue"}[k]
}

// FromStart reports whether edges of the kind count from the start of their source.
func (k Kind) FromStart() bool { return k == Launch || k == Queue }

// Graph is work that waits for other work. Columns by node and by edge are exported so that
// changing a duration or a lag is an assignment; what refers to nodes changes by methods. The
// zero value is an empty graph.
type Graph struct {
	// By node. Work and Release may be written to at any time.
	Work     []int64 // ns that it lasts, in a group after the start of the last member
	Release  []int64 // ns: it never starts before that
	Resource []int32 // that runs it, or None
	Group    []int32 // whose members end together, or None
	Before   []int32 // its edge of the kind Order, or None

	// By edge. Lag may be written to at any time.
	From, To []Node  // None where the edge was cut
	Lag      []int64 // ns from the end of From, or its start (see FromStart), to the start of To at the earliest
	Kind     []Kind

	last   []Node // by resource: its last node
	groups int32
}

// Len is the number of nodes.
func (g *Graph) Len() int { return len(g.Work) }

// Edges is the number of edges, those that were cut included.
func (g *Graph) Edges() int { return len(g.From) }

// Resources is the number of resources.
func (g *Graph) Resources() int { return len(g.last) }

// Groups is the number of groups.
func (g *Graph) Groups() int { return int(g.groups) }

// Grow makes room for so many more nodes and edges, which Order needs one of for each node.
func (g *Graph) Grow(nodes, edges int) {
	g.Work, g.Release = slices.Grow(g.Work, nodes), slices.Grow(g.Release, nodes)
	g.Resource, g.Group = slices.Grow(g.Resource, nodes), slices.Grow(g.Group, nodes)
	g.Before = slices.Grow(g.Before, nodes)
	g.From, g.To = slices.Grow(g.From, edges), slices.Grow(g.To, edges)
	g.Lag, g.Kind = slices.Grow(g.Lag, edges), slices.Grow(g.Kind, edges)
}

// AddResource returns a new resource, which runs one node after the other.
func (g *Graph) AddResource() int32 {
	g.last = append(g.last, None)
	return int32(len(g.last) - 1)
}

// Add adds a node that takes work ns on a resource, after the last one there, or anywhere for
// None. Its Release is 0.
func (g *Graph) Add(resource int32, work int64) Node {
	n := Node(len(g.Work))
	g.Work, g.Release = append(g.Work, work), append(g.Release, 0)
	g.Resource, g.Group = append(g.Resource, resource), append(g.Group, None)
	g.Before = append(g.Before, None)
	if resource == None {
		return n
	}
	if last := g.last[resource]; last != None {
		g.Before[n] = g.Connect(last, n, Order, 0)
	}
	g.last[resource] = n
	return n
}

// Connect adds an edge and returns its number.
func (g *Graph) Connect(from, to Node, kind Kind, lag int64) int32 {
	g.From, g.To = append(g.From, from), append(g.To, to)
	g.Lag, g.Kind = append(g.Lag, lag), append(g.Kind, kind)
	return int32(len(g.From) - 1)
}

// Cut takes an edge out; its number stays taken.
func (g *Graph) Cut(edge int32) {
	if to := g.To[edge]; to != None && g.Before[to] == edge {
		g.Before[to] = None
	}
	g.From[edge], g.To[edge] = None, None
}

// Join makes a group of some nodes, which must be in none.
func (g *Graph) Join(nodes ...Node) int32 {
	for _, n := range nodes {
		g.Group[n] = g.groups
	}
	g.groups++
	return g.groups - 1
}

// Reorder makes a resource run its nodes in another order: the first of order waits for after
// (None: for nothing), each of the others for the one before it, and then (None: nothing)
// for the last. lag is the gap before a node that has one before it now and had none so far;
// the other gaps stay with their nodes.
func (g *Graph) Reorder(after Node, order []Node, then Node, lag func(n Node) int64) {
	before := after
	for _, n := range append(slices.Clone(order), then) {
		if n == None {
			continue
		}
		switch edge := g.Before[n]; {
		case before == None && edge != None:
			g.Cut(edge)
		case before != None && edge != None:
			g.From[edge] = before
		case before != None:
			g.Before[n] = g.Connect(before, n, Order, lag(n))
		}
		before = n
	}
	if resource := g.Resource[before]; then == None && resource != None {
		g.last[resource] = before
	}
}

// Clone is a copy that shares nothing with g.
func (g *Graph) Clone() *Graph {
	return &Graph{
		Work: slices.Clone(g.Work), Release: slices.Clone(g.Release),
		Resource: slices.Clone(g.Resource), Group: slices.Clone(g.Group), Before: slices.Clone(g.Before),
		From: slices.Clone(g.From), To: slices.Clone(g.To),
		Lag: slices.Clone(g.Lag), Kind: slices.Clone(g.Kind),
		last: slices.Clone(g.last), groups: g.groups,
	}
}

// Append adds a copy of another graph and returns what its numbers are from: its node n is
// node+n in g, and likewise its edges, resources and groups.
func (g *Graph) Append(o *Graph) (node Node, edge, resource int32) {
	node, edge, resource = Node(g.Len()), int32(g.Edges()), int32(g.Resources())
	group := g.groups
	g.Work, g.Release = append(g.Work, o.Work...), append(g.Release, o.Release...)
	g.Resource = appendFrom(g.Resource, o.Resource, resource)
	g.Group = appendFrom(g.Group, o.Group, group)
	g.Before = appendFrom(g.Before, o.Before, edge)
	g.From, g.To = appendFrom(g.From, o.From, node), appendFrom(g.To, o.To, node)
	g.Lag, g.Kind = append(g.Lag, o.Lag...), append(g.Kind, o.Kind...)
	g.last = appendFrom(g.last, o.last, node)
	g.groups += o.groups
	return node, edge, resource
}

// appendFrom appends numbers that are counted from first on; None stays None.
func appendFrom(list, more []int32, first int32) []int32 {
	for _, n := range more {
		if n != None {
			n += first
		}
		list = append(list, n)
	}
	return list
}
