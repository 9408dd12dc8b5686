package whatif

import (
	"fmt"
	"math"
	"slices"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/graph"
)

// like is what collectives have in common that may be in one bucket.
type like struct {
	kind     timeline.CollectiveKind
	group    string
	dtype    string
	step     int
	backward int // index of the backward pass, of those that the host asked for
	site     timeline.LaunchSite
}

// bucketList is collectives of one communicator that become one: their nodes by rank.
type bucketList struct {
	name  string
	line  *costLine
	bytes int64
	of    [][]graph.Node // by rank of the communicator; one with the trace of one rank
	uses  []int64        // by the same: when the first op that waits for any of them was launched
}

// bucketing finds buckets.
type bucketing struct {
	*Change
	plan  *graph.Plan
	limit int64
	doubt float64
	used  map[graph.Node]int64
	lines map[fitKey]*costLine
	whys  []string // why no line could be fitted
	known map[int32]bool
	lists []bucketList

	reduces, sized, small int // collectives: that reduce, of known size, below the limit

	merged [][]graph.Node // by rank and bucket
	works  []int64        // of those, in ns
}

// fitKey is the collectives that one line is fitted to.
type fitKey struct {
	rank  int
	kind  timeline.CollectiveKind
	group string
}

// bucketsOf finds the buckets of a graph as it is now.
func bucketsOf(c *Change, arg string) *bucketing {
	b := &bucketing{Change: c, lines: make(map[fitKey]*costLine), known: make(map[int32]bool)}
	b.limit, _ = parseSize(arg)
	var err error
	if b.plan, err = c.Plan(c.G); err != nil {
		return b // the replay says why
	}
	b.used = firstUse(c, func(n graph.Node) bool {
		rank, own := c.rankOf(n)
		return c.Ranks[rank].Collective[own] >= 0
	})
	for rank, r := range c.Ranks {
		if !slices.ContainsFunc(r.Facts.Collectives, func(f facts.Collective) bool { return reduces(f.Kind) }) {
			continue
		}
		for i := range r.streams {
			if r.streams[i].device >= 0 {
				b.stream(rank, orderOf(c, rank, &r.streams[i]))
			}
		}
	}
	return b
}

func reduces(k timeline.CollectiveKind) bool {
	return k == timeline.AllReduce || k == timeline.ReduceScatter
}

// stream finds the buckets of one stream.
func (b *bucketing) stream(rank int, order []graph.Node) {
	var open bucketList
	var last like
	for _, n := range order {
		if b.gone[n] {
			continue
		}
		of, bytes, ok := b.like(rank, n)
		if !ok || of != last || !b.joins(&open, n) {
			b.close(&open)
			last = of
		}
		if !ok || bytes >= b.limit && len(open.of) == 0 {
			continue // what is large by itself may fill a bucket, and needs none
		}
		if len(open.of) == 0 {
			open.name, open.line = named(of.kind, of.group), b.line(rank, of)
		}
		b.put(&open, n, bytes)
		if open.bytes >= b.limit {
			b.close(&open)
		}
	}
	b.close(&open)
}

// like says what a collective has in common with others, and false where it cannot be merged.
func (b *bucketing) like(rank int, n graph.Node) (of like, bytes int64, ok bool) {
	r := b.Ranks[rank]
	own := n - b.Change.nodes[rank]
	i := r.Collective[own]
	if i < 0 || !reduces(r.Facts.Collectives[i].Kind) {
		return of, 0, false
	}
	f := &r.Facts.Collectives[i]
	b.reduces++
	b.sized += oneIf(f.Bytes > 0)
	b.small += oneIf(f.Bytes > 0 && f.Bytes < b.limit)
	group := b.G.Group[n]
	_, launched := launchOf(b.Change, b.plan, n)
	ok = f.Bytes > 0 && f.Step >= 0 && launched && !f.Replayed &&
		(len(b.Ranks) == 1 || group != graph.None && !b.known[group])
	of = like{f.Kind, f.Group, f.Dtype, f.Step, -1, f.Site}
	if f.Asked >= 0 {
		of.backward = r.Facts.HostCollectives[f.Asked].Backward
	}
	return of, f.Bytes, ok
}

// members are the nodes that are one collective, by rank.
func (b *bucketing) members(n graph.Node) []graph.Node {
	if group := b.G.Group[n]; group != graph.None {
		return b.plan.Members(group)
	}
	return []graph.Node{n}
}

// joins reports whether a collective can be in an open bucket: on each rank it is on the same stream, and nothing
// that waits for what is in the bucket was launched before it.
func (b *bucketing) joins(open *bucketList, n graph.Node) bool {
	members := b.members(n)
	if len(open.of) == 0 {
		return true
	}
	if len(open.of) != len(members) {
		return false
	}
	for k, m := range members {
		at, _ := launchOf(b.Change, b.plan, m)
		if b.G.Resource[m] != b.G.Resource[open.of[k][0]] || open.uses[k] <= at {
			return false
		}
	}
	return true
}

// put puts a collective into a bucket.
func (b *bucketing) put(open *bucketList, n graph.Node, bytes int64) {
	members := b.members(n)
	if len(open.of) == 0 {
		open.of = make([][]graph.Node, len(members))
		open.uses = slices.Repeat([]int64{math.MaxInt64}, len(members))
	}
	open.bytes += bytes
	for k, m := range members {
		open.of[k] = append(open.of[k], m)
		if at, used := b.used[m]; used {
			open.uses[k] = min(open.uses[k], at)
		}
	}
}

// close ends a bucket and keeps it if it merges anything.
func (b *bucketing) close(open *bucketList) {
	if len(open.of) > 0 && len(open.of[0]) > 1 && open.line != nil {
		b.lists = append(b.lists, *open)
		for _, n := range open.of[0] {
			if group := b.G.Group[n]; group != graph.None {
				b.known[group] = true
			}
		}
	}
	*open = bucketList{}
}

func named(kind timeline.CollectiveKind, group string) string {
	if group == "" {
		return kind.String()
	}
	return fmt.Sprintf("%s of process group %s", kind, group)
}

// line is what messages of a communicator cost, nil where that cannot be fitted.
func (b *bucketing) line(rank int, of like) *costLine {
	key := fitKey{rank, of.kind, of.group}
	line, seen := b.lines[key]
	if seen {
		return line
	}
	fit, why := fitCost(messages(b.World, rank, of.kind, of.group))
	if why != "" {
		b.whys = append(b.whys, named(of.kind, of.group)+": "+why)
	} else {
		line = &fit
	}
	b.lines[key] = line
	return line
}

// messages are sizes and times without waiting of the collectives of one kind on a communicator.
func messages(w *World, rank int, kind timeline.CollectiveKind, group string) []point {
	r := w.Ranks[rank]
	var list []point
	for i := range r.Facts.Collectives {
		f := &r.Facts.Collectives[i]
		if f.Kind != kind || f.Group != group || f.Bytes <= 0 {
			continue
		}
		if ns, ok := transferOf(w, rank, i); ok {
			list = append(list, point{f.Bytes, ns})
		}
	}
	return list
}

// transferOf is what a collective of a rank takes without waiting for peers, and false where
// that is unknown.
func transferOf(w *World, rank, i int) (int64, bool) {
	r := w.Ranks[rank]
	if len(w.Ranks) == 1 {
		return r.Transfer[i], true
	}
	n := w.nodes[rank] + r.Kernel[i]
	return w.Graph.Work[n], w.Graph.Group[n] != graph.None
}
