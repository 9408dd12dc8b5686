package gate

import "github.com/gaprof/gaprof/analyze/report"

const (
	missMemory = "device memory was not recorded, or only without totals: record with profile_memory=True"
	missHeld   = missMemory + " (PyTorch 1.13 or later, for addresses)"
)

// memoryOf is a metric of the memory of an accelerator in a step. Nothing is judged of host
// memory and of recordings without totals, of which only the least is known that it can be.
func memoryOf(name, field, definition, next, missing string, of func(*report.Memory) *int64) Metric {
	return Metric{
		Name:       name,
		Unit:       Bytes,
		Path:       "memory[]." + field,
		Definition: definition,
		Next:       next,
		Missing:    missing,
		touched:    hostEvents | otherRanks,
		all: func(v *view) []sample {
			var list []sample
			for i := range v.report.Memory {
				m := &v.report.Memory[i]
				if bytes := of(m); bytes != nil && m.Kind != "cpu" && !m.Relative && judges(v, m) {
					list = append(list, sampleOf(m, *bytes))
				}
			}
			return list
		},
	}
}

// judges reports whether the step of a row of memory is one of those selected, and complete.
// A recording without steps is judged as a whole.
func judges(v *view, m *report.Memory) bool {
	return m.Step == nil || v.complete[place{m.Rank, *m.Step}]
}

func sampleOf(m *report.Memory, bytes int64) sample {
	s := sample{float64(bytes), m.Rank, -1}
	if m.Step != nil {
		s.step = int64(*m.Step)
	}
	return s
}
