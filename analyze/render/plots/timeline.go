package plots

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"

	"github.com/gaprof/gaprof/analyze"
)

// MostTimelines is how many ranks have a timeline: a page of more is too long to read.
const MostTimelines = 9

// timelines is one step of each rank by stream; of many ranks the straggler's first and
// then the first ones.
func timelines(r *analyze.Report) []Figure {
	if r.Drawing == nil {
		return nil
	}
	var list []analyze.Timeline
	for _, t := range r.Drawing.Timelines {
		if len(t.Strips) > 0 && t.Duration > 0 {
			list = append(list, t)
		}
	}
	if r.Straggler != nil {
		slices.SortStableFunc(list, func(a, b analyze.Timeline) int { return later(a.Rank != *r.Straggler) - later(b.Rank != *r.Straggler) })
	}
	var figures []Figure
	for i := range list[:min(MostTimelines, len(list))] {
		figures = append(figures, timelineFigure(&list[i], i))
	}
	return figures
}

func later(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func timelineFigure(t *analyze.Timeline, i int) Figure {
	f := Figure{ID: fmt.Sprintf("timeline-%d", i), Title: fmt.Sprintf("Step %d of rank %d by stream, ms from its start", t.Step, t.Rank),
		Text: timelineText(t),
		Note: fmt.Sprintf("Device time. Top row: where compute kernels are launched from. Streams: communication is high where nothing hides it, low and pale where something "+
			"does. Bottom row: the ledger in the order of time, empty where the device is idle. Gaps under %.0f µs are not drawn. The step starts at ts %d.%03d µs of the trace.",
			float64(t.Resolution)/1e3, t.Start/1000, t.Start%1000)}
	if t.Folded > 0 {
		f.Note += fmt.Sprintf(" %d streams share the row \"other streams\".", t.Folded)
	}
	f.keys = timelineKeys(t)
	f.make = func(width int) (*plot.Plot, int) { return timelinePlot(t, width) }
	return f
}

// timelineKeys are the phases and classes that occur; of communication the exposed and
// the hidden colour.
func timelineKeys(t *analyze.Timeline) []key {
	has := func(phase bool, id string, exposed bool) bool {
		return slices.ContainsFunc(t.Strips, func(s analyze.TimelineStrip) bool {
			return (s.Row == "phase") == phase && s.Class == id && s.Exposed == exposed
		})
	}
	var keys []key
	for _, c := range phases {
		if has(true, c.id, false) {
			keys = append(keys, key{label: c.label, ink: c.ink})
		}
	}
	for i, c := range classes {
		switch {
		case i < 2 && has(false, c.id, false):
			keys = append(keys, key{label: c.label, ink: c.ink})
		case has(false, c.id, false):
			keys = append(keys, key{label: c.label + " exposed", ink: c.ink}, key{label: "hidden", ink: c.hidden})
		}
	}
	return keys
}

// rowsOf are the rows of a timeline from top to bottom.
func rowsOf(t *analyze.Timeline) []string {
	var rows []string
	for _, s := range t.Strips {
		if !slices.Contains(rows, s.Row) {
			rows = append(rows, s.Row)
		}
	}
	return rows
}

func timelinePlot(t *analyze.Timeline, width int) (*plot.Plot, int) {
	p := newPlot("ms", "")
	rows := rowsOf(t)
	names := make([]string, len(rows))
	for i, row := range rows {
		names[len(rows)-1-i] = rowName(row, width)
	}
	named(&p.Y, names, len(names))
	amounts(&p.X, millis(t.Duration), max(3, width/110))
	p.Add(lines{vertical: true})
	for i := range t.Strips {
		s := &t.Strips[i]
		y := float64(len(rows) - 1 - slices.Index(rows, s.Row))
		p.Add(stripRects(t, s, y, width))
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

// stripRects makes boxes of spans, joined where the width cannot tell them apart.
func stripRects(t *analyze.Timeline, s *analyze.TimelineStrip, y float64, width int) rects {
	c, at := classOf(classes, s.Class)
	if s.Row == "phase" {
		c, at = classOf(phases, s.Class)
		at = 0
	}
	list := rects{ink: c.ink, least: 0.6}
	low, high := y-0.38, y+0.38
	if at >= 2 && s.Row != "ledger" && !s.Exposed {
		list.ink, high = c.hidden, y
	}
	pixel := max(t.Duration/int64(width), 1)
	var from, to int64 = -1, -1
	flush := func() {
		if from >= 0 {
			list.boxes = append(list.boxes, rect{millis(from), millis(to), low, high})
		}
	}
	for _, span := range s.Spans {
		if from >= 0 && span[0]-to < pixel/2 {
			to = max(to, span[0]+span[1])
			continue
		}
		flush()
		from, to = span[0], span[0]+span[1]
	}
	flush()
	return list
}

// timelineText tells the rows in words.
func timelineText(t *analyze.Timeline) string {
	var parts []string
	for _, s := range t.Strips {
		if s.Row != "ledger" {
			continue
		}
		var ns int64
		for _, span := range s.Spans {
			ns += span[1]
		}
		_, at := classOf(classes, s.Class)
		parts = append(parts, fmt.Sprintf("%s %.2f ms", exposedLabel(at), millis(ns)))
	}
	return fmt.Sprintf("A row for each stream of the device over %.2f ms. About: %s; the rest is idle.", millis(t.Duration), strings.Join(parts, ", "))
}
