package drawing

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// Timeline is the device window of one step as a figure shows it: rows of spans, first the
// phases of compute, then the streams, then the ledger.
type Timeline struct {
	Window     steps.Window // what is shown
	Resolution int64        // ns: spans that are closer together than this are drawn as one
	Strips     []Strip      // in the order of rows, from top to bottom
	Folded     int          // streams without a row of their own, which share OtherRow
	Names      []string     // of what takes most time on the rows of streams, which Strip.Names counts from 1
}

// Strip is the spans of one class on one row of a timeline.
type Strip struct {
	Row     string           // PhaseRow, "stream " and its name, OtherRow or LedgerRow
	Class   string           // a facts.Phase on the phase row, else the name of a timeline.Bucket
	Exposed bool             // only what the ledger counts of Class; another strip has all of it
	Spans   []steps.Interval // disjoint, ascending, on the clock of the device

	// Names says of each span which of Timeline.Names is the longest piece of it, and 0 where that is none of
	// them; nil where a strip is not what a stream runs.
	Names []int
}

// The rows of a timeline that are not streams.
const (
	PhaseRow  = "phase"
	OtherRow  = "other streams"
	LedgerRow = "ledger"
)

// Bounds of a timeline: spans are as fine as a wide screen shows when one zooms in a little,
// and there are as many streams as one can read.
const (
	timelineParts   = 4000
	sketchParts     = 1000
	timelineStreams = 6
)

// Draw computes the timeline of one device window of a step, given the index and the facts
// of its rank. It goes over the events of the device once.
//
//  1. The phase row shows compute kernels by the phase in which they were launched.
//  2. A stream shows its kernels, copies and memsets by the bucket they would have if nothing
//     else ran, and the part of its communication that the ledger counts a second time.
//  3. The ledger row is the ledger in order of time; idle time has no spans.
func Draw(x *timeline.Rank, r *facts.Rank, window steps.Window) Timeline {
	return drawParts(x, r, window, timelineParts)
}

// Sketch is Draw at a resolution that takes less room, for steps beside the one that is drawn.
func Sketch(x *timeline.Rank, r *facts.Rank, window steps.Window) Timeline {
	return drawParts(x, r, window, sketchParts)
}

func drawParts(x *timeline.Rank, r *facts.Rank, window steps.Window, parts int64) Timeline {
	t := Timeline{Window: window, Resolution: max(1, (window.End-window.Start)/parts)}
	p := &stripper{t: &t, at: make(map[stripKey]int), longest: make(map[int][]piece)}
	d, phases := x.Devices[window.Device], facts.NewPhases(x, r)
	rows := t.streamRows(x, d)
	for i, row := range d.Rows {
		start, end := x.Col.Start[row], x.End(row)
		if start >= window.End || end <= window.Start {
			continue
		}
		bucket := d.Bucket[i]
		stream := rows[x.Trace.Tracks()[x.Col.Track[row]].TID]
		p.addNamed(stripKey{stream, bucket.String(), false}, start, end, x.Col.Name[row])
		switch {
		case bucket == timeline.ComputeBucket:
			p.add(stripKey{PhaseRow, string(phases.Phase(row, d.Launch[i])), false}, start, end)
		case bucket != timeline.MemoryBucket:
			key := stripKey{stream, bucket.String(), true}
			d.Busy.Alone[bucket].EachWithin(start, end, func(from, to int64) { p.add(key, from, to) })
		}
	}
	for b, set := range d.Busy.Alone {
		key := stripKey{LedgerRow, timeline.Bucket(b).String(), false}
		set.EachWithin(window.Start, window.End, func(from, to int64) { p.add(key, from, to) })
	}
	p.name(x.Trace)
	t.order()
	return t
}

// streamRows returns the row of each stream that is active in the window, by the name of its
// track: a row of its own for the busiest, OtherRow for the rest.
func (t *Timeline) streamRows(x *timeline.Rank, d *timeline.Device) map[string]string {
	busy := make(map[string]int64)
	for _, row := range d.Rows {
		if start, end := max(x.Col.Start[row], t.Window.Start), min(x.End(row), t.Window.End); end > start {
			busy[x.Trace.Tracks()[x.Col.Track[row]].TID] += end - start
		}
	}
	var names []string
	for name := range busy {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(busy[b], busy[a]), cmp.Compare(a, b)) })
	rows := make(map[string]string)
	for i, name := range names {
		rows[name] = "stream " + strings.TrimPrefix(name, "stream ")
		if len(names) > timelineStreams && i >= timelineStreams-1 {
			rows[name] = OtherRow
			t.Folded++
		}
	}
	return rows
}

// stripKey identifies a strip.
type stripKey struct {
	row, class string
	exposed    bool
}

// stripper collects spans into strips. The spans of a strip must come in order of start.
type stripper struct {
	t       *Timeline
	at      map[stripKey]int // index into t.Strips
	longest map[int][]piece  // of each span of a strip with names
}

// add adds a span to a strip, cut to the window, and joins it to the span before if the gap
// is below the resolution. It joins gaps, not spans, so that a short span far from others
// is not lost.
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
	s.Spans = append(s.Spans, steps.Interval{Start: start, End: end})
}

// order sorts strips by row, from phases over streams to the ledger, and within a row what is
// exposed after everything else, since it is drawn on top of what it is a part of.
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
		return cmp.Or(
			rank(a)-rank(b),
			len(a.Row)-len(b.Row), // stream 7 before stream 20
			cmp.Compare(a.Row, b.Row),
			exposed,
			cmp.Compare(classOrder(a.Class), classOrder(b.Class)),
			cmp.Compare(a.Class, b.Class),
		)
	})
}

// phaseOrder is the order of the phases in a step.
var phaseOrder = []facts.Phase{
	facts.PhaseForward, facts.PhaseBackward, facts.PhaseGradientSync,
	facts.PhaseAfterBackward, facts.PhaseOptimizer, facts.PhaseUnknown,
}

// classOrder returns the position of a class: of a bucket in the ledger, of a phase in a
// step.
func classOrder(class string) int {
	for b := range timeline.NumBuckets {
		if b.String() == class {
			return int(b)
		}
	}
	return slices.Index(phaseOrder, facts.Phase(class))
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
