package analyze

import (
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/idle"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// stepRows has the steps that were asked for: by rank, step and device.
func stepRows(list []*Rank) (rows []report.Step) {
	for _, r := range list {
		for i := range r.Steps {
			if r.Selected(i) {
				rows = append(rows, stepRowsOf(r, &r.Steps[i])...)
			}
		}
	}
	return rows
}

// stepRowsOf is one row per device, or one without device figures.
func stepRowsOf(r *Rank, s *facts.Step) []report.Step {
	row := report.Step{Rank: r.ID, Index: s.Index, Kind: s.Kind, Complete: s.Complete, Optimizers: []report.Optimizer{},
		LinkedEvents: s.LinkedEvents, HostStart: s.HostStart, HostDuration: s.HostDuration()}
	inBackward := r.InBackward(s.Index)
	for _, o := range s.PerOptimizer {
		row.Optimizers = append(row.Optimizers, report.Optimizer{
			Name:         o.Name,
			Accumulation: known(o.Accumulation),
			InBackward:   inBackward[o.Name],
		})
	}
	row.MicroBatches = known(s.MicroBatches)
	if len(s.Windows) == 0 {
		return []report.Step{row}
	}
	var rows []report.Step
	for i, w := range s.Windows {
		one := row
		duration := w.End - w.Start
		one.Device, one.Start, one.Duration = r.Devices[w.Device].PID, &w.Start, &duration
		one.Ledger = ledgerRow(w.Ledger)
		of := &s.Idle[i]
		one.Idle = idleRow(of)
		one.LaunchBound, one.LaunchGaps, one.HostStall = &of.LaunchBound, &of.LaunchGaps, &of.HostStall
		rows = append(rows, one)
	}
	return rows
}

func ledgerRow(l timeline.Ledger) *report.Ledger {
	return &report.Ledger{
		Compute:       l[timeline.ComputeBucket],
		Memory:        l[timeline.MemoryBucket],
		ReduceScatter: l[timeline.ReduceScatterBucket],
		AllGather:     l[timeline.AllGatherBucket],
		AllReduce:     l[timeline.AllReduceBucket],
		OtherComm:     l[timeline.OtherCommBucket],
		Idle:          l[timeline.IdleBucket],
	}
}

func idleRow(w *idle.Window) *report.IdleCauses {
	ns := &w.Causes
	return &report.IdleCauses{
		DataLoading:      ns[idle.DataLoading],
		Synchronization:  ns[idle.Synchronization],
		MemoryManagement: ns[idle.MemoryManagement],
		Compilation:      ns[idle.Compilation],
		Optimizer:        ns[idle.Optimizer],
		HostOperators:    ns[idle.HostOperators],
		NoOperator:       ns[idle.NoOperator],
		LaunchLatency:    ns[idle.LaunchLatency],
		KernelGap:        ns[idle.KernelGap],
		Profiler:         ns[idle.Profiler],
		QueuedWait:       ns[idle.QueuedWait],
		Unlinked:         ns[idle.Unlinked],
	}
}

// accumulationSteps is the number that all optimizers of all steps have, or nil.
func accumulationSteps(list []*Rank) *int {
	common := facts.Unknown
	for _, r := range list {
		for i := range r.Steps {
			for _, o := range r.Steps[i].PerOptimizer {
				switch {
				case o.Accumulation == facts.Unknown || o.Accumulation == common:
				case common == facts.Unknown:
					common = o.Accumulation
				default:
					return nil
				}
			}
		}
	}
	return known(common)
}

// known is n, or nil where it is unknown.
func known(n int) *int {
	if n == facts.Unknown {
		return nil
	}
	return &n
}
