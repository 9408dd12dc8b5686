package plots

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/render/plots/plot"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// bar is one stacked bar of the ledger: a step, or the mean of several.
type bar struct {
	rank  int64
	kind  string
	index int
	steps int64
	ns    [7]int64 // sums, by class
}

func (b *bar) add(l *report.Ledger) {
	for i, ns := range []int64{l.Compute, l.Memory, l.ReduceScatter, l.AllGather, l.AllReduce, l.OtherComm, l.Idle} {
		b.ns[i] += ns
	}
	b.steps++
}

// ledger is where the device time of each step goes, as stacked bars.
func ledger(r *report.Report) []Figure {
	all := joined(r, func(i int, s *report.Step) any { return i })
	if len(all) == 0 {
		return nil
	}
	var used []int
	for i := range classes {
		for _, b := range all {
			if b.ns[i] > 0 {
				used = append(used, i)
				break
			}
		}
	}
	f := Figure{ID: "ledger", Title: "Where the device time of each step goes, ms",
		Text: ledgerText(all, used),
		Note: "Communication is only what neither compute nor copies cover; a bar sums to its step."}
	for _, i := range used {
		f.keys = append(f.keys, key{label: exposedLabel(i), ink: classes[i].ink})
	}
	f.make = func(width int) (*plot.Plot, int) { return ledgerPlot(r, used, width) }
	if width := Wide / leastBar; len(all) > width {
		f.Note += fmt.Sprintf(" %d steps are more than fit: a bar is the mean of several.", len(all))
	}
	return []Figure{f}
}

func exposedLabel(i int) string {
	if i >= 2 && i <= 5 {
		return "exposed " + classes[i].label
	}
	return classes[i].label
}

// joined makes bars of the steps with a ledger, one for each key.
func joined(r *report.Report, keyOf func(i int, s *report.Step) any) []bar {
	var bars []bar
	at := make(map[any]int)
	n := 0
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Ledger == nil {
			continue
		}
		k := keyOf(n, s)
		n++
		j, ok := at[k]
		if !ok {
			j = len(bars)
			at[k] = j
			bars = append(bars, bar{rank: s.Rank, kind: s.Kind, index: s.Index})
		}
		bars[j].add(s.Ledger)
	}
	return bars
}

// leastBar is the least width of a bar in pixels, gap included.
const leastBar = 4

// fitting returns the steps one by one as long as they fit, then means by rank and kind, by
// rank, and of neighbours.
func fitting(r *report.Report, most int) []bar {
	type rankKind struct {
		rank int64
		kind string
	}
	bars := joined(r, func(i int, _ *report.Step) any { return i })
	all := len(bars)
	if len(bars) > most && len(r.Source.Ranks) > 1 {
		bars = joined(r, func(_ int, s *report.Step) any { return rankKind{s.Rank, s.Kind} })
	}
	if len(bars) > most && len(r.Source.Ranks) > 1 {
		bars = joined(r, func(_ int, s *report.Step) any { return s.Rank })
	}
	if len(bars) > most {
		part := (all + most - 1) / most
		bars = joined(r, func(i int, _ *report.Step) any { return i / part })
	}
	return bars
}

func ledgerPlot(r *report.Report, used []int, width int) (*plot.Plot, int) {
	const left = 50
	several, room := len(r.Source.Ranks) > 1, (width-left)/leastBar
	gaps := several && len(r.Source.Ranks) <= room/3
	if gaps {
		room -= len(r.Source.Ranks)
	}
	bars := fitting(r, room)
	p := newPlot(barAxis(several), "ms")
	places, slots := barPlaces(bars, gaps)
	half := min(0.42, widestBar/2*float64(slots)/float64(width-left))
	if slots > 60 {
		half = 0.5
	}
	highest := 0.0
	below := make([]float64, len(bars))
	for _, i := range used {
		list := rects{ink: classes[i].ink}
		for j, b := range bars {
			ms := units.MS(b.ns[i]) / float64(b.steps)
			if ms > 0 {
				list.boxes = append(list.boxes, rect{places[j] - half, places[j] + half, below[j], below[j] + ms})
			}
			below[j] += ms
			highest = max(highest, below[j])
		}
		p.Add(list)
	}
	named(&p.X, barNames(bars, places, slots, several), (width-left)/36)
	amounts(&p.Y, headroom(highest), 6)
	return p, 280
}

// widestBar is the greatest width of a bar, in pixels.
const widestBar = 110

// barPlaces places bars side by side, with gaps between ranks where there is room.
func barPlaces(bars []bar, gaps bool) (places []float64, slots int) {
	for i, b := range bars {
		if i > 0 && gaps && b.rank != bars[i-1].rank {
			slots++
		}
		places = append(places, float64(slots))
		slots++
	}
	return places, slots
}

// barAxis says what the names under the bars are.
func barAxis(several bool) string {
	if several {
		return "rank (its steps beside each other)"
	}
	return "step"
}

// barNames puts the rank under the middle of its bars, or the step under each.
func barNames(bars []bar, places []float64, slots int, several bool) []string {
	names := make([]string, slots)
	kinds := slices.ContainsFunc(bars, func(b bar) bool { return b.kind != bars[0].kind })
	if !several {
		for i, b := range bars {
			names[i] = fmt.Sprint(b.index)
			if len(bars) <= 12 && kinds {
				names[i] += " (" + short(b.kind, 3) + ")"
			}
		}
		return names
	}
	for i := 0; i < len(bars); {
		j := i
		for j < len(bars) && bars[j].rank == bars[i].rank {
			j++
		}
		names[int(places[i]+places[j-1])/2] = fmt.Sprint(bars[i].rank)
		i = j
	}
	return names
}

// ledgerText gives the means in words.
func ledgerText(bars []bar, used []int) string {
	var sum [7]int64
	steps, total := int64(0), int64(0)
	for _, b := range bars {
		for i, ns := range b.ns {
			sum[i] += ns
			total += ns
		}
		steps += b.steps
	}
	if total == 0 {
		return "The steps take no device time."
	}
	parts := make([]string, len(used))
	for k, i := range used {
		parts[k] = fmt.Sprintf("%s %.2f ms (%.1f %%)", exposedLabel(i), units.MS(sum[i]/steps),
			100*float64(sum[i])/float64(total))
	}
	return fmt.Sprintf("Stacked bars of %s. Mean per step: %s.", units.Count(steps, "step"), strings.Join(parts, ", "))
}
