package analyze

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/memory"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// memoryRows has the memory of each device in the steps that were asked for.
func memoryRows(list []*Rank) (rows []report.Memory) {
	for _, r := range list {
		for i := range r.Memory {
			d := &r.Memory[i]
			for k := range d.Peaks {
				if w := d.Peaks[k].Window; w < 0 || r.Selected(w) {
					rows = append(rows, memoryRow(r, d, &d.Peaks[k]))
				}
			}
		}
	}
	return rows
}

func memoryRow(r *Rank, d *memory.Device, p *memory.Peak) report.Memory {
	row := report.Memory{Rank: r.ID, Device: d.Name, Kind: d.Kind, PeakAllocated: p.Allocated, Phase: string(p.Phase),
		At: p.At, Start: p.Start, Relative: d.Relative}
	if d.Reserves {
		row.PeakReserved = &p.Reserved
	}
	if p.Window < 0 {
		return row
	}
	s := &r.Steps[p.Window]
	row.Step, row.StepKind, row.Complete = &s.Index, s.Kind, s.Complete
	if d.Places && len(s.Backwards) > 0 {
		row.Held, row.HeldPasses = &p.Most.Bytes, &p.Most.Forwards
		row.HeldAtPeak, row.HeldAtPeakPasses = &p.AtPeak.Bytes, &p.AtPeak.Forwards
	}
	return row
}

// memorySeries draws the memory of a rank over the step that its timeline shows, or, where
// no step has a device window, over the one that it would show.
func memorySeries(x *timeline.Rank, r *facts.Rank, asked func(n int) (from, to int)) []report.MemorySeries {
	step := representative(r, asked, hasWindow)
	if step == nil {
		step = representative(r, asked, func(*facts.Step) bool { return true })
	}
	if step == nil {
		return nil
	}
	w := r.MemoryWindows()[step.Index]
	accelerators := slices.ContainsFunc(r.Memory, func(d memory.Device) bool { return !d.Host() })
	var list []report.MemorySeries
	for i, drawn := range memory.Draw(x, &w) {
		if d := &r.Memory[i]; !accelerators || !d.Host() {
			one := seriesOf(&drawn, &w)
			one.Device, one.Kind, one.Step, one.Relative = d.Name, d.Kind, step.Index, d.Relative
			list = append(list, one)
		}
	}
	return list
}

func seriesOf(s *memory.Series, w *memory.Window) report.MemorySeries {
	one := report.MemorySeries{Start: w.Start, Duration: w.End - w.Start, Allocated: s.Allocated,
		Reserved: s.Reserved, Held: s.Held}
	for _, at := range s.At {
		one.At = append(one.At, at-w.Start)
	}
	for _, span := range s.Phases {
		i := slices.IndexFunc(one.Phases, func(p report.Strip) bool { return p.Class == string(span.Phase) })
		if i < 0 {
			i = len(one.Phases)
			one.Phases = append(one.Phases, report.Strip{Row: "phase", Class: string(span.Phase)})
		}
		one.Phases[i].Spans = append(one.Phases[i].Spans, [2]int64{span.Start - w.Start, span.End - span.Start})
	}
	return one
}

// mostSeries bounds the series of a drawing, over all ranks: what matters are the highest.
const mostSeries = 4

// memoryDrawn are the series of the ranks that were asked for, highest peak first.
func memoryDrawn(list []*Rank) (series []report.MemorySeries, leftOut int) {
	series = []report.MemorySeries{}
	for _, r := range list {
		for _, one := range r.reduced.Memory {
			one.Rank, one.Phases = r.ID, notNil(one.Phases)
			one.Reserved, one.Held = notNil(one.Reserved), notNil(one.Held)
			series = append(series, one)
		}
	}
	slices.SortStableFunc(series, func(a, b report.MemorySeries) int {
		return cmp.Compare(slices.Max(b.Allocated), slices.Max(a.Allocated))
	})
	leftOut = max(0, len(series)-mostSeries)
	return series[:len(series)-leftOut], leftOut
}
