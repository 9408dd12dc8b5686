package plots

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze/render/plots/plot"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/internal/units"
)

// tokens draws how many tokens each rank has in one step, against the mean of all: where
// ranks differ, a mean by rank weighs their tokens differently.
func tokens(r *report.Report) []Figure {
	n := &r.Normalization
	if len(n.Tokens) == 0 {
		return nil
	}
	sums := make([]int64, len(n.Tokens))
	var all int64
	for i, counts := range n.Tokens {
		for _, c := range counts {
			sums[i] = bounded.Add(sums[i], c)
			all = bounded.Add(all, c)
		}
	}
	mean := float64(all) / float64(len(sums))
	f := Figure{ID: "tokens", Title: "Tokens of each rank in one step", Text: tokensText(sums, mean),
		Note: "All micro-batches of the step together. " +
			"Divided by its own count, a rank's token weighs the mean over the rank's count times what is right.",
		keys: []key{{label: "tokens", ink: wait}, {label: "mean of all ranks", ink: text}}}
	if n.Step != nil {
		f.Title = fmt.Sprintf("Tokens of each rank in step %d", *n.Step)
	}
	f.make = func(width int) (*plot.Plot, int) { return tokensPlot(r, sums, mean, width) }
	return []Figure{f}
}

func tokensPlot(r *report.Report, sums []int64, mean float64, width int) (*plot.Plot, int) {
	p := newPlot("rank", "tokens")
	bars := rects{ink: wait}
	names := make([]string, len(sums))
	highest := mean
	half := min(0.4, widestBar/2*float64(len(sums))/float64(width-60))
	for i, n := range sums {
		bars.boxes = append(bars.boxes, rect{float64(i) - half, float64(i) + half, 0, float64(n)})
		highest = max(highest, float64(n))
		names[i] = "?"
		if i < len(r.Source.Ranks) {
			names[i] = fmt.Sprint(r.Source.Ranks[i])
		}
	}
	named(&p.X, names, (width-60)/26)
	amounts(&p.Y, headroom(highest), 5)
	thick := highest / 200
	line := rect{-0.5, float64(len(sums)) - 0.5, mean - thick/2, mean + thick/2}
	p.Add(lines{}, bars, rects{ink: text, boxes: []rect{line}})
	return p, 220
}

func tokensText(sums []int64, mean float64) string {
	low, high := sums[0], sums[0]
	for _, n := range sums {
		low, high = min(low, n), max(high, n)
	}
	return fmt.Sprintf("A bar for each of %s: from %d to %d tokens, %.1f in the mean.",
		units.Count(len(sums), "rank"), low, high, mean)
}
