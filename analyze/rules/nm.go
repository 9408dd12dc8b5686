package rules

import (
	"fmt"
	"math"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// needCounts is the need of all rules on normalization.
var needCounts = analyze.Need{Name: "token counts", Missing: "no token counts: pass {tokens}, or annotate the trainer",
	All: func(p *analyze.Pass) bool { return len(p.Normalized) > 0 }}

// raggedSteps are the steps in which a mode gives tokens different weights, the step
// with the largest difference first. A factor common to all of them does not matter.
func raggedSteps(p *analyze.Pass, mode normalization.Mode) []weighed {
	var list []weighed
	for i := range p.Normalized {
		s := &p.Normalized[i]
		wholeWindow := s.Observed.Whole && mode == normalization.MicroMean
		if s.Mode != mode || wholeWindow || s.Counts.Ranks() < s.Observed.Ranks {
			continue
		}
		if w := s.Counts.WeightsOf(mode, normalization.One); w != nil && w.Ragged() {
			list = append(list, weighed{s, w})
		}
	}
	return worstFirst(list)
}

// weighed is a step with the weights of its tokens relative to 1/N.
type weighed struct {
	*analyze.NormalizedStep
	weights *normalization.Weights
}

// worstFirst puts the step with the greatest error first.
func worstFirst(list []weighed) []weighed {
	worst := 0
	for i := range list {
		if errorOf(list[i].weights) > errorOf(list[worst].weights) {
			worst = i
		}
	}
	if worst > 0 {
		list[0], list[worst] = list[worst], list[0]
	}
	return list
}

// errorOf is the largest distance of a weight from 1.
func errorOf(w *normalization.Weights) float64 { return max(math.Abs(*w.Min-1), math.Abs(*w.Max-1)) }

// spread is a range of weights in words: "0.672 (12 tokens) to 1.955 (59 tokens)".
func spread(w *normalization.Weights) string {
	return fmt.Sprintf("%.4g (micro-batch of %s) to %.4g (of %s)", *w.Min, units.Count(w.MinAt.Tokens, "token"),
		*w.Max, units.Count(w.MaxAt.Tokens, "token"))
}

// reportWeights reports steps whose token weights are wrong: as an error where more than
// the user's declaration says so, and the user did not declare the mode that excuses it.
func reportWeights(p *analyze.Pass, list []weighed, excuse normalization.Mode, f report.Finding) {
	first := list[0]
	severity := report.Error
	if !first.Proven() {
		severity = report.Note
	}
	if excuse != "" && first.Observed.Declared == excuse {
		severity = report.Note
		f.Caveats = append(f.Caveats, "as declared by {normalization}")
	}
	f.Why = first.Evidence
	if n := len(list); n > 1 {
		f.Message += fmt.Sprintf(", in step %d; %d steps are like it", first.Step, n)
	}
	for _, r := range p.Ranks {
		if len(f.Evidence) < maxEvidence && first.Step < len(r.Steps) {
			s := &r.Steps[first.Step]
			f.Evidence = append(f.Evidence, report.Evidence{
				Rank:     r.ID,
				Name:     fmt.Sprintf("step %d", s.Index),
				Start:    s.HostStart,
				Duration: s.HostDuration(),
			})
		}
	}
	p.Report(severity, f)
}
