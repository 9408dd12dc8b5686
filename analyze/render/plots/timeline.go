package plots

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/render/plots/plot"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// MostTimelines is how many ranks have a timeline: a page of more is too long to read.
const MostTimelines = 9

// timelines draws one step of each rank by stream; of many ranks the straggler's first and
// then the first ones.
func timelines(r *report.Report) []Figure {
	if r.Drawing == nil {
		return nil
	}
	list := orderedTimelines(r)
	var figures []Figure
	for i := range list[:min(MostTimelines, len(list))] {
		t := &list[i]
		figures = append(figures, timelineFigure(t, i))
		if from, ok := tail(t); ok {
			figures = append(figures, tailFigure(t, i, from))
		}
	}
	return figures
}

// orderedTimelines are those that show anything, the straggler's first.
func orderedTimelines(r *report.Report) []report.Timeline {
	var list []report.Timeline
	for _, t := range r.Drawing.Timelines {
		if len(t.Strips) > 0 && t.Duration > 0 {
			list = append(list, t)
		}
	}
	if r.Straggler != nil {
		slices.SortStableFunc(list, func(a, b report.Timeline) int {
			return later(a.Rank != *r.Straggler) - later(b.Rank != *r.Straggler)
		})
	}
	return list
}

// tail is where to begin a closer look at the end of a step: a little before the last
// compute that backward launches. ok is false where that would enlarge nothing.
func tail(t *report.Timeline) (from int64, ok bool) {
	for i := range t.Strips {
		if s := &t.Strips[i]; s.Row == "phase" && s.Class == "backward" {
			for _, span := range s.Spans {
				from = max(from, span[0]+span[1])
			}
		}
	}
	from -= (t.Duration - from) / 4
	return from, from > t.Duration/2 && from < t.Duration
}

func later(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func timelineFigure(t *report.Timeline, i int) Figure {
	f := Figure{
		ID:    fmt.Sprintf("timeline-%d", i),
		Title: fmt.Sprintf("Step %d of rank %d by stream, ms from its start", t.Step, t.Rank),
		Text:  timelineText(t),
		Note: fmt.Sprintf("Device time. Top row: where compute kernels are launched from. "+
			"Streams: communication is high where nothing hides it, low and pale where something does. "+
			"Bottom row: the ledger in the order of time, empty where the device is idle. "+
			"What is shorter than a pixel is drawn half a pixel wide, gaps under %s µs are not drawn. "+
			"The step starts at ts %d.%03d µs of the trace.", roundMicros(t.Resolution), t.Start/1000, t.Start%1000),
	}
	if t.Folded > 0 {
		f.Note += fmt.Sprintf(" %d streams share the row \"other streams\".", t.Folded)
	}
	f.keys = timelineKeys(t)
	f.make = func(width int) (*plot.Plot, int) { return timelinePlot(t, 0, width) }
	return f
}

// tailFigure is the end of a step, where backward ends and the optimizer works.
func tailFigure(t *report.Timeline, i int, from int64) Figure {
	return Figure{
		ID: fmt.Sprintf("timeline-%d-end", i),
		Title: fmt.Sprintf("The end of step %d of rank %d: backward, reductions, optimizer, "+
			"ms from the start of the step", t.Step, t.Rank),
		Text: fmt.Sprintf("The last %.2f ms of the timeline above, enlarged.", units.MS(t.Duration-from)),
		Note: fmt.Sprintf("The last %.2f ms of the step above.", units.MS(t.Duration-from)),
		keys: timelineKeys(t),
		make: func(width int) (*plot.Plot, int) { return timelinePlot(t, from, width) },
	}
}

func roundMicros(ns int64) string {
	if ns < 10000 {
		return fmt.Sprintf("%.1f", units.US(ns))
	}
	return fmt.Sprintf("%.0f", units.US(ns))
}

// timelineKeys are the phases and classes that occur; of communication its exposed and
// its hidden part, as far as there is one.
func timelineKeys(t *report.Timeline) []key {
	var keys []key
	for _, c := range phases {
		if length(t, "phase", c.id, false) > 0 {
			keys = append(keys, key{label: c.label, ink: c.ink})
		}
	}
	for i, c := range classes {
		all, exposed := length(t, "", c.id, false), length(t, "", c.id, true)
		switch {
		case i < 2 && all > 0:
			keys = append(keys, key{label: c.label, ink: c.ink})
		case i >= 2 && exposed > 0:
			keys = append(keys, key{label: exposedLabel(i), ink: c.ink})
		}
		if i >= 2 && all > exposed {
			keys = append(keys, key{label: "hidden " + c.label, ink: c.hidden})
		}
	}
	return keys
}

// length is the time of a class in ns, on one row or, without one, on all streams.
func length(t *report.Timeline, row, class string, exposed bool) (ns int64) {
	for i := range t.Strips {
		s := &t.Strips[i]
		here := s.Row == row || row == "" && s.Row != "phase" && s.Row != "ledger"
		if !here || s.Class != class || s.Exposed != exposed {
			continue
		}
		for _, span := range s.Spans {
			ns += span[1]
		}
	}
	return ns
}

// rowsOf are the rows of a timeline from top to bottom.
func rowsOf(t *report.Timeline) []string {
	var rows []string
	for _, s := range t.Strips {
		if !slices.Contains(rows, s.Row) {
			rows = append(rows, s.Row)
		}
	}
	return rows
}

func timelinePlot(t *report.Timeline, from int64, width int) (*plot.Plot, int) {
	p := newPlot("ms", "")
	rows := rowsOf(t)
	names := make([]string, len(rows))
	for i, row := range rows {
		names[len(rows)-1-i] = rowName(row, width)
	}
	named(&p.Y, names, len(names))
	between(&p.X, units.MS(from), units.MS(t.Duration), max(3, width/110))
	p.Add(lines{vertical: true})
	for i := range t.Strips {
		s := &t.Strips[i]
		y := float64(len(rows) - 1 - slices.Index(rows, s.Row))
		p.Add(stripRects(t, s, from, y, width))
	}
	return p, 40 + 34*len(rows)
}

func rowName(row string, width int) string {
	switch row {
	case "phase":
		return "launched in"
	case "ledger":
		return "ledger"
	}
	if width < Wide/2 {
		return short(strings.TrimPrefix(row, "stream "), 10)
	}
	return short(row, 22)
}

// stripRects makes boxes of spans, joined where they are less than a pixel apart.
func stripRects(t *report.Timeline, s *report.Strip, begin int64, y float64, width int) rects {
	c, at := classOf(classes, s.Class)
	if s.Row == "phase" {
		c, _ = classOf(phases, s.Class)
		at = 0
	}
	list := rects{ink: c.ink, least: 0.5}
	low, high := y-0.38, y+0.38
	if at >= 2 && s.Row != "ledger" && !s.Exposed {
		list.ink, high = c.hidden, y
	}
	pixel := max((t.Duration-begin)/int64(width), 1)
	var from, to int64 = -1, -1
	flush := func() {
		if from >= 0 {
			list.boxes = append(list.boxes, rect{units.MS(from), units.MS(to), low, high})
		}
	}
	for _, span := range s.Spans {
		start, end := max(begin, span[0]), span[0]+span[1]
		switch {
		case end <= begin:
		case from >= 0 && start-to < pixel/2:
			to = max(to, end)
		default:
			flush()
			from, to = start, end
		}
	}
	flush()
	return list
}

// timelineText gives the rows in words.
func timelineText(t *report.Timeline) string {
	var parts []string
	for i, c := range classes {
		if ns := length(t, "ledger", c.id, false); ns > 0 {
			parts = append(parts, fmt.Sprintf("%s %.2f ms", exposedLabel(i), units.MS(ns)))
		}
	}
	return fmt.Sprintf("A row for each stream of the device over %.2f ms. About: %s; the rest is idle.",
		units.MS(t.Duration), strings.Join(parts, ", "))
}
