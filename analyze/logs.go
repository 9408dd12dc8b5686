package analyze

import (
	"slices"

	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/trace/sidecar"
)

// GradientCause is what the gradients of a step say of its normalization.
type GradientCause struct {
	Step  int64                // from the start of the run, 0 the first
	Cause *normalization.Cause // the mode and factor that explain them
}

// Logs are what a run wrote beside its traces that says how it is normalized. Their steps
// are numbered from the start of the run.
type Logs struct {
	Tokens      []sidecar.TokenCount // go before annotations in the traces; nil none
	TokensFrom  string               // what the log of tokens is called in the report
	TokensFound bool                 // it was found, not passed: annotations go before it
	Losses      *sidecar.LossLog     // nil none
	Gradients   []GradientCause      // what gradients say, by step
}

// logs are Logs, and what the user declares, beside some traces.
type logs struct {
	Logs
	declared normalization.Mode // "" not
	shift    int                // steps of the logs before the first of the traces
}

// table is the token counts of the token log, else those of the loss log; nil without any.
func (l *logs) table() *tokenCounts {
	list := l.Tokens
	if len(list) == 0 && l.Losses != nil {
		for _, m := range l.Losses.Micro {
			if m.Tokens >= 0 {
				list = append(list, sidecar.TokenCount{
					Rank:       m.Rank,
					Step:       m.Step,
					MicroBatch: m.MicroBatch,
					Tokens:     m.Tokens,
					Global:     -1,
				})
			}
		}
	}
	return loggedTokens(list, 0)
}

// counts are the token counts of steps as traces number them, and where they are from;
// nil where there are none. noted are the annotations in the traces, nil without any.
func (l *logs) counts(noted *tokenCounts) (counts *tokenCounts, from string) {
	const annotations = "annotations in the trace"
	if noted != nil && (l.TokensFound || len(l.Tokens) == 0) {
		return noted, annotations
	}
	if logged := loggedTokens(l.Tokens, l.shift); logged != nil {
		return logged, l.TokensFrom
	}
	return noted, annotations
}

// alignedTo finds how many steps of the logs come before the first step of the traces, by
// the token counts that both hold: recordings rarely begin with the first step of a run.
// Where both agree on more micro-batches than have a backward pass, they are right.
// Without counts in the traces both begin together. Logs that have nothing in common with
// the traces are of other steps: losses and gradients are left out then.
func (l logs) alignedTo(list []*Rank, noted *tokenCounts) logs {
	table := l.table()
	if noted == nil || table == nil {
		return l
	}
	for _, noted.vouched = range []bool{false, true} {
		first, found := firstNoted(list, noted)
		for _, step := range table.steps() {
			if found && step >= first && sameCounts(noted, table, step-first) {
				l.shift = step - first
				return l
			}
		}
	}
	noted.vouched = false
	l.Losses, l.Gradients = nil, nil
	return l
}

// firstNoted is the first complete step with annotations.
func firstNoted(list []*Rank, noted *tokenCounts) (first int, ok bool) {
	for step := range mostSteps(list) {
		if noted.ofAll(list, step) != nil {
			return step, true
		}
	}
	return 0, false
}

// sameCounts reports whether all annotated steps that a log holds, too, have the same
// counts there, and there are some.
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
