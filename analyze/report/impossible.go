package report

import (
	"fmt"
	"slices"

	"github.com/gaprof/gaprof/internal/bounded"
)

// mostStep is what no step lasts, in ns: a day.
const mostStep = 24 * 3600 * 1_000_000_000

// impossible names a figure of a step that no run has, in a report that something else than
// gaprof wrote or changed; empty where there is none.
func (r *Report) impossible() string {
	for i := range r.Steps {
		s := &r.Steps[i]
		switch {
		case s.HostDuration < 0 || s.HostDuration > mostStep:
			return fmt.Sprintf("steps[%d].host_duration_ns is %d", i, s.HostDuration)
		case s.Duration != nil && (*s.Duration < 0 || *s.Duration > mostStep):
			return fmt.Sprintf("steps[%d].duration_ns is %d", i, *s.Duration)
		case s.LinkedEvents < 0:
			return fmt.Sprintf("steps[%d].linked_device_events is %d", i, s.LinkedEvents)
		case s.Ledger != nil && slices.Min(s.Ledger.parts()) < 0:
			return fmt.Sprintf("steps[%d].ledger_ns has a negative part", i)
		case s.Ledger != nil && s.Ledger.sum() != *s.Duration:
			return fmt.Sprintf("steps[%d].ledger_ns sums to %d, and duration_ns is %d", i, s.Ledger.sum(), *s.Duration)
		}
	}
	return ""
}

func (l *Ledger) parts() []int64 {
	return []int64{l.Compute, l.Memory, l.ReduceScatter, l.AllGather, l.AllReduce, l.OtherComm, l.Idle}
}

// sum adds up a ledger without negative parts.
func (l *Ledger) sum() (total int64) {
	for _, ns := range l.parts() {
		total = bounded.Add(total, ns)
	}
	return total
}
