package analyze

import (
	"fmt"
	"slices"

	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/report"
)

// overruled are the steps of a run as far as what rules saw in its traces leaves them standing:
// where micro-batches were cleared, scaled or clipped away, no loss log and no structure of the
// loss says how much a token counts. Gradients do, and so does a log that owns up to it.
func overruled(list []NormalizedStep, found []costed, weighs func(rule string) bool) []NormalizedStep {
	i := slices.IndexFunc(found, func(c costed) bool { return weighs(c.Rule) })
	if i < 0 {
		return list
	}
	list = slices.Clone(list)
	for s := range list {
		switch d := list[s].Decision; {
		case !accumulates(d.Mode):
			list[s].Explained = found[i].Rule
		case d.Basis != normalization.ByGradients:
			list[s].Decision = overrule(d, &found[i].Finding)
		}
	}
	return list
}

// accumulates reports whether a mode is one of loops that add up the gradients of all
// micro-batches.
func accumulates(m normalization.Mode) bool {
	switch m {
	case normalization.Global, normalization.PerRank, normalization.MicroMean, normalization.Sum,
		normalization.Preshift:
		return true
	}
	return false
}

// overrule is the decision that nothing is known, because of a finding.
func overrule(d *normalization.Decision, f *report.Finding) *normalization.Decision {
	return &normalization.Decision{Mode: normalization.Unknown, Basis: normalization.ByTrace,
		Evidence: fmt.Sprintf("%s: %s; so this is not the whole: %s", f.Rule, f.Message, d.Evidence)}
}
