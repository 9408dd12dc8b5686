package plots

import (
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// Groups of less than a byte a collective, and groups of nothing, are drawn or left out.
func TestOverlapOfTinyGroups(t *testing.T) {
	bytes := int64(1)
	r := &report.Report{Groups: []report.CollectiveGroup{
		{Kind: "all_reduce", Count: 3, Bytes: &bytes, Busy: 10, Over: 5},
		{Kind: "all_reduce", Count: 0, Bytes: &bytes, Busy: 10},
	}}
	figures := Of(r, Overlap)
	if len(figures) != 1 {
		t.Fatalf("%d figures", len(figures))
	}
	if svg := figures[0].File(600); !strings.Contains(svg, "<svg") {
		t.Error(svg)
	}
}
