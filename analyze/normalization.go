package analyze

import (
	"slices"

	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/report"
)

// NormalizedStep is how one complete step is normalized.
type NormalizedStep struct {
	Step     int                        // an Index of the report's Steps
	Counts   *normalization.Counts      // tokens of all ranks that have counts, in the order of their numbers
	Observed *normalization.Observation // what the decision rests on
	*normalization.Decision

	// Explained is the rule that has found in the traces why micro-batches do not add up; empty
	// where none has.
	Explained string
}

// noCounts says why nothing is known and what would change that.
const noCounts = `no token counts: pass {tokens}, or annotate the trainer with record_function("gaprof.tokens=N")`

// normalizationOf decides for every complete step for which all ranks have token counts
// how it is normalized, and says of the first of them what the report tells. The counts
// are those of the log that was passed, else of annotations in the traces, else of a log
// that was found beside them.
func normalizationOf(list []*Rank, l logs) (report.Normalization, []NormalizedStep) {
	n := report.Normalization{
		Mode:     string(normalization.Unknown),
		Basis:    string(normalization.ByNothing),
		Declared: string(l.declared),
		Tokens:   [][]int64{},
	}
	noted := notedTokens(list)
	l = l.alignedTo(list, noted)
	counts, from := l.counts(noted)
	if counts == nil {
		n.Evidence = noCounts
		if l.declared != "" { // the user's word is all there is
			describeDecision(&n, normalization.Decide(&normalization.Observation{Declared: l.declared}))
		}
		return n, nil
	}
	j := newJudge(list, counts, l)
	var steps []NormalizedStep
	for step := range mostSteps(list) {
		tokens := counts.ofAll(list, step)
		if tokens == nil {
			continue
		}
		decided := j.decide(step)
		if steps = append(steps, decided); n.Step == nil {
			n.Tokens, n.Step, n.Evidence = tokens, &step, "tokens from "+from
		}
	}
	if n.Step == nil {
		n.Evidence = "no complete step for which every rank has token counts in " + from + missingRanks(list, counts)
	}
	return n, steps
}

// describeDecision puts a decision into the words of the report.
func describeDecision(n *report.Normalization, d *normalization.Decision) {
	n.Mode, n.Factor, n.Basis = string(d.Mode), d.Factor.Name, string(d.Basis)
	if d.Mode == normalization.Global && len(n.Factor) > 0 && n.Factor[0] == 'N' {
		n.Mode = string(normalization.Sum)
	}
	if w := d.Weights; w != nil && w.Min != nil {
		n.Ratio = &report.WeightRatio{Min: *w.Min, Max: *w.Max}
	}
	n.Evidence += "; " + d.Evidence
}

// unknownSteps is how many steps that all ranks have completed lack weights of tokens. What the
// gradients of a step say of the loop holds for all steps that have counts.
func unknownSteps(list []*Rank, decided []NormalizedStep) int {
	known := make(map[int]bool)
	for i := range decided {
		known[decided[i].Step] = decided[i].weighs() || decided[0].Basis == normalization.ByGradients
	}
	n := 0
	for step := range mostSteps(list) {
		if !known[step] && completed(list, step) {
			n++
		}
	}
	return n
}

func (s *NormalizedStep) weighs() bool { return s.Weights != nil && s.Weights.Min != nil }

// completed reports whether all ranks have a step that is complete and was asked for.
func completed(list []*Rank, step int) bool {
	return !slices.ContainsFunc(list, func(r *Rank) bool {
		return step >= len(r.Steps) || !r.Steps[step].Complete || !r.Selected(step)
	})
}

func mostSteps(list []*Rank) int {
	most := 0
	for _, r := range list {
		most = max(most, len(r.Steps))
	}
	return most
}
