package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// Findings over different kinds of steps cannot be added up: every line of theirs names the
// kinds, in all formats for people.
func TestKindsOfFindings(t *testing.T) {
	cost, share := int64(830_000), 0.014
	step := func(kind string, optimizers ...string) report.Step {
		s := report.Step{Kind: kind}
		for _, name := range optimizers {
			s.Optimizers = append(s.Optimizers, report.Optimizer{Name: name})
		}
		return s
	}
	finding := func(message string, kinds ...string) report.Finding {
		return report.Finding{Rule: "OV001", Severity: report.Warn, Message: message, Cost: &cost, Share: &share,
			Kinds: kinds}
	}
	two := []report.Step{step("A", "NorMuon"), step("B", "DistAdam", "NorMuon"), step("A", "NorMuon")}
	for _, test := range []struct {
		name     string
		steps    []report.Step
		findings []report.Finding
		want     []string // messages
	}{
		{"of all kinds", two, []report.Finding{finding("m", "A", "B")}, []string{"m"}},
		{"of one kind", two, []report.Finding{finding("m", "B")},
			[]string{"m in steps of kind B (DistAdam + NorMuon)"}},
		{"of different kinds", two, []report.Finding{finding("m", "A", "B"), finding("n", "A")},
			[]string{"m in steps of all kinds", "n in steps of kind A (NorMuon)"}},
		{"without a cost", two,
			[]report.Finding{{Rule: "TH004", Severity: report.Warn, Message: "m"}, finding("n", "B")},
			[]string{"m", "n in steps of kind B (DistAdam + NorMuon)"}},
		{"some of many", append(two, step("C", "SGD")), []report.Finding{finding("m", "A", "C")},
			[]string{"m in steps of kinds A, C"}},
		{"the same optimizers", []report.Step{step("A", "Adam"), step("B", "Adam")},
			[]report.Finding{finding("m", "B")}, []string{"m in steps of kind B"}},
		{"one kind", []report.Step{step("A", "Adam")}, []report.Finding{finding("m", "A")}, []string{"m"}},
	} {
		r := &report.Report{Steps: test.steps, Findings: test.findings}
		for i, f := range withKinds(r).Findings {
			if f.Message != test.want[i] {
				t.Errorf("%s: %q, want %q", test.name, f.Message, test.want[i])
			}
		}
	}
	r := &report.Report{Steps: two, Findings: []report.Finding{finding("exposed", "A")}}
	for _, name := range []string{"text", "md", "html", "github"} {
		f, err := Reports.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		err = f.Write(&b, r, Options{})
		if err != nil || !strings.Contains(b.String(), "in steps of kind A (NorMuon)") {
			t.Errorf("%s: %v\n%s", name, err, b.String())
		}
	}
	if r.Findings[0].Message != "exposed" {
		t.Error("the report itself was changed")
	}
}
