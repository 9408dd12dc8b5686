package facts

import (
	"fmt"
	"sort"
	"strings"

	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/parallel"
	"github.com/gaprof/gaprof/trace"
)

// Unknown counts are -1.
const Unknown = gradients.Unknown

// Rank is everything derived from the part of a trace that one rank wrote. It is a
// value: it holds no reference into the trace, and nobody writes to it once Compute has
// returned it.
type Rank struct {
	Identity
	Activity
	Communication
	gradients.Gradients
	Updates
	Warmup
	Steps      []Step
	StepSource steps.Source
	Loss       Loss
	TokenNotes []TokenNote
	Problems   []trace.Problem // of the trace and, behind them, of the rank
}

// Step is one optimizer step of a rank: its windows and what its gradients show.
type Step struct {
	steps.Step
	PerOptimizer []gradients.OptimizerStep // in the order of Optimizers
	MicroBatches int                       // forward passes, Unknown
	Backwards    []gradients.Backward      // passes that begin in the host window
}

// Compute derives the facts of every rank of an index, in the order of its Ranks.
func Compute(x *timeline.Index) []*Rank {
	var ranks []*Rank
	for _, r := range x.Ranks {
		ranks = append(ranks, rankOf(r))
	}
	if len(ranks) > 0 {
		first := ranks[0]
		first.Problems = append(wholeTrace(x), first.Problems...)
	}
	texts := make(map[string]string)
	for _, r := range ranks {
		r.texts(func(text *string) { *text = own(texts, *text) })
	}
	return ranks
}

// wholeTrace is the problems of a trace that are of no single rank.
func wholeTrace(x *timeline.Index) []trace.Problem {
	list := append([]trace.Problem(nil), x.Problems...)
	if x.TooDeep() {
		list = append(list, problem(trace.DeepNesting, 1,
			fmt.Sprintf("more than %d spans around one event, of which the outermost were not looked at", timeline.Deepest)))
	}
	return list
}

func problem(code trace.Code, n int, detail string) trace.Problem {
	return trace.Problem{Code: code, Count: int64(n), Offset: -1, Detail: detail}
}

// rankOf derives the facts of one rank. What does not depend on each other runs at
// the same time: steps beside backward passes, then the device's side of communication
// beside the gradients.
func rankOf(x *timeline.Rank) *Rank {
	r := &Rank{Identity: identify(x), Activity: activityOf(x)}
	var s *steps.Steps
	var backwards gradients.Backwards
	parallel.Both(func() { s = steps.Find(x) }, func() { backwards = gradients.FindBackwards(x) })
	var g *gradients.Gradients
	var records, rows []int32
	parallel.Both(func() {
		r.Communication, records = communicate(x, s)
	}, func() {
		g, rows = gradients.Compute(x, s, backwards, r.WorldSize)
	})
	joinHost(r.Collectives, records, rows)
	r.Gradients, r.Steps, r.StepSource = *g, stepsOf(s, g), s.Source
	r.Updates, r.Warmup = updatesOf(x, s, g), warmupOf(x, s)
	r.Loss = lossOf(x, g.Backwards)
	r.TokenNotes = tokenNotes(x, s)
	r.Problems = problemsOf(x, r)
	return r
}

// stepsOf puts together what is known of each step.
func stepsOf(s *steps.Steps, g *gradients.Gradients) []Step {
	var list []Step
	for i, one := range s.List {
		of := &g.Steps[i]
		one.Kind = of.Kind
		list = append(list, Step{one, of.PerOptimizer, of.MicroBatches, of.Backwards})
	}
	return list
}

// StepAt is the index of the step whose host window holds instant t, or -1 after
// the last update. What happens before the first update belongs to the first step.
func (r *Rank) StepAt(t int64) int {
	i := sort.Search(len(r.Steps), func(i int) bool { return r.Steps[i].HostEnd > t })
	if i == len(r.Steps) {
		return -1
	}
	return i
}

// own is a copy of a text that holds no larger one in memory, one for all equal texts.
func own(texts map[string]string, text string) string {
	copied, ok := texts[text]
	if !ok {
		copied = strings.Clone(text)
		texts[copied] = copied
	}
	return copied
}
