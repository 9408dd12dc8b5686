package ranks

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
)

// pairWith matches two ranks of which the second has more arguments on its records, or
// other launches, than the first.
func pairWith(t *testing.T, a, b []call, moreA, moreB func(i int) (args, launch string)) *Group {
	t.Helper()
	sources := sourcesOf(t, []*trace.Trace{rankTraceWith(t, 0, 2, a, moreA), rankTraceWith(t, 1, 2, b, moreB)}...)
	r := Match(sources, Options{})
	if len(r.Groups) != 1 {
		t.Fatalf("%d groups", len(r.Groups))
	}
	return r.Groups[0]
}

// comms gives the i-th record the Comms Id first + i.
func comms(first uint64) func(int) (string, string) {
	return func(i int) (string, string) { return fmt.Sprintf(" comms=json\"%d\"", first+uint64(i)), "launch" }
}

// TestBasis: what decides which collectives are the same, by what the ranks recorded.
func TestBasis(t *testing.T) {
	plain := reductions(10, "0", 9, 64, 0, 1)
	numbered := edit(plain, func(i int, c *call) { c.seq = 7 + i })
	huge := uint64(1<<64 - 100) // beyond int64, as half of all hashes are
	graph := func(int) (string, string) { return "", "cudaGraphLaunch" }
	for _, c := range []struct {
		name         string
		a, b         []call
		moreA, moreB func(int) (string, string)
		basis        Basis
		matched      int
	}{
		{"neither", plain, moved(plain, 20), nil, nil, BySignature, 10},
		{"numbers on one side", numbered, moved(plain, 20), nil, nil, BySignature, 10},
		{"numbers", numbered, numbered, nil, nil, ByNumber, 10},
		{"ids and numbers", numbered, numbered, comms(huge), comms(huge), ByComms, 10},
		{"ids on one side", numbered, numbered, comms(huge), nil, ByNumber, 10},
		{"ids of other builds", numbered, numbered, comms(1), comms(huge), ByNumber, 10},
		{"ids that agree in part", numbered, numbered, comms(5), comms(6), ByComms, 0},
		{"no ids", numbered, numbered, comms(0), comms(0), ByNumber, 10},
		{"an id that is none", numbered, numbered,
			func(int) (string, string) { return ` comms="a b"`, "launch" }, comms(huge), ByNumber, 10},
		// A graph repeats the numbers of its capture: those of one rank's third replay are
		// those of the other's first.
		{"numbers of graphs", numbered, moved(without(numbered, 0, 3), 20), graph, graph, BySignature, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := pairWith(t, c.a, c.b, c.moreA, c.moreB)
			if g.Basis != c.basis || len(g.Collectives) != c.matched {
				t.Errorf("%s, %d matched, want %s, %d (%s)", g.Basis, len(g.Collectives), c.basis, c.matched, g.Reason)
			}
		})
	}
}

// TestReplaysRepeatNumbers: every replay of a graph of two collectives has their two
// numbers, and the ranks recorded different replays.
func TestReplaysRepeatNumbers(t *testing.T) {
	calls := edit(reductions(20, "0", 9, 64, 0, 1), func(i int, c *call) { c.seq = 7 + i%2 })
	graph := func(int) (string, string) { return "", "cudaGraphLaunch" }
	g := pairWith(t, calls, moved(without(calls, 0, 6), 20), graph, graph)
	if len(g.Collectives) != 14 || g.Collectives[0].OfRank[0] != 6 || g.Collectives[0].OfRank[1] != 0 {
		t.Errorf("%d matched, %+v", len(g.Collectives), g.Reason)
	}
}

// TestEagerBetweenReplays: what is numbered is exact, and between two of them stand as many
// collectives of graphs on both ranks.
func TestEagerBetweenReplays(t *testing.T) {
	calls := edit(reductions(12, "0", 9, 64, 0, 1), func(i int, c *call) { c.seq = 7 + i })
	graphs := func(i int) (string, string) {
		if i%4 > 0 {
			return "", "hipGraphLaunch"
		}
		return "", "launch"
	}
	g := pairWith(t, calls, moved(calls, 20), graphs, graphs)
	if g.Basis != ByNumber || len(g.Collectives) != 12 || len(g.Gaps) > 0 {
		t.Errorf("%s, %d matched, gaps %v", g.Basis, len(g.Collectives), g.Gaps)
	}
	// One replay fewer on one rank, in the middle: what lies between stays unmatched there.
	shorter := without(calls, 5, 6)
	fewer := func(i int) (string, string) {
		if i >= 5 {
			i++
		}
		return graphs(i)
	}
	g = pairWith(t, calls, shorter, graphs, fewer)
	if len(g.Collectives) != 9 || len(g.Gaps) == 0 {
		t.Errorf("%d matched, gaps %v, %s", len(g.Collectives), g.Gaps, g.Reason)
	}
}

// TestConflicts: collectives of one number that cannot be the same are named.
func TestConflicts(t *testing.T) {
	calls := edit(reductions(6, "0", 9, 64, 0, 1), func(i int, c *call) { c.seq = 7 + i })
	other := slices.Clone(calls)
	other[2].kind = "ReduceScatter"
	other[4].elems = 65
	g := pairWith(t, calls, other, nil, nil)
	want := []Conflict{
		{Sources: [2]int{0, 1}, Collectives: [2]int{2, 2}}, {Sources: [2]int{0, 1}, Collectives: [2]int{4, 4}},
	}
	if g.Status != Unmatched || g.Mismatches != 2 || !slices.Equal(g.Conflicts, want) {
		t.Errorf("%s %d %+v", g.Status, g.Mismatches, g.Conflicts)
	}
	if !strings.Contains(g.Reason, "2 collectives of one sequence number differ") {
		t.Error(g.Reason)
	}
}

// TestOneNumberTwoKernels: NCCL may choose another kernel on another machine; the number
// and the message say that it is the same collective. Uneven parts have one larger side.
func TestOneNumberTwoKernels(t *testing.T) {
	a := &item{kernel: 1, described: true, kind: 2, dtype: 3, in: 10, out: 80, seq: 4}
	for _, c := range []struct {
		edit func(*item)
		want bool
	}{
		{func(b *item) { b.kernel = 9 }, true},
		{func(b *item) { b.in = 11 }, true},
		{func(b *item) { b.dtype = 0 }, true},
		{func(b *item) { b.out = 81 }, false},
		{func(b *item) { b.kind = 3 }, false},
		{func(b *item) { b.dtype = 4 }, false},
		{func(b *item) { b.described, b.kernel = false, 9 }, false},
		{func(b *item) { b.described = false }, true},
	} {
		b := *a
		c.edit(&b)
		if a.same(&b) != c.want || b.same(a) != c.want {
			t.Errorf("%+v and %+v: want %v", *a, b, c.want)
		}
	}
}

// TestPartsOfAGraph: the numbers of the capture tell the parts of a graph apart, where ends
// alone would fit one part later nearly as well.
func TestPartsOfAGraph(t *testing.T) {
	graph := func(int) (string, string) { return "", "cudaGraphLaunch" }
	near := func(late int, seq func(i int) int) []call {
		return edit(reductions(10, "0", 9, 64, 0, 1), func(i int, c *call) {
			c.start, c.end, c.seq = 1000+50*i+late, 1040+50*i+late, seq(i)
		})
	}
	parts := func(i int) int { return 7 + i%2 }
	if g := pairWith(t, near(0, parts), near(5, parts), graph, graph); len(g.Collectives) != 10 {
		t.Errorf("%d matched: %s", len(g.Collectives), g.Reason)
	}
	alike := func(int) int { return 7 }
	if g := pairWith(t, near(0, alike), near(5, alike), graph, graph); g.Status != Unmatched {
		t.Errorf("%s: nothing tells them apart", g.Status)
	}
}

// Collectives of one communicator on several streams start in another order on every rank, as
// all-gathers and reduce-scatters of FSDP do. Numbers say which is which, and none is missing.
func TestSeveralStreams(t *testing.T) {
	calls := edit(reductions(8, "0", 23, 64, 0, 1), func(i int, c *call) { c.seq = 1 + i })
	swapped := edit(calls, func(i int, c *call) {
		if i%4 == 1 { // on another stream, and later than the next one
			c.stream, c.start, c.end = 24, c.start+1010, c.end+1010
		}
	})
	for _, ids := range []func(int) (string, string){nil, comms(5)} {
		g := pairWith(t, calls, swapped, ids, ids)
		if len(g.Collectives) != 8 || len(g.Gaps) != 0 || g.Mismatches != 0 {
			t.Errorf("%d matched, %d gaps, %d mismatches", len(g.Collectives), len(g.Gaps), g.Mismatches)
		}
	}
}
