package whatif

import (
	"math"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/trace/graph"
)

// findSteps lists the complete steps of all ranks.
func (w *World) findSteps() {
	kinds := make(map[string]int)
	for rank, r := range w.Ranks {
		for i := range r.Facts.Steps {
			s := &r.Facts.Steps[i]
			if !s.Complete {
				continue
			}
			for _, win := range s.Windows {
				key := strings.Join(s.Optimizers, "\x00")
				if len(w.Ranks) == 1 {
					key = s.Kind
				}
				k, seen := kinds[key]
				if !seen {
					k = len(w.Kinds)
					kinds[key] = k
					w.Kinds = append(w.Kinds, Kind{Name: string(rune('A' + k%26)), Optimizers: s.Optimizers})
				}
				w.steps = append(w.steps, step{rank, i, win.Device, k})
			}
		}
	}
	for i, d := range w.durations(w.Seen) {
		k := &w.Kinds[w.steps[i].kind]
		k.Duration = (k.Duration*int64(k.Steps) + d) / int64(k.Steps+1)
		k.Steps++
	}
}

// extent is when the ops of one step of a rank run on a device.
type extent struct{ start, end int64 }

// durations are how long the complete steps take on their devices at some times: from the first
// start of an op of the step to that of the next, for the last step to its last end.
func (w *World) durations(t *graph.Times) []int64 {
	return w.each(t, func(of []extent, index int) int64 {
		for _, next := range of[index+1:] {
			if next.start != math.MaxInt64 {
				return max(0, next.start-of[index].start)
			}
		}
		return max(0, of[index].end-of[index].start)
	})
}

// periods are by how much later the last op of each complete step ends than that of the step before
// on its device; of a step that nothing precedes, than its own first op starts.
func (w *World) periods(t *graph.Times) []int64 {
	return w.each(t, func(of []extent, index int) int64 {
		for last := index - 1; last >= 0; last-- {
			if of[last].start != math.MaxInt64 {
				return of[index].end - of[last].end
			}
		}
		return of[index].end - of[index].start
	})
}

// each measures every complete step at some times, by the extents of all steps on its device.
func (w *World) each(t *graph.Times, measure func(of []extent, index int) int64) []int64 {
	list := make([]int64, len(w.steps))
	var of [][]extent // by device, of the rank at hand
	rank := -1
	for i, s := range w.steps {
		if s.rank != rank {
			rank, of = s.rank, w.extents(s.rank, t)
		}
		list[i] = measure(of[s.device], s.index)
	}
	return list
}

// extents are those of all steps of a rank, by device. A step without ops there starts never.
func (w *World) extents(rank int, t *graph.Times) [][]extent {
	r := w.Ranks[rank]
	of := make([][]extent, len(r.Facts.Devices))
	for d := range of {
		of[d] = make([]extent, len(r.Facts.Steps))
		for i := range of[d] {
			of[d][i] = extent{math.MaxInt64, math.MinInt64}
		}
	}
	r.ops(func(op graph.Node) {
		if s := r.Step[op]; s >= 0 {
			e := &of[r.Device[op]][s]
			n := w.nodes[rank] + op
			e.start, e.end = min(e.start, t.Start[n]), max(e.end, t.End[n])
		}
	})
	return of
}

// median is the median over steps of a kind.
func (w *World) median(list []int64, kind int) int64 {
	var of []int64
	for i, ns := range list {
		if w.steps[i].kind == kind {
			of = append(of, ns)
		}
	}
	if len(of) == 0 {
		return 0
	}
	return median(of)
}

// mean is the mean over steps of a kind, -1 for all.
func (w *World) mean(list []int64, kind int) int64 {
	var sum bounded.Sum
	for i, ns := range list {
		if kind < 0 || w.steps[i].kind == kind {
			sum.Add(ns)
		}
	}
	return sum.Mean()
}

// median is the middle value, the mean of two; values are sorted by it.
func median(values []int64) int64 {
	slices.Sort(values)
	n := len(values)
	return bounded.Middle(values[(n-1)/2], values[n/2])
}
