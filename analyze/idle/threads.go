package idle

import (
	"sort"
	"strings"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// driving are the classes of names that the threads of the training loop carry: that
// which steps the optimizer, and that of the autograd engine. They count as one, because
// one blocks while the other runs.
const driving = timeline.OptimizerStep | timeline.ProfilerStep | timeline.EvaluateFunction | timeline.AccumulateGrad

// charge is a cause with the time in which it applies.
type charge struct {
	cause Cause
	when  *timeline.Set
}

// group is threads that count as one, and what they do when. Each moment is in one set
// at most, that of the first row of the table of causes that applies.
type group struct {
	before []charge      // what goes before debt
	busy   *timeline.Set // the union of before
	after  []charge      // what comes behind it
	waits  *timeline.Set // a call that waits for the device is open
}

// collector gathers the spans of some threads by what their names say.
type collector struct {
	x     *timeline.Rank
	means *meanings
	spans map[meaning][]timeline.Span
}

// rows of one meaning each, in the order in which they are looked at.
var gathered = []meaning{loadsData, compiles, manages, waits, profiles, optimizes, works, waitsOnHost}

// newGroup looks at some threads, and at all threads of the process for what counts
// wherever it stands. pageable are the launches of copies that block the host, ascending.
func newGroup(x *timeline.Rank, means *meanings, tracks []trace.TrackID, pageable []int32) *group {
	c := &collector{x: x, means: means, spans: make(map[meaning][]timeline.Span)}
	in := make(map[trace.TrackID]bool)
	for _, id := range tracks {
		in[id] = true
		c.thread(id, pageable)
	}
	c.elsewhere(in)
	c.steps(tracks)
	sets := make(map[meaning]*timeline.Set)
	for _, m := range gathered {
		sets[m] = union(c.spans[m])
	}
	g := &group{busy: timeline.NewSet(0), waits: sets[waits]}
	g.before, g.busy = exclusive(g.busy, charge{DataLoading, sets[loadsData]}, charge{Compilation, sets[compiles]},
		charge{MemoryManagement, sets[manages]}, charge{Synchronization, sets[waits]}, charge{Profiler, sets[profiles]})
	g.after, _ = exclusive(g.busy, charge{Optimizer, sets[optimizes]}, charge{HostOperators, sets[works]},
		charge{Synchronization, sets[waitsOnHost]})
	return g
}

// exclusive takes from each charge what is in done or in one before it, and returns the
// union of all with done.
func exclusive(done *timeline.Set, list ...charge) ([]charge, *timeline.Set) {
	for i := range list {
		list[i].when = list[i].when.Minus(done)
		done = done.Plus(list[i].when)
	}
	return list, done
}

// thread gathers the rows of one thread of the group.
func (c *collector) thread(id trace.TrackID, pageable []int32) {
	track := c.x.Trace.Tracks()[id]
	for row := int32(track.First); row < int32(track.First+track.N); row++ {
		k := kindOf(c.x.Col.Cat[row])
		if k == noKind || k == overhead || c.x.Col.Phase[row] != trace.Complete {
			continue
		}
		m := c.means.of(k, c.x.Col.Name[row])
		if k == call && contains(pageable, row) {
			m |= waits
		}
		c.add(row, m&^(waitsOnHost|profiles))
	}
}

// elsewhere gathers what counts wherever it stands: overhead, and collectives of the host.
func (c *collector) elsewhere(in map[trace.TrackID]bool) {
	for id, track := range c.x.Trace.Tracks() {
		if track.Activity || !c.x.Own(trace.TrackID(id)) {
			continue
		}
		for row := int32(track.First); row < int32(track.First+track.N); row++ {
			if c.x.Col.Phase[row] != trace.Complete {
				continue
			}
			switch k := kindOf(c.x.Col.Cat[row]); k {
			case overhead:
				c.add(row, c.means.of(k, c.x.Col.Name[row]))
			case operator, note:
				c.add(row, c.means.of(k, c.x.Col.Name[row])&waitsOnHost)
			}
		}
	}
}

func (c *collector) add(row int32, m meaning) {
	for _, one := range append(gathered, mayLoadData) {
		if m&one != 0 {
			c.spans[one] = append(c.spans[one], c.x.Span(row))
		}
	}
}

// steps takes spans that are named after the fetching of a batch for that where no step
// begins inside: a whole loop may be called so.
func (c *collector) steps(tracks []trace.TrackID) {
	if len(c.spans[mayLoadData]) == 0 {
		return
	}
	var starts []int64
	for _, s := range c.x.Spans(tracks, timeline.OptimizerStep|timeline.ProfilerStep) {
		if strings.HasPrefix(c.x.Name(s.Row), "Optimizer.step#") || strings.HasPrefix(c.x.Name(s.Row), "ProfilerStep#") {
			starts = append(starts, s.Start)
		}
	}
	for _, s := range c.spans[mayLoadData] {
		i := sort.Search(len(starts), func(i int) bool { return starts[i] >= s.Start })
		if i == len(starts) || starts[i] >= s.End {
			c.spans[loadsData] = append(c.spans[loadsData], s)
		}
	}
}

// union is the time in which any of some spans is open.
func union(spans []timeline.Span) *timeline.Set {
	timeline.SortSpans(spans)
	set := timeline.NewSet(len(spans))
	for _, s := range spans {
		set.Add(s.Start, s.End)
	}
	return set
}

// contains reports whether an ascending list holds a row.
func contains(rows []int32, row int32) bool {
	i := sort.Search(len(rows), func(i int) bool { return rows[i] >= row })
	return i < len(rows) && rows[i] == row
}
