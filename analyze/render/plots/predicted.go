package plots

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/render/plots/plot"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// predicted draws one step as recorded and, below it on the same scale, as predicted.
func predicted(r *report.Report) []Figure {
	if r.Drawing == nil || r.Drawing.Predicted == nil {
		return nil
	}
	s := r.Drawing.Predicted
	if s.Before.Duration <= 0 || s.After.Duration <= 0 {
		return nil
	}
	note := "Above as recorded, below as predicted, on one scale; the pale bars are the length of the " +
		"step. Host: calls of the runtime, among them what waits for the device, and data loading."
	if touches(s) {
		note += " High and green is what the change moves or takes out."
	}
	return []Figure{{
		ID: "whatif-0",
		Title: fmt.Sprintf("Step %d of rank %d before and after %s, ms from its start", s.Step, s.Rank,
			short(s.Edit, 60)),
		Text: predictedText(s),
		Note: note,
		keys: predictedKeys(s),
		make: func(width int) (*plot.Plot, int) { return predictedPlot(s, width) },
	}}
}

func predictedText(s *report.PredictedStep) string {
	text := fmt.Sprintf("Recorded: %.2f ms. Predicted with %s (%s): %.2f ms.", units.MS(s.Before.Duration),
		short(s.Edit, 60), short(s.Title, 120), units.MS(s.After.Duration))
	for _, row := range rowsThere(s) {
		var parts []string
		for _, side := range []*report.PredictedSide{&s.Before, &s.After} {
			parts = append(parts, fmt.Sprintf("%.2f ms", units.MS(busy(side, row))))
		}
		text += fmt.Sprintf(" %s: %s.", upperFirst(row), strings.Join(parts, " before, ")+" after")
	}
	return text
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// busy is the time of the strips of a row in ns, without those that stand there twice.
func busy(side *report.PredictedSide, row string) (ns int64) {
	for i := range side.Strips {
		s := &side.Strips[i]
		if s.Row != row || s.Exposed {
			continue
		}
		for _, span := range s.Spans {
			ns += span[1]
		}
	}
	return ns
}

// predictedRows are the rows of each side from top to bottom.
var predictedRows = []string{"compute", "communication", "host"}

// rowsThere are the rows on which anything is drawn, from top to bottom.
func rowsThere(s *report.PredictedStep) []string {
	var rows []string
	for _, row := range predictedRows {
		if busy(&s.Before, row)+busy(&s.After, row) > 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

// hostClasses are what the host does.
var hostClasses = []class{
	{"call", "calls of the host", faint, faint},
	{"wait", "host waits for the device", wait, wait},
	{"data_loading", "data loading", optimizer, optimizer},
}

// touches reports whether the change touches anything that is drawn.
func touches(s *report.PredictedStep) bool {
	for _, side := range []*report.PredictedSide{&s.Before, &s.After} {
		for i := range side.Strips {
			if side.Strips[i].Exposed {
				return true
			}
		}
	}
	return false
}

// predictedKeys are the classes that occur.
func predictedKeys(s *report.PredictedStep) []key {
	keys := []key{{label: "length of the step", ink: idle}}
	for _, c := range append(append([]class{}, classes...), hostClasses...) {
		if occurs(&s.Before, c.id) || occurs(&s.After, c.id) {
			keys = append(keys, key{label: c.label, ink: c.ink})
		}
	}
	if touches(s) {
		keys = append(keys, key{label: "what the change touches", ink: changed})
	}
	return keys
}

func occurs(side *report.PredictedSide, class string) bool {
	for i := range side.Strips {
		if side.Strips[i].Class == class {
			return true
		}
	}
	return false
}

func predictedPlot(s *report.PredictedStep, width int) (*plot.Plot, int) {
	p := newPlot("ms", "")
	most := max(s.Before.Duration, s.After.Duration)
	rows := rowsThere(s)
	var names []string // from the top
	for _, side := range []string{"recorded", "predicted"} {
		names = append(names, side)
		for _, row := range rows {
			if width < Wide/2 {
				row = short(strings.Replace(row, "communication", "comm.", 1), 9)
			}
			names = append(names, row)
		}
	}
	bottomUp := make([]string, len(names))
	for i, name := range names {
		bottomUp[len(names)-1-i] = name
	}
	named(&p.Y, bottomUp, len(names))
	between(&p.X, 0, units.MS(most), max(3, width/110))
	p.Add(lines{vertical: true})
	pixel := max(1, most/int64(width))
	top := float64(len(names) - 1)
	for _, side := range []*report.PredictedSide{&s.Before, &s.After} {
		p.Add(rects{ink: idle, boxes: []rect{{0, units.MS(side.Duration), top - 0.22, top + 0.22}}})
		for i := range side.Strips {
			strip := &side.Strips[i]
			if at := slices.Index(rows, strip.Row); at >= 0 {
				p.Add(sideRects(strip, top-1-float64(at), pixel))
			}
		}
		top -= float64(1 + len(rows))
	}
	return p, 40 + 28*len(names)
}

// sideRects makes boxes of spans; what the change touches is high, the rest is lower.
func sideRects(s *report.Strip, y float64, pixel int64) rects {
	c, _ := classOf(classes, s.Class)
	if s.Row == "host" {
		c, _ = classOf(hostClasses, s.Class)
	}
	list, half := rects{ink: c.ink, least: 0.5}, 0.28
	if s.Exposed {
		list.ink, list.least, half = changed, 1.5, 0.46
	}
	for i := 0; i < len(s.Spans); i++ {
		from, to := s.Spans[i][0], s.Spans[i][0]+s.Spans[i][1]
		for i+1 < len(s.Spans) && s.Spans[i+1][0]-to < pixel/2 {
			i++
			to = max(to, s.Spans[i][0]+s.Spans[i][1])
		}
		list.boxes = append(list.boxes, rect{units.MS(from), units.MS(to), y - half, y + half})
	}
	return list
}
