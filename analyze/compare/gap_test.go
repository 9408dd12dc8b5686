package compare

import (
	"fmt"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// Every figure is a mean of what it says, and no kind is taken for another.
func TestGapOf(t *testing.T) {
	ns := func(v int64) *int64 { return &v }
	r := &report.Report{
		Steps: []report.Step{
			{Duration: ns(100), Ledger: &report.Ledger{Compute: 70, ReduceScatter: 20, AllGather: 10}},
			{Duration: ns(300), Ledger: &report.Ledger{Compute: 260, ReduceScatter: 40}},
			{Duration: nil, Ledger: nil},
		},
		GradientPasses: []report.GradientPass{
			{Kind: "scale", Launches: 4, Bytes: 100, Span: 9},
			{Kind: "clip", Launches: 90, Bytes: 9000, Span: 900},
			{Kind: "scale", Launches: 2, Bytes: 300, Span: 6},
		},
		Collectives: []report.Collectives{
			{
				Kind:  "reduce_scatter",
				Sites: []report.LaunchSite{{Site: "backward_hook", Count: 3}, {Site: "optimizer_step", Count: 1}},
			},
			{Kind: "all_gather", Sites: []report.LaunchSite{{Site: "backward_hook", Count: 50}}},
			{Kind: "reduce_scatter", Sites: []report.LaunchSite{{Site: "backward_hook", Count: 4}}},
		},
	}
	const want = "{{2 3 200 5} [{backward hook 7} {optimizer step 1}] {2 30 200 0.15}}"
	if got := fmt.Sprint(GapOf(r)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := fmt.Sprint(GapOf(&report.Report{Steps: []report.Step{{}}})); got != "{{0 0 0 0} [] {0 0 0 0}}" {
		t.Errorf("of nothing: %s", got)
	}
}
