package calibration

import (
	"cmp"
	"math"
	"slices"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/ranks"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// Transfer is what collectives of a kind take that move so many bytes, without waiting for ranks.
type Transfer struct {
	Kind  string
	Ranks int64 // of the group
	Bytes int64 // of the larger side
	Stat
}

// message is the size of a collective.
type message struct {
	kind         timeline.CollectiveKind
	ranks, bytes int64
}

func inOrder(a, b message) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.ranks, b.ranks), cmp.Compare(a.bytes, b.bytes))
}

// messageOf is the size of a collective; ok is false where it is not known, and where nobody takes part but this rank.
func messageOf(c *facts.Collective) (m message, ok bool) {
	return message{c.Kind, c.GroupSize, c.Bytes}, c.Bytes > 0 && c.GroupSize > 1
}

// transfersOf are the transfers of all collectives whose messages were recorded. Where all ranks of a group are there,
// a transfer is from the latest start to the earliest end; of one rank it is the least of its size, and no more than
// that of a larger one.
func transfersOf(matched *ranks.Result) []Transfer {
	exact, alone := make(map[message][]int64), make(map[message][]int64)
	done := make(map[*facts.Rank]map[int32]bool) // collectives that were matched
	for _, g := range matched.Groups {
		matchedTransfers(exact, done, g, matched.Sources)
	}
	for _, s := range matched.Sources {
		for i := range s.Rank.Collectives {
			c := &s.Rank.Collectives[i]
			if m, ok := messageOf(c); ok && c.End > c.Start && !done[s.Rank][int32(i)] {
				alone[m] = append(alone[m], c.End-c.Start)
			}
		}
	}
	return transferList(exact, monotone(alone))
}

// matchedTransfers takes those of a group of which all ranks are there.
func matchedTransfers(
	exact map[message][]int64, done map[*facts.Rank]map[int32]bool, g *ranks.Group, sources []ranks.Source,
) {
	if g.Status != ranks.Matched || g.NoFigures != "" || len(g.Ranks) < 2 || g.Size != int64(len(g.Ranks)) {
		return
	}
	for i := range g.Collectives {
		c := &g.Collectives[i]
		for k, source := range g.Ranks {
			rank := sources[source].Rank
			if done[rank] == nil {
				done[rank] = make(map[int32]bool)
			}
			done[rank][c.OfRank[k]] = true
		}
		one := &sources[g.Ranks[0]].Rank.Collectives[c.OfRank[0]]
		if m, ok := messageOf(one); ok && !c.Impossible && c.Transfer > 0 {
			exact[m] = append(exact[m], c.Transfer)
		}
	}
}

// monotone leaves of each size the least, and no more than what a larger one takes.
func monotone(of map[message][]int64) map[message][]int64 {
	keys := sortedKeys(of, inOrder)
	for i, m := range slices.Backward(keys) {
		low := slices.Min(of[m])
		if i+1 < len(keys) && keys[i+1].kind == m.kind && keys[i+1].ranks == m.ranks {
			low = min(low, of[keys[i+1]][0])
		}
		of[m] = []int64{low}
	}
	return of
}

// transferList lists transfers by kind, ranks and bytes. Of sizes that all ranks recorded, those of single ranks do
// not count.
func transferList(exact, alone map[message][]int64) []Transfer {
	for m, list := range alone {
		if exact[m] == nil {
			exact[m] = list
		}
	}
	var list []Transfer
	for _, m := range sortedKeys(exact, inOrder) {
		list = append(list, Transfer{m.kind.String(), m.ranks, m.bytes, statOf(exact[m])})
	}
	return list
}

// Line is what collectives of a kind take by their bytes: alpha + beta x bytes.
type Line struct {
	Kind    string
	Ranks   int64
	Samples int     // collectives
	Sizes   int     // different ones
	From    int64   // bytes of the least size that the line is fitted to
	Alpha   float64 // ns
	Beta    float64 // ns per byte
	Bus     float64 // what a rank sends in a ring, bytes/s
	Median  float64 // of the relative errors over those sizes
	P90     float64 // ninth decile of them
	Why     string  // why there is no line, "" where there is one
}

// large is from which size on a line is fitted where two are as large: smaller messages are handed on by other
// protocols of NCCL, with less latency and less bandwidth, so that one line does not hold for both.
const large = 4 << 20

// linesOf fits a line to each kind and group size.
func linesOf(list []Transfer) []Line {
	var lines []Line
	for from, to := 0, 0; from < len(list); from = to {
		for to < len(list) && list[to].Kind == list[from].Kind && list[to].Ranks == list[from].Ranks {
			to++
		}
		lines = append(lines, lineOf(list[from:to]))
	}
	return lines
}

// lineOf fits a line to the sizes of one kind, which are in order.
func lineOf(list []Transfer) Line {
	l := Line{Kind: list[0].Kind, Ranks: list[0].Ranks, Sizes: len(list)}
	for i := range list {
		l.Samples += list[i].Samples
	}
	if at := slices.IndexFunc(list, func(t Transfer) bool { return t.Bytes >= large }); at >= 0 && len(list)-at > 1 {
		list = list[at:]
	}
	l.From = list[0].Bytes
	if len(list) < 2 {
		l.Why = "all have the same size"
		return l
	}
	l.solve(list)
	switch {
	case !(l.Beta > 0):
		l.Alpha, l.Beta, l.Why = 0, 0, "larger ones take no longer"
		return l
	case l.Alpha < 0:
		l.through(list)
	}
	l.Bus = sent(l.Kind, l.Ranks) / l.Beta * 1e9
	off := make([]float64, len(list))
	for i, t := range list {
		off[i] = math.Abs((l.Alpha+l.Beta*float64(t.Bytes))/float64(t.NS) - 1)
	}
	slices.Sort(off)
	l.Median, l.P90 = off[len(off)/2], off[len(off)*9/10]
	return l
}

// sent is how many bytes a rank sends in a ring for each byte of the larger side.
func sent(kind string, ranks int64) float64 {
	n := float64(ranks)
	switch kind {
	case timeline.AllReduce.String():
		return 2 * (n - 1) / n
	case timeline.ReduceScatter.String(), timeline.AllGather.String(), timeline.AllToAll.String():
		return (n - 1) / n
	}
	return 1
}

// solve finds the line with the least squares of relative errors.
func (l *Line) solve(list []Transfer) {
	var w, x, y, xx, xy float64
	for _, p := range list {
		b, t := float64(p.Bytes), float64(p.NS)
		weight := 1 / (t * t)
		w, x, y, xx, xy = w+weight, x+weight*b, y+weight*t, xx+weight*b*b, xy+weight*b*t
	}
	l.Beta = (w*xy - x*y) / (w*xx - x*x)
	l.Alpha = (y - l.Beta*x) / w
}

// through finds the line without a latency, where the best one would have one below 0.
func (l *Line) through(list []Transfer) {
	var x, xx float64
	for _, p := range list {
		rate := float64(p.Bytes) / float64(p.NS)
		x, xx = x+rate, xx+rate*rate
	}
	l.Alpha, l.Beta = 0, x/xx
}
