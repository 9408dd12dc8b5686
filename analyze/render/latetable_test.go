package render

import (
	"fmt"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// The parts of a late rank are columns, and those of the rank that it waits for the same.
func TestLateTable(t *testing.T) {
	if table := lateTable(&report.Report{Findings: []report.Finding{{Rule: "OV001"}}}); len(table.rows) > 0 {
		t.Errorf("%v without a late rank", table.rows)
	}
	late := report.Lateness{
		LateRank: report.LateRank{Rank: 2, Late: 3_000_000, Unexplained: 100_000,
			Parts:    []report.LatePart{{Cause: "other_rank", NS: 2_900_300}, {Cause: "other_idle", NS: -300}},
			Evidence: []report.Evidence{{Name: "a"}}},
		Chain: []report.LateRank{{Rank: 1, Late: 2_000_000, Evidence: []report.Evidence{{Name: "b"}},
			Parts: []report.LatePart{{Cause: "data_loading", NS: 2_000_000}}}},
	}
	r := &report.Report{Findings: []report.Finding{{Lateness: &late, Evidence: []report.Evidence{{Name: "c"}}}}}
	table := lateTable(r)
	got := fmt.Sprint(table.header, table.rows)
	const want = "[rank late other rank data loading other] [[2 3.000 2.900 0.000 0.100] [1 2.000 0.000 2.000 0.000]]"
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	names := ""
	for _, e := range evidenceOf(&r.Findings[0]) {
		names += e.Name
	}
	if names != "abc" {
		t.Errorf("evidence %s", names)
	}
}
