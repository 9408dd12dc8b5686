package compare

import (
	"fmt"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// memory adds the memory of the last step of a report.
func (m made) memory(kind string, peak, held int64, passes int) made {
	s := &m.Steps[len(m.Steps)-1]
	m.Report.Memory = append(m.Report.Memory, report.Memory{Rank: s.Rank, Device: "0", Kind: kind, Step: &s.Index,
		Complete: s.Complete, PeakAllocated: peak, HeldAtPeak: &held, HeldAtPeakPasses: &passes})
	return m
}

func TestMemory(t *testing.T) {
	step := func() made { return reportOf(0).step("A", 1, "Adam") }
	relative := step().memory("cuda", 50, 20, 1)
	relative.Memory[0].Relative = true
	incomplete := step().memory("cuda", 50, 20, 1)
	incomplete.Memory[0].Complete = false
	for _, test := range []struct {
		name      string
		base, new made
		want      string
	}{
		{"not recorded", step(), step(), ""},
		{"by one side alone", step().memory("cuda", 100, 80, 4), step(), ""},
		{"one backward pass for four", step().memory("cuda", 100, 80, 4), step().memory("cuda", 40, 20, 1),
			"Adam 100 80/4 -> 40 20/1 -0.60 changed"},
		{"the same", step().memory("cuda", 100, 80, 4), step().memory("cuda", 100, 80, 4),
			"Adam 100 80/4 -> 100 80/4 +0.00"},
		{"the highest counts, and accelerators before hosts",
			step().memory("cpu", 900, 0, 0).memory("cuda", 70, 20, 1).memory("cuda", 100, 80, 4),
			step().memory("cuda", 40, 20, 1).memory("cpu", 800, 0, 0), "Adam 100 80/4 -> 40 20/1 -0.60 changed"},
		{"hosts", step().memory("cpu", 900, 0, 0).memory("cuda", 70, 20, 1), step().memory("cpu", 800, 0, 0),
			"Adam 900 0/0 -> 800 0/0 -0.11 changed"},
		{"amounts of two kinds have no ratio", step().memory("cuda", 50, 20, 1), relative,
			"Adam 50 20/1 -> 50 20/1 ? changed"},
		{"incomplete steps", step().memory("cuda", 50, 20, 1), incomplete, ""},
	} {
		got := ""
		d := between(test.base, test.new)
		for i := range d.Memory {
			m := &d.Memory[i]
			got += fmt.Sprintf("%s %d %d/%d -> %d %d/%d", m.Kind, m.Base.Peak, *m.Base.Held, *m.Base.HeldPasses,
				m.New.Peak, *m.New.Held, *m.New.HeldPasses)
			if m.Delta == nil {
				got += " ?"
			} else {
				got += fmt.Sprintf(" %+.2f", *m.Delta)
			}
			if m.Changed() {
				got += " changed"
			}
		}
		if got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
		if d.Changed() {
			t.Errorf("%s: memory is called a change of structure", test.name)
		}
	}
}
