package render

import (
	"fmt"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// Means over complete steps of a kind; nothing where kernels alone stand apart.
func TestIdleTable(t *testing.T) {
	step := func(complete bool, idle int64, causes report.IdleCauses) report.Step {
		duration := int64(10_000_000)
		return report.Step{Kind: "A", Complete: complete, Duration: &duration,
			Ledger: &report.Ledger{Idle: idle}, Idle: &causes}
	}
	r := &report.Report{Steps: []report.Step{
		step(true, 3_000_000, report.IdleCauses{DataLoading: 2_000_000, KernelGap: 1_000_000}),
		step(true, 1_000_000, report.IdleCauses{KernelGap: 1_000_000}),
		step(false, 9_000_000, report.IdleCauses{Unlinked: 9_000_000}),
	}}
	table := idleTable(r)
	got := fmt.Sprint(table.header, table.rows)
	if want := "[rank steps kind idle data loading kernel gap] [[0 2 A 2.000 1.000 1.000]]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	r.Steps = r.Steps[1:2]
	if table := idleTable(r); len(table.rows) > 0 {
		t.Errorf("%v where only kernels stand apart", table.rows)
	}
}
