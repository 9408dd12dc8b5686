package analyze

import (
	"slices"

	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/trace/sidecar"
)

// GradientCause is what the gradients of a step say of its normalization.
type GradientCause struct {
	Step  int64
	Cause *normalization.Cause
}

// logs are what else than traces says how a run is normalized: what the user declares and
// what the run wrote beside the traces.
type logs struct {
	declared  normalization.Mode // "" not
	tokens    []sidecar.TokenCount
	from      string // what the token log is called
	found     bool   // the token log was found, not passed: annotations go before it
	losses    *sidecar.LossLog
	gradients []GradientCause

	shift int // steps of the logs before the first of the traces
}

func logsOf(o *Options) logs {
	return logs{declared: o.Normalization, tokens: o.Tokens, from: o.TokensFrom, found: o.TokensFound, losses: o.Losses, gradients: o.Gradients}
}

// table is the token counts of the token log, else those of the loss log; nil without any.
func (l *logs) table() *tokenCounts {
	list := l.tokens
	if len(list) == 0 && l.losses != nil {
		for _, m := range l.losses.Micro {
			if m.Tokens >= 0 {
				list = append(list, sidecar.TokenCount{Rank: m.Rank, Step: m.Step, MicroBatch: m.MicroBatch, Tokens: m.Tokens, Global: -1})
			}
		}
	}
	return loggedTokens(list, 0)
}

// counts are the token counts of steps as traces number them, and where they are from;
// nil where there are none. noted are the annotations in the traces, nil without any.
func (l *logs) counts(noted *tokenCounts) (counts *tokenCounts, from string) {
	const annotations = "annotations in the trace"
	if noted != nil && (l.found || len(l.tokens) == 0) {
		return noted, annotations
	}
	if logged := loggedTokens(l.tokens, l.shift); logged != nil {
		return logged, l.from
	}
	return noted, annotations
}

// alignedTo finds how many steps of the logs come before the first step of the traces, by
// the token counts that both hold: recordings rarely begin with the first step of a run.
// Without counts in the traces both begin together. Logs that have nothing in common with
// the traces are of other steps: losses and gradients are left out then.
func (l logs) alignedTo(list []*Rank, noted *tokenCounts) logs {
	table := l.table()
	if noted == nil || table == nil {
		return l
	}
	first, found := firstNoted(list, noted)
	for _, step := range table.steps() {
		if found && step >= first && sameCounts(noted, table, step-first) {
			l.shift = step - first
			return l
		}
	}
	l.losses, l.gradients = nil, nil
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

// JudgeLogs says how the steps of logs are normalized, without any trace, and runs the
// rules of the options on them, which must look at nothing else.
func JudgeLogs(o Options) ([]NormalizedStep, []report.Finding) {
	l := logsOf(&o)
	counts := l.table()
	if counts == nil {
		return nil, nil
	}
	j := newJudge(nil, counts, l)
	pass := Pass{}
	for _, step := range counts.steps() {
		pass.Normalized = append(pass.Normalized, j.decide(step))
	}
	for i := range o.Rules {
		pass.rule = &o.Rules[i]
		pass.rule.Run(&pass)
	}
	return pass.Normalized, pass.findings()
}

// CaseOf is the token counts of one step of the logs; nil where they have none.
func CaseOf(o Options, step int64) *normalization.Case {
	l := logsOf(&o)
	counts := l.table()
	if counts == nil {
		return nil
	}
	c, whole := counts.caseOf(int(step))
	if whole || len(c.Tokens) == 0 {
		return nil
	}
	return c
}
