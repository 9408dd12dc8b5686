package analyze

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// timeText prints the parts of a time.
func timeText(t *report.Time) string {
	if t == nil {
		return "none"
	}
	var sum int64
	parts := []string{fmt.Sprintf("%s of %d, %d ns", t.Of, t.Count, t.Length)}
	for _, p := range t.Parts {
		sum += p.Mean
		text := fmt.Sprintf("%s %d %.2f", p.What, p.Mean, p.Share)
		for _, c := range p.Claims {
			text += fmt.Sprintf(" %s:%d", c.Rule, c.Mean)
		}
		parts = append(parts, text)
	}
	if sum != t.Length {
		parts = append(parts, fmt.Sprintf("but %d in all", sum))
	}
	return strings.Join(parts, ", ")
}

// others are kernels of other communication in the second of stepping's gaps: a broadcast
// from 800 to 850, sends from 820 to 870 and an unknown one from 860 to 890.
func others(n int) string {
	var b strings.Builder
	for i := range n {
		t := 1000 * i
		fmt.Fprintf(&b, `0/21 %d +50 kernel ncclDevKernel_Broadcast
0/22 %d +50 kernel ncclDevKernel_SendRecv
0/23 %d +30 kernel ncclDevKernel_Generic
`, t+800, t+820, t+860)
	}
	return b.String()
}

func TestTime(t *testing.T) {
	half := claimRule("XX001", 50)
	half.Needs = []Need{NeedDevice}
	kinds := Rule{ID: "XX002", Needs: half.Needs, Run: func(p *Pass) {
		p.Names(timeline.SendRecv)
		var cost Cost
		for _, r := range p.Ranks {
			for i := range r.Steps {
				got, _ := p.Claim(r, i, 0, timeline.OtherCommBucket, 20)
				cost.Add(r, i, got)
			}
		}
		p.ReportCost(&cost, func(int64, int64) report.Finding { return report.Finding{} })
	}}
	silent := Rule{ID: "XX003", Needs: []Need{NeedDevice, NeedSteps}, Run: func(p *Pass) {
		p.Claim(p.Ranks[0], 0, 0, timeline.IdleBucket, 20)
	}}
	for _, test := range []struct{ name, source, want string }{
		// The last window ends with its own reduce-scatter: 1000, 1000 and 700 ns.
		{"steps", stepping(3, 100),
			"step of 3, 900 ns, compute 600 0.67, idle 200 0.22, reduce_scatter 100 0.11 XX001:50"},
		{"kinds of other communication are told apart", stepping(2, 50) + others(1),
			"step of 2, 825 ns, compute 600 0.73, idle 130 0.16, reduce_scatter 50 0.06 XX001:50, " +
				"broadcast 25 0.03, send_recv 10 0.01 XX002:10, other 10 0.01"},
		{"no steps", "0/7 100 +50 kernel gemm\n0/9 120 +60 kernel ncclDevKernel_AllGather\n0/7 200 +20 kernel gemm",
			"recording of 1, 120 ns, compute 70 0.58, all_gather 30 0.25, idle 20 0.17"},
		{"two devices without steps", "0/7 100 +50 kernel gemm\n1/7 100 +20 kernel gemm\n1/7 160 +10 kernel gemm",
			"recording of 2, 60 ns, compute 40 0.67, idle 20 0.33"},
		{"no device", "1/1 10 +50 user_annotation Optimizer.step#A.step", "none"},
	} {
		r := Run([]Input{{File: "f", Trace: read(t, test.source)}}, Options{Rules: []Rule{half, kinds, silent}})
		if got := timeText(r.Time); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}
