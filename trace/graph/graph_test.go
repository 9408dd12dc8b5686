package graph

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// spans writes when each node starts and ends.
func spans(t *Times) string {
	var list []string
	for n := range t.Start {
		list = append(list, fmt.Sprintf("%d-%d", t.Start[n], t.End[n]))
	}
	return strings.Join(list, " ")
}

func plan(t *testing.T, g *Graph) *Plan {
	t.Helper()
	p, err := g.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A host launches two kernels far ahead of the device: the second starts after the first,
// with the gap between kernels, and before its end where the gap is negative.
func TestLaunches(t *testing.T) {
	for _, c := range []struct {
		gap  int64
		want string
	}{
		{3, "0-6 10-16 9-109 112-212"},
		{-2, "0-6 10-16 9-109 107-207"},
		{-95, "0-6 10-16 9-109 19-119"}, // now the launch is what it waits for
	} {
		var g Graph
		host, stream := g.AddResource(), g.AddResource()
		a, b := g.Add(host, 6), g.Add(host, 6)
		first, second := g.Add(stream, 100), g.Add(stream, 100)
		g.Lag[g.Before[b]] = 4
		g.Lag[g.Before[second]] = c.gap
		g.Connect(a, first, Launch, 9)
		g.Connect(b, second, Launch, 9)
		if got := spans(plan(t, &g).Replay()); got != c.want {
			t.Errorf("gap %d: %s, want %s", c.gap, got, c.want)
		}
	}
}

// Members of a group start when they are ready and end their own work after the last start.
func TestGroup(t *testing.T) {
	var g Graph
	var ranks [3]int32
	var all []Node
	for i, ready := range []int64{10, 50, 0} {
		ranks[i] = g.AddResource()
		n := g.Add(ranks[i], 20+int64(i))
		g.Release[n] = ready
		all = append(all, n)
	}
	g.Join(all...)
	after := g.Add(ranks[0], 5)
	beside := g.Add(None, 1)
	g.Connect(all[2], beside, Launch, 2) // of a member only the start is asked for
	p := plan(t, &g)
	times := p.Replay()
	if got, want := spans(times), "10-70 50-71 0-72 70-75 2-3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	path := p.Path(times, after)
	if got, want := fmt.Sprint(path), "[{1 -1} {3 0}]"; got != want {
		t.Errorf("critical path %s, want %s: rank 1 is the last to come", got, want)
	}
	if got, want := fmt.Sprint(p.Path(times, beside)), "[{2 -1} {4 1}]"; got != want {
		t.Errorf("critical path %s, want %s: only the start of the member counts", got, want)
	}
}

// Of edges that allow the same start the one of the lowest number binds.
func TestBinding(t *testing.T) {
	var g Graph
	a, b, c := g.Add(None, 10), g.Add(None, 10), g.Add(None, 1)
	late := g.Connect(a, c, Event, -1)
	first := g.Connect(b, c, Event, 0)
	g.Connect(a, c, Event, 0)
	p := plan(t, &g)
	times := p.Replay()
	if got := p.Binding(times, c); got != first {
		t.Errorf("edge %d binds, want %d", got, first)
	}
	g.Lag[late] = 7 // a plan holds while lags change
	if times = p.Replay(); times.Start[c] != 17 || p.Binding(times, c) != late {
		t.Errorf("start %d by edge %d", times.Start[c], p.Binding(times, c))
	}
	if g.Release[c] = 100; p.Binding(p.Replay(), c) != None {
		t.Error("its release binds")
	}
}

// The order on a resource can be changed, to its end and in the middle.
func TestReorder(t *testing.T) {
	for _, c := range []struct {
		after, then int
		order       []Node
		want        string
	}{
		{None, None, []Node{3, 2, 1, 0}, "20-21 17-19 6-9 0-4 23-28"},
		{0, 3, []Node{2, 1}, "0-1 14-16 3-6 20-24 26-31"},
		{None, 2, []Node{1, 0}, "3-4 0-2 6-9 13-17 19-24"},
	} {
		var g Graph
		r := g.AddResource()
		for i := range 4 {
			n := g.Add(r, int64(1+i))
			if i > 0 {
				g.Lag[g.Before[n]] = []int64{0, 8, 2, 4}[i]
			}
		}
		g.Reorder(Node(c.after), c.order, Node(c.then), func(Node) int64 { return 1 })
		end := g.Add(r, 5) // goes on after the last in the new order
		g.Lag[g.Before[end]] = 2
		got := spans(plan(t, &g).Replay())
		if c.want != got {
			t.Errorf("%v: %s, want %s", c.order, got, c.want)
		}
	}
}

// A clone shares nothing, and a cut edge no longer holds anybody up.
func TestClone(t *testing.T) {
	var g Graph
	r := g.AddResource()
	g.Add(r, 10)
	b := g.Add(r, 10)
	c := g.Clone()
	c.Cut(c.Before[b])
	c.Work[0] = 99
	c.Add(r, 1)
	if got := spans(plan(t, &g).Replay()); got != "0-10 10-20" {
		t.Errorf("the original: %s", got)
	}
	if got := spans(plan(t, c).Replay()); got != "0-99 0-10 10-11" {
		t.Errorf("the clone: %s", got)
	}
	if c.Before[b] != None || c.Edges() != 2 {
		t.Errorf("edge before: %d of %d", c.Before[b], c.Edges())
	}
}

func TestCycles(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(g *Graph)
		want  []int32 // edges of the circle, in any rotation
	}{
		{"a node that waits for itself", func(g *Graph) { g.Connect(g.Add(None, 1), 0, Event, 0) }, []int32{0}},
		{"against the order of a stream", func(g *Graph) {
			r := g.AddResource()
			a, _, c := g.Add(r, 1), g.Add(r, 1), g.Add(r, 1)
			g.Connect(c, a, Event, -100)
		}, []int32{0, 1, 2}},
		{"behind a long way in", func(g *Graph) {
			n := g.Add(None, 1)
			for range 50 {
				next := g.Add(None, 1)
				g.Connect(next, n, Event, 0)
				n = next
			}
			m := g.Add(None, 1)
			g.Connect(m, n, Event, 0)
			g.Connect(n, m, Launch, 0)
		}, []int32{50, 51}},
		{"two collectives in opposite order on two ranks", func(g *Graph) {
			r, s := g.AddResource(), g.AddResource()
			a, b := g.Add(r, 1), g.Add(r, 1)
			y, x := g.Add(s, 1), g.Add(s, 1)
			g.Join(a, x)
			g.Join(b, y)
		}, []int32{0, 1}},
		{"a member that waits for another of its group", func(g *Graph) {
			a, b := g.Add(None, 1), g.Add(None, 1)
			g.Join(a, b)
			g.Connect(a, b, Event, 0)
		}, []int32{0}},
	} {
		var g Graph
		c.build(&g)
		_, err := g.Plan()
		var cycle *CycleError
		if !errors.As(err, &cycle) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := slices.Clone(cycle.Edges)
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: circle of edges %v, want %v", c.name, cycle.Edges, c.want)
		}
		isCircle(t, &g, cycle.Edges)
		if !strings.Contains(err.Error(), "->") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A circle is told edge by edge, of a long one the first ten.
func TestCycleText(t *testing.T) {
	for n, more := range map[int]string{1: "", 2: "", 9: "", 10: "", 11: " ... 1 more", 30: " ... 20 more"} {
		var g Graph
		for range n {
			g.Add(None, 1)
		}
		for i := range n {
			g.Connect(Node(i), Node((i+1)%n), Event, 0)
		}
		_, err := g.Plan()
		if err == nil || strings.Count(err.Error(), " -event-> ") != min(n, 10) ||
			strings.Contains(err.Error(), "more") != (more != "") || !strings.HasSuffix(err.Error(), more) {
			t.Errorf("a circle of %d: %v", n, err)
		}
	}
}

// isCircle checks that each edge begins where the one before it leads to.
func isCircle(t *testing.T, g *Graph, edges []int32) {
	t.Helper()
	for i, e := range edges {
		to, from := g.To[edges[(i+len(edges)-1)%len(edges)]], g.From[e]
		if to != from && (g.Group[to] == None || g.Group[to] != g.Group[from]) {
			t.Errorf("edge %d begins at node %d, the one before leads to %d", e, from, to)
		}
	}
}

// What waits for a member's start only may come before its group ends.
func TestStartOfMemberIsNoCycle(t *testing.T) {
	var g Graph
	a, b := g.Add(None, 10), g.Add(None, 10)
	g.Join(a, b)
	g.Connect(a, b, Launch, 4)
	if got, want := spans(plan(t, &g).Replay()), "0-14 4-14"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestEmpty(t *testing.T) {
	var g Graph
	if p := plan(t, &g); p.Replay().Span() != 0 {
		t.Error("an empty graph takes time")
	}
}

// A graph that is appended to another runs beside it as it ran alone.
func TestAppend(t *testing.T) {
	one := func() *Graph {
		g := &Graph{}
		r := g.AddResource()
		a, b := g.Add(r, 10), g.Add(r, 5)
		g.Lag[g.Before[b]] = 2
		c, d := g.Add(None, 7), g.Add(None, 8)
		g.Connect(b, c, Event, 1)
		g.Join(c, d)
		g.Cut(g.Connect(a, d, Sync, 99))
		return g
	}
	const alone = "0-10 12-17 18-25 0-26"
	g := one()
	node, edge, resource := g.Append(one())
	if node != 4 || edge != 3 || resource != 1 {
		t.Errorf("from node %d, edge %d, resource %d", node, edge, resource)
	}
	last := g.Add(resource, 1) // after the last one of the appended resource
	want := alone + " " + alone + " 17-18"
	if got := spans(plan(t, g).Replay()); got != want || last != 8 || g.Groups() != 2 {
		t.Errorf("%s, want %s", got, want)
	}
}
