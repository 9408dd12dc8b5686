package facts

import (
	"cmp"
	"slices"
	"sort"
)

// Timeline is the device window of one step as a figure shows it: rows of spans, the
// phases of compute first, then the streams, then the ledger.
type Timeline struct {
	Window     Window
	Resolution int64 // ns; spans that lie closer together are drawn as one
	Strips     []Strip
	Folded     int // streams that have no row of their own and share the last one
}

// Strip is the spans of one class on one row of a timeline.
type Strip struct {
	Row     string // "phase", "stream " and its name, "other streams", "ledger"
	Class   string // of a phase row a Phase, else the name of a Bucket
	Exposed bool   // communication that the ledger counts; the same time stands in the strip of all of it too
	Spans   []Span // ascending, on the clock of the device
}

// The rows of a timeline that are no stream.
const (
	PhaseRow  = "phase"
	OtherRow  = "other streams"
	LedgerRow = "ledger"
)

// Bounds of a timeline: spans are as fine as a wide screen with a closer look, and
// streams as many as one can read.
const (
	timelineParts   = 4000
	timelineStreams = 6
)

// Timeline draws the device window of a step. launches are those of the rank; it reads
// the whole trace, so it is asked for before Compact.
//
//  1. Phases are of compute kernels alone, by their launch.
//  2. A stream shows its kernels, copies and sets by the bucket they would have if
//     nothing else ran; of communication the part that the ledger counts once more.
//  3. The ledger row is the ledger in the order of time; idle time has no spans.
func (r *Rank) Timeline(window Window, launches *Launches) Timeline {
	t := Timeline{Window: window, Resolution: max(1, (window.End-window.Start)/timelineParts)}
	p := &stripper{t: &t, at: make(map[stripKey]int)}
	d := r.Devices[window.Device]
	rows := t.streamRows(launches.c, d)
	for i, row := range d.Rows {
		start := launches.c.col.Start[row]
		end := start + launches.c.col.Dur[row]
		if start >= window.End || end <= window.Start {
			continue
		}
		bucket := launches.c.bucketOf(d, i)
		stream := rows[launches.c.t.Tracks()[launches.c.col.Track[row]].TID]
		p.add(stripKey{stream, bucket.String(), false}, start, end)
		switch {
		case bucket == ComputeBucket:
			p.add(stripKey{PhaseRow, string(launches.Phase(row, d.Launch[i])), false}, start, end)
		case bucket != MemoryBucket:
			d.alone[bucket].eachWithin(start, end, func(from, to int64) { p.add(stripKey{stream, bucket.String(), true}, from, to) })
		}
	}
	for b, set := range d.alone {
		set.eachWithin(window.Start, window.End, func(from, to int64) { p.add(stripKey{LedgerRow, Bucket(b).String(), false}, from, to) })
	}
	t.order()
	return t
}

// streamRows names the row of each stream that is active in the window: its own for
// the busiest ones.
func (t *Timeline) streamRows(c *computer, d *Device) map[string]string {
	busy := make(map[string]int64)
	for _, row := range d.Rows {
		if start, end := max(c.col.Start[row], t.Window.Start), min(c.col.Start[row]+c.col.Dur[row], t.Window.End); end > start {
			busy[c.t.Tracks()[c.col.Track[row]].TID] += end - start
		}
	}
	var names []string
	for name := range busy {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(busy[b], busy[a]), cmp.Compare(a, b)) })
	rows := make(map[string]string)
	for i, name := range names {
		if rows[name] = "stream " + name; len(names) > timelineStreams && i >= timelineStreams-1 {
			rows[name] = OtherRow
			t.Folded++
		}
	}
	return rows
}

type stripKey struct {
	row, class string
	exposed    bool
}

// stripper gathers spans that come in the order of their starts.
type stripper struct {
	t  *Timeline
	at map[stripKey]int // index into t.Strips
}

// add puts a span where it belongs, cut to the window and joined to the one before
// where the gap is too small to be seen.
func (p *stripper) add(key stripKey, start, end int64) {
	start, end = max(start, p.t.Window.Start), min(end, p.t.Window.End)
	if end <= start || key.row == "" {
		return
	}
	i, ok := p.at[key]
	if !ok {
		i = len(p.t.Strips)
		p.at[key] = i
		p.t.Strips = append(p.t.Strips, Strip{Row: key.row, Class: key.class, Exposed: key.exposed})
	}
	s := &p.t.Strips[i]
	if n := len(s.Spans); n > 0 && start-s.Spans[n-1].End < p.t.Resolution {
		s.Spans[n-1].End = max(s.Spans[n-1].End, end)
		return
	}
	s.Spans = append(s.Spans, Span{start, end})
}

// order puts rows from phases over streams to the ledger, and what is exposed behind
// what it is a part of.
func (t *Timeline) order() {
	rank := func(s Strip) int {
		switch s.Row {
		case PhaseRow:
			return 0
		case OtherRow:
			return 2
		case LedgerRow:
			return 3
		}
		return 1
	}
	slices.SortStableFunc(t.Strips, func(a, b Strip) int {
		exposed := oneIf(a.Exposed) - oneIf(b.Exposed)
		return cmp.Or(rank(a)-rank(b), len(a.Row)-len(b.Row), cmp.Compare(a.Row, b.Row), exposed, cmp.Compare(classOrder(a.Class), classOrder(b.Class)),
			cmp.Compare(a.Class, b.Class))
	})
}

// classOrder is the place of a class in the ledger; phases come in the order of a step.
func classOrder(class string) int {
	if i := slices.Index(bucketNames[:], class); i >= 0 {
		return i
	}
	return slices.Index([]string{string(PhaseForward), string(PhaseBackward), string(PhaseGradientSync), string(PhaseAfterBackward),
		string(PhaseOptimizer), string(PhaseUnknown)}, class)
}

// eachWithin calls visit for the parts of the set's intervals that lie in [start, end).
func (s *Set) eachWithin(start, end int64, visit func(start, end int64)) {
	for i := sort.Search(len(s.start), func(i int) bool { return s.end(i) > start }); i < len(s.start) && s.start[i] < end; i++ {
		visit(max(s.start[i], start), min(s.end(i), end))
	}
}
