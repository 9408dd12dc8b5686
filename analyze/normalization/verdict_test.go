package normalization

import (
	"strings"
	"testing"
)

// The verdict is the worst that is known, and no more than is known.
func TestConclude(t *testing.T) {
	one := 1.0
	known := StepReport{Weights: &Weights{Min: &one, Max: &one}, Basis: ByTrace, Evidence: "by the trace"}
	declared, unknown := known, StepReport{Basis: ByNothing, Evidence: "nothing tells: pass {normalization}"}
	declared.Basis, declared.Evidence = ByWord, "as declared"
	differ := GradientReport{
		Against: "runs/right/rank0.safetensors",
		Verdict: &Verdict{Cause: &Cause{Mode: Global, Factor: "1/R", Text: "half of them"}},
	}
	equal := GradientReport{Verdict: &Verdict{Cause: &Cause{Mode: Global, Factor: "1"}}}
	unjudged := GradientReport{Verdict: &Verdict{}}
	finding := Judgement{Rule: "NM001", Severity: "error", Message: "tokens count wrongly"}
	for _, test := range []struct {
		name string
		r    Report
		want string
	}{
		{
			"a finding goes before all",
			Report{
				Findings:  []Judgement{finding, {Rule: "NM002"}},
				Gradients: []GradientReport{differ},
				Steps:     []StepReport{known},
			},
			"NM001 error tokens count wrongly",
		},
		{"gradients differ", Report{Gradients: []GradientReport{unjudged, equal, differ}, Steps: []StepReport{known}},
			"note gradients differ from those in right: half of them"},
		{"gradients are equal", Report{Gradients: []GradientReport{equal}},
			"every token counts equally, as it should: gradients equal those of the reference"},
		{"all steps are known", Report{Steps: []StepReport{known, known}},
			"every token counts equally, as it should: by the trace"},
		{"one of three steps is known", Report{Steps: []StepReport{unknown, known, declared}},
			"every token counts equally, as it should, in 1 of 3 steps; for the others it is not known: by the trace"},
		{
			"a word proves nothing",
			Report{Steps: []StepReport{declared}},
			"note how much a token counts is not known: as declared -> write a " +
				"loss log with optimized_loss, or gradients, and pass --against",
		},
		{"nothing is known", Report{Steps: []StepReport{unknown}},
			"note how much a token counts is not known: nothing tells: pass Options.Normalization -> " +
				"write a loss log with optimized_loss, or gradients, and pass --against"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.r.Conclude()
			test.r.NameChoices(map[string]string{"against": "--against"})
			v := test.r.Verdict
			got := strings.TrimSpace(v.Rule + " " + v.Severity + " " + v.Message)
			got = strings.TrimSpace(got)
			if v.Why != "" {
				got += ": " + v.Why
			}
			if v.Fix != "" {
				got += " -> " + v.Fix
			}
			if strings.TrimSpace(got) != test.want {
				t.Errorf("%s\nwant %s", got, test.want)
			}
		})
	}
}

// What could not be said is noted.
func TestNotes(t *testing.T) {
	report := GradientReport{Verdict: &Verdict{}}
	for _, test := range []struct {
		a    GradientAudit
		want string
	}{
		{GradientAudit{}, ""},
		{GradientAudit{Reports: []GradientReport{report}}, ""},
		{
			GradientAudit{Alone: true},
			"there is nothing to compare the gradients with: pass --against, or write those of single micro-batches",
		},
		{
			GradientAudit{Reports: []GradientReport{report}, Later: true},
			"no cause is named for later steps: the two runs start them from different weights",
		},
	} {
		r := NewReport("v", nil)
		r.AddGradients(&test.a)
		r.NameChoices(map[string]string{"against": "--against"})
		if got := strings.Join(r.Notes, "; "); got != test.want {
			t.Errorf("%+v: %s, want %s", test.a, got, test.want)
		}
		if n := len(test.a.Reports); len(r.Gradients) != n || r.Empty() != (n == 0) {
			t.Errorf("%+v: %d gradients, empty %v", test.a, len(r.Gradients), r.Empty())
		}
	}
}
