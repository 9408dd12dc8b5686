package analyze

import (
	"github.com/gaprof/gaprof/analyze/memory"
	"github.com/gaprof/gaprof/analyze/report"
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
