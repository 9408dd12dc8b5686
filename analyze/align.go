package analyze

import (
	"slices"

	"github.com/gaprof/gaprof/trace/sidecar"
)

// align finds how many steps of a log come before the first step of the traces, by the
// token counts that both hold: recordings rarely begin with the first step of a run.
// Without counts in the traces both begin together. ok is false where they have nothing in
// common.
func (a *assembly) align(noted *tokenCounts) (shift int, ok bool) {
	log := a.logCounts()
	if noted == nil || log == nil {
		return 0, true
	}
	var steps []int
	for key := range log.of {
		steps = append(steps, key.step)
	}
	slices.Sort(steps)
	first, found := a.firstNoted(noted)
	for _, step := range slices.Compact(steps) {
		if found && step >= first && sameCounts(noted, log, step-first) {
			return step - first, true
		}
	}
	return 0, false
}

// firstNoted is the first complete step with annotations.
func (a *assembly) firstNoted(noted *tokenCounts) (first int, ok bool) {
	for step := range a.mostSteps() {
		if a.tokensOf(step, noted) != nil {
			return step, true
		}
	}
	return 0, false
}

// sameCounts tells whether all annotated steps that a log holds, too, have the same counts
// there, and there are some.
func sameCounts(noted, log *tokenCounts, shift int) bool {
	common := 0
	for key, counts := range noted.of {
		logged, ok := log.of[tokenKey{key.rank, key.step + shift}]
		if !ok {
			continue
		}
		if !slices.Equal(logged, counts) && !(len(logged) == 1 && sum(logged) == sum(counts)) {
			return false
		}
		common++
	}
	return common > 0
}

// logCounts are the counts of the token log, else those of the loss log.
func (a *assembly) logCounts() *tokenCounts {
	list := a.o.Tokens
	if len(list) == 0 && a.o.Losses != nil {
		for _, m := range a.o.Losses.Micro {
			if m.Tokens >= 0 {
				list = append(list, sidecar.TokenCount{Rank: m.Rank, Step: m.Step, MicroBatch: m.MicroBatch, Tokens: m.Tokens, Global: -1})
			}
		}
	}
	return countsOf(list, 0)
}
