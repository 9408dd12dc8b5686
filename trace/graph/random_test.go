package graph

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomGraph is a graph of what bytes say: any is a good one. Edges go from lower to higher
// numbers unless back is true, so that it can be replayed.
func randomGraph(data []byte, back bool) *Graph {
	next := func() int {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return int(b)
	}
	g := &Graph{}
	for range next() % 4 {
		g.AddResource()
	}
	size := 1 + next()%40
	for range size {
		n := g.Add(int32(next()%(g.Resources()+1))-1, int64(next()))
		g.Release[n] = int64(next()%64) - 20
		if e := g.Before[n]; e != None {
			g.Lag[e] = int64(next()%32) - 16
		}
	}
	for range next() % 80 {
		a, b := Node(next()%size), Node(next()%size)
		if a == b || a > b && !back {
			a, b = min(a, b), max(a, b)
		}
		if a != b || back {
			g.Connect(a, b, Kind(next()%int(NumKinds)), int64(next())-128)
		}
	}
	for n := 0; n+1 < size; n += 2 { // neighbors join, so that hardly any cycle arises
		if next()%4 == 0 && (back || !connected(g, Node(n), Node(n+1))) {
			g.Join(Node(n), Node(n+1))
		}
	}
	for e := range int32(g.Edges()) {
		if next()%16 == 1 {
			g.Cut(e)
		}
	}
	return g
}

func connected(g *Graph, a, b Node) bool {
	for e := range g.From {
		if g.From[e] == a && g.To[e] == b && g.Kind[e] != Launch && g.Kind[e] != Queue {
			return true
		}
	}
	return false
}

// naive is the definition of a replay, written as a recursion.
type naive struct {
	g          *Graph
	start, end map[Node]int64
}

func (n *naive) startOf(node Node) int64 {
	if at, ok := n.start[node]; ok {
		return at
	}
	at := n.g.Release[node]
	for e := range n.g.From {
		switch {
		case n.g.To[e] != node:
		case n.g.Kind[e] == Launch || n.g.Kind[e] == Queue:
			at = max(at, n.startOf(n.g.From[e])+n.g.Lag[e])
		default:
			at = max(at, n.endOf(n.g.From[e])+n.g.Lag[e])
		}
	}
	n.start[node] = at
	return at
}

func (n *naive) endOf(node Node) int64 {
	if at, ok := n.end[node]; ok {
		return at
	}
	at := n.startOf(node)
	for m := range n.g.Group {
		if n.g.Group[node] != None && n.g.Group[m] == n.g.Group[node] {
			at = max(at, n.startOf(Node(m)))
		}
	}
	n.end[node] = at + n.g.Work[node]
	return n.end[node]
}

// check replays a graph and compares it with the definition.
func check(g *Graph) error {
	p, err := g.Plan()
	var cycle *CycleError
	if errors.As(err, &cycle) {
		return circular(g, cycle.Edges)
	}
	times := p.Replay()
	n := naive{g, map[Node]int64{}, map[Node]int64{}}
	for node := range Node(g.Len()) {
		if start, end := n.startOf(node), n.endOf(node); times.Start[node] != start || times.End[node] != end {
			return fmt.Errorf("node %d: %d-%d, want %d-%d", node, times.Start[node], times.End[node], start, end)
		}
		if err := checkPath(p, times, node); err != nil {
			return err
		}
		if got, want := p.Decides(times, node), n.decides(node); got != want {
			return fmt.Errorf("node %d waits for the start of %d, want %d", node, got, want)
		}
	}
	if g.Len() > 0 && times.Span() != slices.Max(times.End)-slices.Min(times.Start) {
		return fmt.Errorf("all of it takes %d: %s", times.Span(), spans(times))
	}
	return nil
}

// decides is the node itself if no member of its group starts later, else the first of those that start last.
func (n *naive) decides(node Node) Node {
	best, at := node, n.startOf(node)
	for m, group := range n.g.Group {
		if group != None && group == n.g.Group[node] && n.startOf(Node(m)) > at {
			best, at = Node(m), n.startOf(Node(m))
		}
	}
	return best
}

// checkPath adds up a critical path, which must give the end of its last node.
func checkPath(p *Plan, t *Times, node Node) error {
	path := p.Path(t, node)
	at := p.g.Release[path[0].Node]
	for i, hop := range path {
		if i > 0 {
			at += p.g.Lag[hop.Edge]
			if p.g.Kind[hop.Edge] != Launch && p.g.Kind[hop.Edge] != Queue {
				at += p.g.Work[p.g.From[hop.Edge]]
			}
		}
	}
	if at+p.g.Work[node] != t.End[node] {
		return fmt.Errorf("the path to node %d ends at %d, not at %d", node, at+p.g.Work[node], t.End[node])
	}
	return nil
}

// circular checks that edges form a circle.
func circular(g *Graph, edges []int32) error {
	for i, e := range edges {
		to, from := g.To[edges[(i+len(edges)-1)%len(edges)]], g.From[e]
		if to != from && (g.Group[to] == None || g.Group[to] != g.Group[from]) {
			return fmt.Errorf("edges %v are no circle", edges)
		}
	}
	return nil
}

// A replay of any graph is what the definition says, or its circle is one.
func TestRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	replayed := 0
	for i := range 4000 {
		data := make([]byte, random.IntN(600))
		for j := range data {
			data[j] = byte(random.Uint32())
		}
		g := randomGraph(data, i%8 == 0)
		if err := check(g); err != nil {
			t.Fatalf("graph %d: %v", i, err)
		}
		if _, err := g.Plan(); err == nil {
			replayed++
		}
	}
	if replayed < 2000 {
		t.Errorf("only %d graphs could be replayed", replayed)
	}
}

func FuzzReplay(f *testing.F) {
	f.Add([]byte("\x02\x10 what waits for what, and when does it start"), false)
	f.Add([]byte("\x01\x05 circles"), true)
	f.Fuzz(func(t *testing.T, data []byte, back bool) {
		if err := check(randomGraph(data, back)); err != nil {
			t.Error(err)
		}
	})
}

// benchGraph is a training run of n nodes: a host that launches, with two streams that wait for
// each other now and then.
func benchGraph(n int) *Graph {
	g := &Graph{}
	g.Grow(n, 2*n)
	host, streams := g.AddResource(), [2]int32{g.AddResource(), g.AddResource()}
	other := Node(None)
	for i := 0; i < n/2; i++ {
		call := g.Add(host, 6000)
		op := g.Add(streams[oneIf(i%50 == 0)], int64(1000+i%7*9000))
		g.Connect(call, op, Launch, 9000)
		if i%50 == 0 {
			other = op
		}
		if i%50 == 25 {
			g.Connect(other, op, Event, 1500)
		}
	}
	return g
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// BenchmarkReplay shows how the time of making, planning and replaying a graph grows: ns/node
// stays the same where it is linear, but for what caches hold.
func BenchmarkReplay(b *testing.B) {
	for _, n := range []int{30_000, 300_000, 3_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				g := benchGraph(n)
				p, err := g.Plan()
				if err != nil {
					b.Fatal(err)
				}
				p.Replay()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/node")
		})
	}
}
