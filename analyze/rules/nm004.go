package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/report"
)

// NM004 finds a step with fewer micro-batches than others that is divided by as many.
var NM004 = analyze.Rule{
	ID:    "NM004",
	Scope: analyze.AllRanks,
	Doc: analyze.Doc{
		Title: "a partial accumulation window is divided by the micro-batches of a full one",
		Why: "Where the data ends inside an accumulation window, only k of A micro-batches make up the last " +
			"step. Losses that are divided by A all the same make its gradients k/A of what they should be.",
		Fix: "divide by the tokens, or micro-batches, that the window has, or drop the incomplete window",
	},
	Needs: []analyze.Need{needOptimizerSteps, needCounts},
	Run:   runNM004,
}

// partialFactor is the name of the factor that a partial window leaves behind.
const partialFactor = "k/A"

// dividedOnly reports whether the losses of a step are seen to be divided and its
// gradients are seen not to be scaled.
func dividedOnly(s *analyze.NormalizedStep) bool {
	return s.Observed.Divided == normalization.Yes && s.Observed.Scaled == normalization.No
}

func runNM004(p *analyze.Pass) {
	var wrong, doubtful []weighed
	for i := range p.Normalized {
		s := &p.Normalized[i]
		switch {
		case !s.Counts.Partial() || s.Observed.Whole:
		case s.Factor.Name == partialFactor && s.Proven():
			wrong = append(wrong, weighed{s, s.Weights})
		case s.Mode == normalization.MicroMean && s.Factor.Name == "" && dividedOnly(s):
			doubtful = append(doubtful, weighed{s, nil})
		}
	}
	switch {
	case len(wrong) > 0:
		c := wrong[0].Counts
		reportWeights(p, wrong, "", report.Finding{
			Message: fmt.Sprintf(
				"step %d has %d of %d micro-batches and is divided by %d: its gradients are %.4g times the right ones",
				wrong[0].Step, c.Micro(), c.Window(), c.Window(), float64(c.Micro())/float64(c.Window())),
		})
	case len(doubtful) > 0:
		s := doubtful[0]
		p.Report(report.Note, report.Finding{
			Message: fmt.Sprintf(
				"step %d has %d of %d micro-batches; if its means are divided by %d, its gradients are too small",
				s.Step, s.Counts.Micro(), s.Counts.Window(), s.Counts.Window()),
			Why: s.Evidence + "; the trace does not say what it is divided by",
		})
	}
}
