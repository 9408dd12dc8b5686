package plots

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze/render/plots/plot"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// waits draws how long each rank waits inside collectives, and how long others wait for it.
func waits(r *report.Report) []Figure {
	var rows []report.RankWaits
	for _, w := range r.Ranks {
		if w.Wait != nil && w.WaitCaused != nil {
			rows = append(rows, w)
		}
	}
	if len(rows) < 2 {
		return nil
	}
	f := Figure{ID: "waits", Title: "Waiting inside collectives by rank, whole recording, ms", Text: waitsText(r, rows),
		Note: "A rank waits from its own start of a collective to the latest start of all ranks. " +
			"Others wait for the rank that comes last, by as much as it is later than the next to last.",
		keys: []key{{label: "waits for others", ink: wait}, {label: "others wait for it", ink: rs}}}
	f.make = func(width int) (*plot.Plot, int) { return waitsPlot(rows, width) }
	return []Figure{f}
}

func waitsPlot(rows []report.RankWaits, width int) (*plot.Plot, int) {
	p := newPlot("rank", "ms")
	own, caused := rects{ink: wait}, rects{ink: rs}
	names := make([]string, len(rows))
	highest := 0.0
	for i, w := range rows {
		x := float64(i)
		own.boxes = append(own.boxes, rect{x - 0.36, x, 0, units.MS(*w.Wait)})
		caused.boxes = append(caused.boxes, rect{x, x + 0.36, 0, units.MS(*w.WaitCaused)})
		highest = max(highest, units.MS(*w.Wait), units.MS(*w.WaitCaused))
		names[i] = fmt.Sprint(w.Rank)
	}
	named(&p.X, names, (width-50)/26)
	amounts(&p.Y, headroom(highest), 6)
	p.Add(lines{}, own, caused)
	return p, 240
}

func waitsText(r *report.Report, rows []report.RankWaits) string {
	most, least := rows[0], rows[0]
	for _, w := range rows {
		if *w.WaitCaused > *most.WaitCaused {
			most = w
		}
		if *w.Wait < *least.Wait {
			least = w
		}
	}
	text := fmt.Sprintf("Two bars for each of %d ranks. "+
		"Others wait longest for rank %d: %.2f ms; rank %d waits least: %.2f ms.",
		len(rows), most.Rank, units.MS(*most.WaitCaused), least.Rank, units.MS(*least.Wait))
	if r.Straggler == nil {
		text += " No rank is called a straggler."
	}
	return text
}
