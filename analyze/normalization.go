package analyze

import (
	"slices"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/trace/sidecar"
)

// Normalization is what is known of the token counts that gradients are normalised by.
type Normalization struct {
	Mode     string    `json:"mode"`     // "unknown": a trace alone does not tell
	Tokens   [][]int64 `json:"tokens"`   // by rank, in the order of source.ranks, and micro-batch, of one step
	Step     *int      `json:"step"`     // the step of Tokens, null without them
	Evidence string    `json:"evidence"` // where the counts come from
}

// normalization fills in the token counts of the first complete step for which every
// rank has some: from the log that was passed, else from annotations in the traces.
func (a *assembly) normalization() {
	n := &a.report.Normalization
	n.Mode, n.Tokens = "unknown", [][]int64{}
	counts, evidence := a.loggedTokens(), a.o.TokensFrom
	if counts == nil {
		counts, evidence = a.notedTokens(), "annotations in the trace"
	}
	if counts == nil {
		n.Evidence = "no token counts: pass --tokens FILE, or annotate the trainer with record_function(\"gaprof.tokens=N\")"
		return
	}
	for step := range a.mostSteps() {
		if tokens := a.tokensOf(step, counts); tokens != nil {
			n.Tokens, n.Step, n.Evidence = tokens, &step, evidence
			return
		}
	}
	n.Evidence = "no complete step for which every rank has token counts in " + evidence
}

// tokenKey is a rank and a step.
type tokenKey struct {
	rank int64
	step int
}

func (a *assembly) loggedTokens() map[tokenKey][]int64 {
	if len(a.o.Tokens) == 0 {
		return nil
	}
	list := slices.Clone(a.o.Tokens)
	slices.SortStableFunc(list, func(x, y sidecar.TokenCount) int { return int(x.MicroBatch - y.MicroBatch) })
	counts := make(map[tokenKey][]int64)
	for _, c := range list {
		key := tokenKey{c.Rank, int(c.Step)}
		counts[key] = append(counts[key], c.Tokens)
	}
	return counts
}

func (a *assembly) notedTokens() map[tokenKey][]int64 {
	var counts map[tokenKey][]int64
	for _, fr := range a.ranks {
		for _, note := range fr.rank.TokenNotes {
			if counts == nil {
				counts = make(map[tokenKey][]int64)
			}
			key := tokenKey{fr.rank.ID, note.Step}
			counts[key] = append(counts[key], note.Tokens)
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

// tokensOf is the counts of one step by rank, or nil if a rank lacks them or its step
// is incomplete.
func (a *assembly) tokensOf(step int, counts map[tokenKey][]int64) [][]int64 {
	var tokens [][]int64
	for _, fr := range a.ranks {
		c, ok := counts[tokenKey{fr.rank.ID, step}]
		if !ok || step >= len(fr.rank.Steps) || !fr.rank.Steps[step].Complete {
			return nil
		}
		tokens = append(tokens, c)
	}
	return tokens
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
		if p.Verdict == Avoidable && p.Kind == string(facts.ScalePass) {
			p.Reason += "; the ranks have equally many tokens in the recorded step, which a few steps do not prove for all"
		}
	}
}
