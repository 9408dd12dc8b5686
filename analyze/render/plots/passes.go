package plots

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/render/plots/plot"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// passBar is the passes over the gradients of one sort at one place, as means.
type passBar struct {
	name              string
	n                 int64
	busy, span, floor int64 // sums; floor of those that have one
	verdict           report.Verdict
	onDevice          bool
}

// mostPasses is how many sorts of passes are drawn.
const mostPasses = 10

// passes draws how long the passes over the gradients take, and the least that they could take.
func passes(r *report.Report) []Figure {
	bars := passBars(r)
	if len(bars) == 0 {
		return nil
	}
	f := Figure{ID: "passes", Title: "Passes over the gradients, mean of each, ms", Text: passesText(bars),
		Note: "Span: from the first start to the last end, gaps between launches included. " +
			"Floor: the bytes over the peak bandwidth of the memory, where that is known."}
	if len(bars) > mostPasses {
		f.Note += fmt.Sprintf(" The longest %d of %d are shown.", mostPasses, len(bars))
		bars = bars[:mostPasses]
	}
	f.keys = []key{{label: "busy", ink: wait}, {label: "rest of the span", ink: idle}}
	if slices.ContainsFunc(bars, func(b passBar) bool { return b.floor > 0 }) {
		f.keys = append(f.keys, key{label: "floor", ink: text})
	}
	f.make = func(width int) (*plot.Plot, int) { return passesPlot(bars, width) }
	return []Figure{f}
}

func passBars(r *report.Report) []passBar {
	type passKey struct {
		kind, where string
		verdict     report.Verdict
	}
	var bars []passBar
	at := make(map[passKey]int)
	for i := range r.GradientPasses {
		g := &r.GradientPasses[i]
		k := passKey{g.Kind, g.Where, g.Verdict}
		j, ok := at[k]
		if !ok {
			j = len(bars)
			at[k] = j
			bars = append(bars, passBar{
				name:     short(g.Kind+" "+strings.ReplaceAll(g.Where, "_", " "), 40),
				verdict:  g.Verdict,
				onDevice: g.OnDevice,
			})
		}
		b := &bars[j]
		b.n, b.busy, b.span = b.n+1, b.busy+g.Busy, b.span+g.Span
		if g.Floor != nil {
			b.floor += *g.Floor
		}
	}
	slices.SortStableFunc(bars, func(x, y passBar) int { return cmp.Compare(y.span/y.n, x.span/x.n) })
	return bars
}

func passesPlot(bars []passBar, width int) (*plot.Plot, int) {
	p := newPlot("ms", "")
	busy, rest, floor := rects{ink: wait, least: 1}, rects{ink: idle}, rects{ink: text, least: 2}
	names := make([]string, len(bars))
	highest := 0.0
	for i, b := range bars {
		at := len(bars) - 1 - i
		names[at] = b.name
		if width < Wide/2 {
			names[at] = short(b.name, 18)
		}
		y, n := float64(at), float64(b.n)
		busy.boxes = append(busy.boxes, rect{0, units.MS(b.busy) / n, y - 0.3, y + 0.3})
		rest.boxes = append(rest.boxes, rect{0, units.MS(b.span) / n, y - 0.3, y + 0.3})
		if b.floor > 0 {
			floor.boxes = append(floor.boxes, rect{units.MS(b.floor) / n, units.MS(b.floor) / n, y - 0.42, y + 0.42})
		}
		highest = max(highest, units.MS(b.span)/n, units.MS(b.busy)/n)
	}
	named(&p.Y, names, len(names))
	amounts(&p.X, headroom(highest), max(2, width/140))
	p.Add(lines{vertical: true}, rest, busy, floor)
	return p, 60 + 26*len(bars)
}

func passesText(bars []passBar) string {
	parts := make([]string, 0, mostPasses)
	for _, b := range bars[:min(mostPasses, len(bars))] {
		where := ""
		if !b.onDevice {
			where = " on the host"
		}
		parts = append(parts, fmt.Sprintf("%s, %s: %s, span %.3f ms, busy %.3f ms%s",
			b.name, short(string(b.verdict), 20), units.Count(b.n, "time"),
			units.MS(b.span/b.n), units.MS(b.busy/b.n), where))
	}
	return "A bar for each sort of pass. " + strings.Join(parts, "; ") + "."
}
