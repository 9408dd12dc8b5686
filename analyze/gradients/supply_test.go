package gradients

import (
	"fmt"
	"strings"
	"testing"
)

// TestFreshGraphs: over how many graphs backward passes run, by how many forward operators precede
// each and whether it has the same nodes as the one before.
func TestFreshGraphs(t *testing.T) {
	for _, test := range []struct {
		what      string
		operators []int
		nodes     []uint64
		want      int
	}{
		{"one", []int{16}, []uint64{1}, 1},
		{"one without operators", []int{0}, []uint64{1}, 1},
		{"as many again", []int{16, 16}, []uint64{1, 2}, 2},
		{"a few operators", []int{16, 3}, []uint64{1, 2}, 1},
		{"a few more", []int{17, 4}, []uint64{1, 2}, 2},
		{"none, and other nodes", []int{16, 0}, []uint64{1, 2}, 1},
		{"none, and the same nodes", []int{16, 0}, []uint64{1, 1}, 2},
		{"a quarter", []int{12, 3}, []uint64{1, 2}, 2},
		{"less than a quarter", []int{13, 3}, []uint64{1, 2}, 1},
		{"a third", []int{9, 3}, []uint64{1, 2}, 2},
		{"a quarter of the last graph's", []int{40, 12, 3}, []uint64{1, 2, 3}, 3},
		{"less than a quarter of it", []int{40, 13, 3}, []uint64{1, 2, 3}, 2},
		{"of the first's, as the second is none", []int{40, 3, 3}, []uint64{1, 2, 3}, 1},
		{"nothing before any", []int{0, 0}, []uint64{1, 2}, 2},
		{"the same as the one before the last", []int{16, 2, 2}, []uint64{1, 2, 1}, 1},
	} {
		c := graphCounter{supply: &graphSupply{}}
		var passes []Backward
		now := int64(100)
		for i, n := range test.operators {
			for range n {
				c.forward = append(c.forward, now)
				now++
			}
			passes = append(passes, Backward{Start: now, End: now + 10, Nodes: test.nodes[i]})
			now += 10
		}
		if got := c.count(passes, 100); got != test.want {
			t.Errorf("%s, %v: %d, want %d", test.what, test.operators, got, test.want)
		}
	}
}

// supply writes forward operators and nodes: o aten::mm, p aten::add, u another operator whose nodes
// are none of its name; n, q and v their nodes, a an accumulation, . nothing.
func supply(t *testing.T, moves string) (*graphCounter, []Backward) {
	t.Helper()
	var b strings.Builder
	var passes []Backward
	open := false
	for i, r := range moves {
		name := map[rune]string{'o': "aten::mm", 'p': "aten::add", 'u': "aten::view", 'n': "MmBackward0",
			'q': "AddBackward1", 'v': "FooBackward0", 'a': accumulateGrad}[r]
		start := int64(10 * (i + 1))
		if strings.ContainsRune("nqva", r) {
			name = "autograd::engine::evaluate_function: " + name
			if !open {
				passes = append(passes, Backward{Start: start})
			}
			passes[len(passes)-1].End = start + 5
		}
		open = strings.ContainsRune("nqva", r)
		if name != "" {
			fmt.Fprintf(&b, "1/1 %d +5 cpu_op %q\n", start, name)
		}
	}
	return &graphCounter{x: rankOf(t, b.String())}, passes
}

// TestShortSupply: a backward pass with more nodes than operators are left runs over a graph that an
// earlier pass has run over.
func TestShortSupply(t *testing.T) {
	for _, test := range []struct {
		what, moves string
		fresh       bool // the first pass had a graph of its own
		start       int64
		want        bool
	}{
		{"a graph of its own", "oooonnnnoooonnnn", true, 0, false},
		{"half of it is missing", "oooonnnnoonnnn", true, 0, true},
		{"a quarter is missing", "oooonnnnooonnnn", true, 0, false},
		{"three eighths are missing", "oooooooonnnnnnnnooooonnnnnnnn", true, 0, false},
		{"the first one's was not its own", "oooonnnnoonnnn", false, 0, false},
		{"two of six nodes are not told", "oooonnnnoonnnnvv", true, 0, true},
		{"three of seven are not told", "oooonnnnoonnnnvvv", true, 0, false},
		{"accumulations are no nodes", "oooonnnnoonnnnvvaaa", true, 0, true},
		{"nothing is told", "oovvoovv", true, 0, false},
		{"one node", "onun", true, 0, true},
		{"what is left of others does not help", "ooooppppppppnnnnuunnnnq", true, 0, true},
		{"what others need is not missing", "ooooppnnnnqooonnnn", true, 0, false},
		{"what follows does not count", "oooonnnnoonnnn.vvvvvv", true, 0, true},
		{"operators before the step do not count", "oooo.oooonnnnnnnnoonnnn", true, 50, true},
		{"of the step's own start", "oooo.oooonnnnoonnnn", true, 10, false},
	} {
		c, passes := supply(t, test.moves)
		if got := c.short(passes[:2], []bool{test.fresh, true}, test.start); got != test.want {
			t.Errorf("%s, %s: %v", test.what, test.moves, got)
		}
	}
}

// TestSecondGraphs: a backward pass after fewer operators than the one before, or with the same nodes,
// has a graph of its own only if operators enough are left for it.
func TestSecondGraphs(t *testing.T) {
	for _, test := range []struct {
		what                                 string
		operators, nodes, operators2, nodes2 int
		want                                 int
	}{
		{"as many operators", 10, 10, 10, 10, 2}, {"nine tenths of them", 10, 10, 9, 30, 2},
		{"fewer, of many nodes", 10, 10, 8, 30, 1}, {"a little fewer, of many nodes", 20, 20, 17, 60, 1},
		{"fewer, of few nodes", 10, 10, 8, 8, 2}, {"the same nodes, and too few operators", 5, 10, 5, 10, 1},
		{"the same nodes, and enough", 5, 5, 5, 5, 2},
	} {
		moves := strings.Repeat("o", test.operators) + strings.Repeat("n", test.nodes) +
			strings.Repeat("o", test.operators2) + strings.Repeat("n", test.nodes2)
		c, passes := supply(t, moves)
		for i, r := range moves {
			if r == 'o' {
				c.forward = append(c.forward, int64(10*(i+1)))
			}
		}
		passes[0].Nodes, passes[1].Nodes = uint64(test.nodes), uint64(test.nodes2)
		if got := c.count(passes, 0); got != test.want {
			t.Errorf("%s: %d, want %d", test.what, got, test.want)
		}
	}
}

// TestSupply: which operators leave which nodes.
func TestSupply(t *testing.T) {
	const node = "1/1 %d +5 cpu_op \"autograd::engine::evaluate_function: %s\"\n"
	source := "1/1 10 +1 cpu_op aten::mm\n1/1 20 +1 cpu_op aten::add_\n1/1 30 +1 cpu_op aten::add\n" +
		"1/1 40 +1 cpu_op aten::_foo\n1/1 50 +1 cpu_op aten::bar\n1/2 35 +1 cpu_op aten::add\n"
	for i, name := range []string{"AddBackward0", "MmBackward0", "AddBackward1", "FooBackward0", "CheckpointBackward",
		"BazBackward0"} {
		source += fmt.Sprintf(node, 100+10*i, name)
	}
	s := newGraphSupply(rankOf(t, source+"1/1 101 +1 cpu_op aten::add\n"))
	var parts []string
	for _, list := range [][]made{s.operators, s.nodes} {
		var words []string
		for _, m := range list {
			words = append(words, fmt.Sprintf("%d at %d", m.kind, m.start))
		}
		parts = append(parts, strings.Join(words, ", "))
	}
	const want = "1 at 10, 0 at 20, 0 at 30, 0 at 35, 2 at 40; 0 at 100, 1 at 110, 0 at 120, 2 at 130"
	if got := strings.Join(parts, "; "); got != want || s.kinds != 3 {
		t.Errorf("%d kinds: %s, want %s", s.kinds, got, want)
	}
	list := []made{{10, 0}, {20, 1}, {30, 0}}
	for _, test := range []struct {
		start, end int64
		times      int
		counts     []int
		want       string
	}{
		{10, 30, 1, []int{0, 0}, "[1 1]"}, {11, 31, 1, []int{0, 0}, "[1 1]"}, {10, 31, 1, []int{5, 5}, "[7 6]"},
		{0, 10, 1, []int{0, 0}, "[0 0]"}, {0, 100, -1, []int{1, 3}, "[0 2]"}, {31, 100, 1, []int{0, 0}, "[0 0]"},
	} {
		s.add(test.counts, list, test.start, test.end, test.times)
		if got := fmt.Sprint(test.counts); got != test.want {
			t.Errorf("[%d,%d) times %d: %s, want %s", test.start, test.end, test.times, got, test.want)
		}
	}
	for name, want := range map[string]string{"ABBackward0": "a_b", "FooZBackward0": "foo_z", "XAtBackward12": "x_at"} {
		if got, _ := operatorOf(name); got != want {
			t.Errorf("%s is left by %s, want %s", name, got, want)
		}
	}
}
