package analyze

import (
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/steps"
)

// Near a bound, what the host costs is said to be about that.
func TestSeverityOfHostTime(t *testing.T) {
	for _, test := range []struct {
		how       string // host: its own time; waits: a device waits for it; device: time of a device
		ns        int64  // of steps of 100,000 ns
		want      report.Severity
		about     string // in a caveat
		noFinding bool
	}{
		{"host", 90, "", "", true},
		{"host", 1_000, report.Warn, "about 1 %", false},
		{"host", 7_900, report.Warn, "", false},
		{"host", 8_100, report.Warn, "about 10 %", false},
		{"host", 12_400, report.Error, "about 10 %", false},
		{"host", 60_000, report.Error, "", false},
		{"waits", 700, report.Note, "", false},
		{"waits", 900, report.Note, "about 1 %", false},
		{"waits", 1_200, report.Warn, "about 1 %", false},
		{"waits", 1_300, report.Warn, "", false},
		{"waits", 9_900, report.Warn, "about 10 %", false},
		{"waits", 11_000, report.Error, "about 10 %", false},
		{"device", 1_000, report.Warn, "", false},
		{"device", 10_000, report.Error, "", false},
	} {
		r := &Rank{Rank: &facts.Rank{}, to: 1}
		r.Steps = []facts.Step{{Step: steps.Step{Kind: "A", Complete: true, HostEnd: 100_000}}}
		p := &Pass{Ranks: []*Rank{r}, rule: &Rule{ID: "X"}}
		cost := &Cost{}
		describe := func(int64, int64) report.Finding { return report.Finding{} }
		switch test.how {
		case "host":
			cost.AddHost(r, 0, test.ns)
			p.ReportCost(cost, describe)
		case "waits":
			cost.Add(r, 0, test.ns)
			p.ReportHost(cost, describe)
		default:
			cost.Add(r, 0, test.ns)
			p.ReportCost(cost, describe)
		}
		if test.noFinding {
			if len(p.out) > 0 {
				t.Errorf("%s %d: %+v", test.how, test.ns, p.out)
			}
			continue
		}
		if len(p.out) != 1 {
			t.Fatalf("%s %d: %d findings", test.how, test.ns, len(p.out))
		}
		f := p.out[0]
		said := strings.Join(f.Caveats, "; ")
		if f.Severity != test.want || !strings.HasPrefix(said, test.about) || (said == "") != (test.about == "") {
			t.Errorf("%s %d: %s, %q", test.how, test.ns, f.Severity, said)
		}
	}
}
