package idle

import (
	"cmp"
	"math"
	"math/bits"
	"sort"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/runs"
	"github.com/gaprof/gaprof/trace"
)

// driving are the classes of names that the threads of the training loop carry: that
// which steps the optimizer, and that of the autograd engine. They count as one, because
// one blocks while the other runs.
const driving = timeline.OptimizerStep | timeline.EvaluateFunction | timeline.AccumulateGrad

// doing is when some threads do what, by what the names of their rows say: the union of
// all rows of a meaning. Sets of different meanings overlap; nil is empty.
type doing [numMeanings]*timeline.Set

// interval is a stretch of time in ns.
type interval struct{ start, end int64 }

// collector gathers when some threads do what, by what the names of their rows say.
type collector struct {
	x      *timeline.Rank
	means  *meanings
	track  [numMeanings]*timeline.Set   // of the thread that is looked at, whose rows come by start
	done   [numMeanings][]*timeline.Set // of those before, one a thread
	works  int64                        // up to where the operators and calls of the thread reach
	unsure []timeline.Span              // spans that fetch a batch unless a step begins inside
}

// threads looks at some threads of the host, which count together. pageable are the
// launches of copies that block the host, ascending.
func threads(x *timeline.Rank, means *meanings, tracks []trace.TrackID, pageable []int32) *doing {
	c := &collector{x: x, means: means, works: math.MinInt64}
	for _, id := range tracks {
		c.thread(id, pageable)
	}
	c.fetching(tracks)
	return c.doing()
}

// anywhere looks at all threads of the process for what counts wherever it stands:
// overhead, and collectives of the host.
func anywhere(x *timeline.Rank, means *meanings) *doing {
	c := &collector{x: x, means: means, works: math.MinInt64}
	hosts := means.waitOnHost()
	for id, track := range x.Trace.Tracks() {
		if !track.Activity && x.Own(trace.TrackID(id)) {
			c.elsewhere(track, hosts)
		}
	}
	return c.doing()
}

// thread gathers the rows of one thread of the group.
func (c *collector) thread(id trace.TrackID, pageable []int32) {
	track := c.x.Trace.Tracks()[id]
	next := sort.Search(len(pageable), func(i int) bool { return pageable[i] >= int32(track.First) })
	for row := int32(track.First); row < int32(track.First+track.N); row++ {
		k := kindOf(c.x.Col.Cat[row])
		if k == noKind || k == overhead || c.x.Col.Phase[row] != trace.Complete {
			continue
		}
		m := c.means.of(k, c.x.Col.Name[row]) &^ (1 << waitsOnHost)
		for next < len(pageable) && pageable[next] < row {
			next++
		}
		if next < len(pageable) && pageable[next] == row {
			m |= 1 << waits
		}
		c.add(row, m)
	}
	c.endThread()
}

// elsewhere gathers overhead, and collectives of the host where there are any.
func (c *collector) elsewhere(track trace.Track, hosts bool) {
	for row := int32(track.First); row < int32(track.First+track.N); row++ {
		k := kindOf(c.x.Col.Cat[row])
		if k == noKind || k == call || k != overhead && !hosts || c.x.Col.Phase[row] != trace.Complete {
			continue
		}
		m := c.means.of(k, c.x.Col.Name[row])
		if k != overhead {
			m &= 1 << waitsOnHost
		}
		c.add(row, m)
	}
	c.endThread()
}

// add adds a row of the thread that is looked at to the sets of all that it means. Most
// rows are operators and calls inside others, which change nothing.
func (c *collector) add(row int32, m mask) {
	start, end := c.x.Col.Start[row], c.x.End(row)
	if m &^= 1 << known; m == 1<<works {
		if end <= c.works {
			return
		}
		c.works = end
	}
	for ; m != 0; m &= m - 1 {
		one := meaning(bits.TrailingZeros16(uint16(m)))
		if one == mayLoadData {
			c.unsure = append(c.unsure, timeline.Span{Row: row, Start: start, End: end})
			continue
		}
		if c.track[one] == nil {
			c.track[one] = timeline.NewSet(0)
		}
		c.track[one].Add(start, end)
	}
}

// endThread keeps what the thread does.
func (c *collector) endThread() {
	for m, set := range c.track {
		if set != nil {
			c.done[m] = append(c.done[m], set)
		}
	}
	c.track, c.works = [numMeanings]*timeline.Set{}, math.MinInt64
}

// fetching takes spans that are named after the fetching of a batch for that where no
// step begins inside: a whole loop may be called so.
func (c *collector) fetching(tracks []trace.TrackID) {
	if len(c.unsure) == 0 {
		return
	}
	var starts []int64
	for _, s := range c.x.Spans(tracks, timeline.OptimizerStep|timeline.ProfilerStep) {
		if name := c.x.Name(s.Row); hasAnyPrefix(name, "Optimizer.step#", "ProfilerStep#") {
			starts = append(starts, s.Start)
		}
	}
	timeline.SortSpans(c.unsure)
	found := timeline.NewSet(0)
	for _, s := range c.unsure {
		i := sort.Search(len(starts), func(i int) bool { return starts[i] >= s.Start })
		if i == len(starts) || starts[i] >= s.End {
			found.Add(s.Start, s.End)
		}
	}
	c.done[loadsData] = append(c.done[loadsData], found)
}

// doing is the union of all rows of each meaning.
func (c *collector) doing() *doing {
	d := new(doing)
	for m, sets := range c.done {
		if len(sets) > 0 {
			d[m] = union(sets)
		}
	}
	return d
}

// union is what any of some sets has, of which there is one at the least.
func union(sets []*timeline.Set) *timeline.Set {
	switch len(sets) {
	case 1:
		return sets[0]
	case 2: // the loop's thread and that of backward: nearly always
		return sets[0].Plus(sets[1])
	}
	var list []interval
	for _, set := range sets {
		set.EachWithin(math.MinInt64, math.MaxInt64, func(start, end int64) {
			list = append(list, interval{start, end})
		})
	}
	runs.Sort(list, func(a, b interval) int { return cmp.Compare(a.start, b.start) }, nil)
	all := timeline.NewSet(len(list))
	for _, i := range list {
		all.Add(i.start, i.end)
	}
	return all
}
