package ranks

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// groupOf is a matched group whose ranks run collectives from and to these instants, by
// collective and rank.
func groupOf(times [][][2]int64) *Group {
	g := &Group{Matching: Matching{Status: Matched}}
	for k := range times[0] {
		q := &sequence{source: k}
		for i := range times {
			q.items = append(q.items, item{collective: int32(i), start: times[i][k][0], end: times[i][k][1]})
		}
		g.sequences, g.Ranks = append(g.sequences, q), append(g.Ranks, k)
	}
	for i := range times {
		at := make([]int32, len(g.Ranks))
		for k := range at {
			at[k] = int32(i)
		}
		g.Collectives = append(g.Collectives, Collective{OfRank: at, items: at})
	}
	return g
}

// TestFiguresAgainstSorted compares the figures of random collectives with what sorting their
// starts and ends says.
func TestFiguresAgainstSorted(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for n := 1; n <= 6; n++ {
		var times [][][2]int64
		want := Waits{Wait: make([]int64, n), Caused: make([]int64, n), Last: make([]int, n)}
		var each []string
		for range 120 {
			var one [][2]int64
			var starts, ends []int64
			for range n {
				start, end := r.Int64N(9)-4, 10+r.Int64N(9) // few values: ranks often enter together
				one = append(one, [2]int64{start, end})
				starts, ends = append(starts, start), append(ends, end)
			}
			latest := slices.Max(starts)
			last := slices.Index(starts, latest)
			for k, start := range starts {
				want.Wait[k] += latest - start
			}
			slices.Sort(starts)
			want.Last[last]++
			want.Caused[last] += (latest - starts[max(0, n-2)]) * int64(n-1)
			each = append(each, fmt.Sprint(slices.Min(ends)-latest, slices.Max(ends)-slices.Min(ends), last, latest,
				starts[max(0, n-2)]))
			times = append(times, one)
		}
		g := groupOf(times)
		g.figures(nil, Options{})
		if got := fmt.Sprint(g.Waits); got != fmt.Sprint(want) {
			t.Errorf("%d ranks: %s, want %+v", n, got, want)
		}
		for i, c := range g.Collectives {
			if got := fmt.Sprint(c.Transfer, c.Skew, c.Latest, c.LatestAt, c.NextAt); got != each[i] {
				t.Errorf("%d ranks, %v: %s, want %s", n, times[i], got, each[i])
			}
		}
	}
}

// TestImpossible: a collective that ends on one rank before another has begun counts for
// nothing; with more than one in a hundred of them, none counts.
func TestImpossible(t *testing.T) {
	for bad, want := range map[int]string{
		0: "[200 0] [0 200] true", 2: "[198 0] [0 198] true", 3: "[197 0] [0 197] false",
	} {
		times := make([][][2]int64, 200)
		for i := range times {
			times[i] = [][2]int64{{0, 3}, {1, 3}}
			if i < bad {
				times[i] = [][2]int64{{0, 3}, {4, 9}}
			}
		}
		g := groupOf(times)
		g.figures(nil, Options{})
		if got := fmt.Sprint(g.Wait, g.Last, g.NoFigures == ""); got != want || g.Impossible != bad {
			t.Errorf("%d of 200: %s, %d impossible, want %s", bad, got, g.Impossible, want)
		}
	}
	g := groupOf([][][2]int64{{{0, 5}, {5, 9}}}) // nothing is left for the transfer, which is possible
	if g.figures(nil, Options{}); g.Impossible != 0 || g.Wait[0] != 5 {
		t.Errorf("%+v", g.Waits)
	}
}

// TestTransferBelowLink: the transfer of a message takes at least as long as (n-1)/n of it take the
// slowest link, for the kinds that have such a bound, where all of that is known.
func TestTransferBelowLink(t *testing.T) {
	const GB = 1_000_000_000
	for _, test := range []struct {
		name         string
		kind         timeline.CollectiveKind
		bytes, size  int64
		transfer     int64 // ns
		links        [2]int64
		beyond, none bool // none: without links
	}{
		{name: "at the link's speed", kind: timeline.AllReduce, bytes: 2000, transfer: 1000, links: [2]int64{GB, GB}},
		{name: "faster than the link", kind: timeline.AllReduce, bytes: 2000, transfer: 999, links: [2]int64{GB, GB},
			beyond: true},
		{name: "all-gather", kind: timeline.AllGather, bytes: 2000, transfer: 999, links: [2]int64{GB, GB},
			beyond: true},
		{name: "reduce-scatter", kind: timeline.ReduceScatter, bytes: 2000, transfer: 999, links: [2]int64{GB, GB},
			beyond: true},
		{name: "broadcast", kind: timeline.Broadcast, bytes: 2000, transfer: 1, links: [2]int64{GB, GB}},
		{name: "all-to-all", kind: timeline.AllToAll, bytes: 2000, transfer: 1, links: [2]int64{GB, GB}},
		{name: "of four ranks", kind: timeline.AllGather, bytes: 2000, size: 4, transfer: 1499,
			links: [2]int64{GB, GB}, beyond: true},
		{name: "of four ranks, slow enough", kind: timeline.AllGather, bytes: 2000, size: 4, transfer: 1500,
			links: [2]int64{GB, GB}},
		{name: "the slower link counts", kind: timeline.AllReduce, bytes: 2000, transfer: 1500,
			links: [2]int64{GB, GB / 2}, beyond: true},
		{name: "also of the first", kind: timeline.AllReduce, bytes: 2000, transfer: 1500, links: [2]int64{GB / 2, GB},
			beyond: true},
		{name: "one link is unknown", kind: timeline.AllReduce, bytes: 2000, transfer: 1, links: [2]int64{GB, 0}},
		{name: "no link is known", kind: timeline.AllReduce, bytes: 2000, transfer: 1, none: true},
		{name: "size unknown", kind: timeline.AllReduce, bytes: -1, transfer: 1, links: [2]int64{GB, GB}},
	} {
		g := groupOf([][][2]int64{{{0, 5000}, {5000 - test.transfer, 5000}}})
		g.Size = test.size
		sources := make([]Source, 2)
		for k := range sources {
			one := facts.Collective{Kind: test.kind}
			one.Bytes = test.bytes
			sources[k].ID = int64(k)
			sources[k].Rank = &facts.Rank{Communication: facts.Communication{Collectives: []facts.Collective{one}}}
		}
		o := Options{Link: func(s Source) int64 { return test.links[s.ID] }}
		if test.none {
			o.Link = nil
		}
		if g.figures(sources, o); g.Collectives[0].Impossible != test.beyond {
			t.Errorf("%s: impossible %t", test.name, g.Collectives[0].Impossible)
		}
	}
}

// TestWindowOfGroup: from the first start to the last end on any rank, whatever the order.
func TestWindowOfGroup(t *testing.T) {
	g := groupOf([][][2]int64{{{-3, 20}, {4, 7}}, {{8, 9}, {-5, 11}}})
	if start, end, ok := g.Window(); start != -5 || end != 20 || !ok {
		t.Errorf("%d to %d, %t", start, end, ok)
	}
	if _, _, ok := new(Group).Window(); ok {
		t.Error("a window without collectives")
	}
}

// TestOwnClock: a stretch in which a rank waits is said on its own clock.
func TestOwnClock(t *testing.T) {
	g := &Group{Ranks: []int{1, 0}, Clocks: Clocks{Residual: []int64{30, -20}}}
	sources := []Source{{Rank: &facts.Rank{}}, {Rank: &facts.Rank{}}}
	sources[0].Rank.BaseTime, sources[1].Rank.BaseTime = 1000, 2000
	c := &Collective{NextAt: 2100, LatestAt: 2500}
	if from, to := g.Late(sources, c, 0); from != 100 || to != 500 {
		t.Errorf("%d to %d", from, to)
	}
	g.Aligned = true // what was subtracted is added again
	if from, to := g.Late(sources, c, 0); from != 130 || to != 530 {
		t.Errorf("%d to %d", from, to)
	}
	if from, to := g.Late(sources, c, 1); from != 1080 || to != 1480 {
		t.Errorf("%d to %d", from, to)
	}
}

// TestNearestAndMedian against looking at every item, and against the definition.
func TestNearestAndMedian(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 300 {
		q, list := &sequence{}, []int64(nil)
		for range 1 + r.IntN(6) {
			q.items = append(q.items, item{end: r.Int64N(20)})
			list = append(list, r.Int64N(20)-10)
		}
		slices.SortFunc(q.items, func(a, b item) int { return int(a.end - b.end) })
		at, best := r.Int64N(24)-2, int64(1<<40)
		for _, it := range q.items {
			best = min(best, abs(it.end-at))
		}
		got := q.items[nearest(q, at)].end
		before := slices.ContainsFunc(q.items, func(it item) bool { return it.end == at-best })
		if abs(got-at) != best || got > at && before {
			t.Errorf("%d is nearest to %d of %v", got, at, q.items)
		}
		low, high := 0, 0
		m := median(clone(list))
		for _, v := range list {
			if v < m {
				low++
			} else if v > m+1 { // the mean of two is cut off
				high++
			}
		}
		if 2*low > len(list) || 2*high > len(list) {
			t.Errorf("the median of %v is %d", list, m)
		}
	}
	if median(nil) != 0 || median([]int64{4, 2}) != 3 || median([]int64{9, 1, 5}) != 5 {
		t.Error("a median")
	}
}

// TestSeveralHosts: ranks whose host is not known tell nothing.
func TestSeveralHosts(t *testing.T) {
	for _, test := range []struct {
		hosts []string
		want  bool
	}{
		{nil, false}, {[]string{"a"}, false}, {[]string{"a", "a"}, false}, {[]string{"a", "b"}, true},
		{[]string{"", ""}, false}, {[]string{"", "a", ""}, false}, {[]string{"a", "", "b"}, true},
		{[]string{"", "a", "a", "b"}, true},
	} {
		var sources []Source
		var ranks []int
		for i, host := range test.hosts {
			sources, ranks = append(sources, Source{Host: host}), append(ranks, i)
		}
		if got := severalHosts(ranks, sources); got != test.want {
			t.Errorf("%q: %t", test.hosts, got)
		}
	}
}
