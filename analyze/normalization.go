package analyze

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/choice"
	"github.com/gaprof/gaprof/trace/sidecar"
)

// GradientCause is what the gradients of a step say of its normalization.
type GradientCause struct {
	Step  int64
	Cause *normalization.Cause
}

// NormalizedStep is how one complete step is normalized.
type NormalizedStep struct {
	Step     int
	Case     *normalization.Case // tokens of all ranks that have counts, in the order of their numbers
	Observed *normalization.Observation
	*normalization.Decision
}

// normalization fills in the token counts of the first complete step for which every
// rank has some, from the log that was passed, else from annotations in the traces; and
// decides for every such step how it is normalized.
func (a *assembly) normalization() {
	n := &a.report.Normalization
	n.Mode, n.Basis, n.Declared, n.Tokens = string(normalization.Unknown), string(normalization.ByNothing), string(a.o.Normalization), [][]int64{}
	counts, evidence := a.tokenCounts()
	if counts == nil {
		n.Evidence = noCounts
		a.decideWithoutCounts()
		return
	}
	window := a.window(counts)
	for step := range a.mostSteps() {
		tokens := a.tokensOf(step, counts)
		if tokens == nil {
			continue
		}
		a.decide(step, counts, window)
		if n.Step == nil {
			n.Tokens, n.Step, n.Evidence = tokens, &step, "tokens from "+evidence
			a.describeDecision(a.normalized[len(a.normalized)-1].Decision)
		}
	}
	if n.Step == nil {
		n.Evidence = "no complete step for which every rank has token counts in " + evidence
		return
	}
	for _, fr := range a.ranks {
		fr.rank.Counted = true
	}
}

// noCounts says why nothing is known and what would change that.
const noCounts = `no token counts: pass --tokens FILE, or annotate the trainer with record_function("gaprof.tokens=N")`

// decideWithoutCounts takes the user's word for the mode.
func (a *assembly) decideWithoutCounts() {
	if a.o.Normalization != "" {
		a.describeDecision(normalization.Decide(&normalization.Observation{Declared: a.o.Normalization}))
	}
}

// describeDecision puts a decision into the words of the report.
func (a *assembly) describeDecision(d *normalization.Decision) {
	n := &a.report.Normalization
	n.Factor, n.Basis = d.Factor.Name, string(d.Basis)
	switch d.Mode {
	case normalization.Global, normalization.PerRank, normalization.MicroMean, normalization.Sum:
		n.Mode = string(d.Mode)
	}
	if d.Mode == normalization.Global && len(n.Factor) > 0 && n.Factor[0] == 'N' {
		n.Mode = string(normalization.Sum)
	}
	if w := d.Weights; w != nil && w.Min != nil {
		n.Ratio = &report.WeightRatio{Min: *w.Min, Max: *w.Max}
	}
	n.Evidence += "; " + choice.Name(d.Evidence, a.o.Choices)
}

// tokenKey is a rank and a step.
type tokenKey struct {
	rank int64
	step int
}

// tokenCounts are the counts of all micro-batches by rank and step.
type tokenCounts struct {
	of    map[tokenKey][]int64
	whole map[tokenKey]bool // the count is of the step as a whole
	known bool              // the log says that each rank knows the count of all
}

// tokenCounts are those of a log that was passed, else the annotations in the traces, else
// those of a log that was found beside them; and where they are from.
func (a *assembly) tokenCounts() (counts *tokenCounts, from string) {
	noted := a.notedTokens()
	shift, ok := a.align(noted)
	if a.shift = int64(shift); !ok {
		a.o.Losses, a.o.Gradients = nil, nil // of other steps
	}
	if noted != nil && (a.o.TokensFound || len(a.o.Tokens) == 0) {
		return noted, "annotations in the trace"
	}
	if logged := countsOf(a.o.Tokens, shift); logged != nil {
		return logged, a.o.TokensFrom
	}
	return noted, "annotations in the trace"
}

// countsOf makes a table of a log, shift steps earlier.
func countsOf(list []sidecar.TokenCount, shift int) *tokenCounts {
	if len(list) == 0 {
		return nil
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(x, y sidecar.TokenCount) int { return cmp.Compare(x.MicroBatch, y.MicroBatch) })
	counts := &tokenCounts{of: make(map[tokenKey][]int64), whole: make(map[tokenKey]bool)}
	for _, c := range list {
		key := tokenKey{c.Rank, int(c.Step) - shift}
		counts.of[key] = append(counts.of[key], c.Tokens)
		counts.whole[key] = counts.whole[key] || c.MicroBatch < 0
		counts.known = counts.known || c.Global >= 0
	}
	return counts
}

func (a *assembly) notedTokens() *tokenCounts {
	var counts *tokenCounts
	for _, fr := range a.ranks {
		for _, note := range fr.rank.TokenNotes {
			if counts == nil {
				counts = &tokenCounts{of: make(map[tokenKey][]int64), whole: make(map[tokenKey]bool)}
			}
			key := tokenKey{fr.rank.ID, note.Step}
			counts.of[key] = append(counts.of[key], note.Tokens)
		}
	}
	return counts
}

func (a *assembly) mostSteps() int {
	most := 0
	for _, fr := range a.ranks {
		most = max(most, len(fr.rank.Steps))
	}
	return most
}

// tokensOf is the counts of one step by rank, or nil if a rank lacks them, its step is
// incomplete, or the trace shows another number of micro-batches.
func (a *assembly) tokensOf(step int, counts *tokenCounts) [][]int64 {
	var tokens [][]int64
	for _, fr := range a.ranks {
		key := tokenKey{fr.rank.ID, step}
		c, ok := counts.of[key]
		if !ok || step >= len(fr.rank.Steps) || !fr.rank.Steps[step].Complete || fr.rank.Steps[step].Excluded {
			return nil
		}
		if micro := fr.rank.Steps[step].MicroBatches; micro != facts.Unknown && micro != len(c) && !counts.whole[key] {
			return nil
		}
		tokens = append(tokens, c)
	}
	return tokens
}

// caseOf is the counts of one step over all ranks that have some, also those whose
// traces are not here.
func (counts *tokenCounts) caseOf(step, window int) (c *normalization.Case, whole bool) {
	var ranks []int64
	for key := range counts.of {
		if key.step == step {
			ranks = append(ranks, key.rank)
		}
	}
	slices.Sort(ranks)
	c = &normalization.Case{Accumulation: window}
	for _, rank := range ranks {
		key := tokenKey{rank, step}
		c.Tokens = append(c.Tokens, counts.of[key])
		whole = whole || counts.whole[key]
	}
	return c, whole
}

// window is the number of micro-batches of a full step: the most that any has.
func (a *assembly) window(counts *tokenCounts) int {
	most := 0
	for key, list := range counts.of {
		if !counts.whole[key] {
			most = max(most, len(list))
		}
	}
	return most
}

// equalTokens tells whether all ranks have equally many tokens in the step at hand.
func (a *assembly) equalTokens() bool {
	tokens := a.report.Normalization.Tokens
	for _, counts := range tokens {
		if sum(counts) != sum(tokens[0]) {
			return false
		}
	}
	return len(tokens) > 1
}

func sum(counts []int64) int64 {
	n := int64(0)
	for _, c := range counts {
		n += c
	}
	return n
}

// remarkOnTokens adds to the reasons of avoidable passes that equal counts in the
// recorded steps do not make them needless.
func (a *assembly) remarkOnTokens() {
	if !a.equalTokens() {
		return
	}
	for i := range a.report.GradientPasses {
		p := &a.report.GradientPasses[i]
		if p.Verdict == report.Avoidable && p.Kind == string(facts.ScalePass) {
			p.Reason += "; the ranks have equally many tokens in the recorded step, which a few steps do not prove for all"
		}
	}
}
