package straggler

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gaprof/gaprof/analyze/straggler/optable"
)

// mostVisits bounds the replays of single workers: more operations than these take seconds.
const mostVisits = 400_000_000

// mostUnexplained is the ratio of observed to replayed time above which the model does not fit
// a job: the paper leaves such jobs out.
const mostUnexplained = 1.05

// worstPart is the part of the workers of which M_W speaks.
const worstPart = 0.03

// Analyze computes what slow workers cost the job of a table. It fails where operations wait
// for each other in a circle.
func Analyze(t *optable.Table) (*Result, error) {
	r, err := newReplays(newJob(t))
	if err != nil {
		return nil, err
	}
	f := figures{replays: r}
	f.out = &Result{
		Schema: Schema, Operations: r.Len(), Stages: int(r.stages), Chunks: int(r.chunks),
		Workers: slices.Clone(r.workers),
	}
	for _, w := range r.workers {
		f.out.DataParallel = max(f.out.DataParallel, int(w.DP)+1)
	}
	f.whole()
	f.byType()
	f.byGroup()
	f.alone()
	f.out.WorstWorkers = f.share(f.worst())
	f.out.LastStage = f.share(f.ofStage(r.stages - 1))
	return f.out, nil
}

// figures makes the figures of a job. Its times are means over steps, in ns.
type figures struct {
	*replays
	out             *Result
	slow, idealTime float64 // T and T_ideal
}

// whole compares the job with its ideal, step by step and by the means.
func (f *figures) whole() {
	seen := f.seen()
	slow := f.replay(func(op) bool { return false })
	ideal := f.replay(func(op) bool { return true })
	for s, number := range f.steps {
		slowdown := ratio(float64(slow[s]), float64(ideal[s]))
		f.out.Steps = append(f.out.Steps, Step{number, seen[s], slow[s], ideal[s], slowdown})
	}
	f.slow, f.idealTime = mean(slow), mean(ideal)
	f.out.ObservedNS, f.out.ReplayedNS, f.out.IdealNS = rounded(mean(seen)), rounded(f.slow), rounded(f.idealTime)
	f.out.Slowdown, f.out.Unexplained = ratio(f.slow, f.idealTime), ratio(mean(seen), f.slow)
	if u := f.out.Unexplained; u > mostUnexplained {
		f.out.Doubt = fmt.Sprintf("the replay explains %.1f %% of the steps only: operations wait for what the table "+
			"does not show, or it is of another kind of job", 100/u)
	}
}

// cost is the slowdown of the operations of which the observed time is kept.
func (f *figures) cost(kept func(i op) bool) float64 {
	return ratio(f.mean(func(i op) bool { return !kept(i) }), f.idealTime)
}

// together are the types that are one in reports.
var together = map[optable.Type]string{
	optable.ForwardSend: "forward-pp-comm", optable.ForwardRecv: "forward-pp-comm",
	optable.BackwardSend: "backward-pp-comm", optable.BackwardRecv: "backward-pp-comm",
}

// byType finds what the operations of each type cost.
func (f *figures) byType() {
	var names []string
	of := make(map[string][]optable.Type)
	for t := range optable.NumTypes {
		if f.ideal[t] == math.MinInt64 {
			continue
		}
		name, joined := together[t]
		if !joined {
			name = t.String()
		}
		if of[name] == nil {
			names = append(names, name)
		}
		of[name] = append(of[name], t)
	}
	delays := f.delays(f.g)
	for _, name := range names {
		among := func(i op) bool { return slices.Contains(of[name], f.Type[i]) }
		one := TypeSlowdown{Type: name, Slowdown: f.cost(among), DelayNS: meanOf(delays, among)}
		if len(of[name]) == 1 && together[of[name][0]] == "" {
			one.IdealNS = &f.ideal[of[name][0]]
		}
		f.out.ByType = append(f.out.ByType, one)
	}
	slices.SortStableFunc(f.out.ByType, func(a, b TypeSlowdown) int { return cmp.Compare(b.Slowdown, a.Slowdown) })
}

// meanOf is the mean of some of the operations' values, in ns.
func meanOf(values []int64, among func(i op) bool) int64 {
	var list []int64
	for i, v := range values {
		if among(op(i)) {
			list = append(list, v)
		}
	}
	return rounded(mean(list))
}

// byGroup finds what each data parallel rank and each stage cost, and of these two the
// smaller for each worker.
func (f *figures) byGroup() {
	dps := f.slowdowns(int32(f.out.DataParallel), func(i op) int32 { return f.DP[i] })
	stages := f.slowdowns(f.stages, func(i op) int32 { return f.Stage[i] })
	for i := range f.out.Workers {
		w := &f.out.Workers[i]
		w.Slowdown = min(dps[w.DP], stages[w.Stage])
	}
	f.out.ByDP, f.out.ByStage = sorted(dps), sorted(stages)
}

// slowdowns is what the operations of each of n numbers cost.
func (f *figures) slowdowns(n int32, of func(i op) int32) []float64 {
	list := make([]float64, n)
	for number := range n {
		list[number] = f.cost(func(i op) bool { return of(i) == number })
	}
	return list
}

func sorted(slowdowns []float64) []GroupSlowdown {
	list := make([]GroupSlowdown, len(slowdowns))
	for number, slowdown := range slowdowns {
		list[number] = GroupSlowdown{int32(number), slowdown}
	}
	slices.SortStableFunc(list, func(a, b GroupSlowdown) int { return cmp.Compare(b.Slowdown, a.Slowdown) })
	return list
}

// alone finds what each worker alone costs, where that many replays are affordable.
func (f *figures) alone() {
	if len(f.workers)*f.Len() > mostVisits {
		return
	}
	for w := range f.out.Workers {
		f.out.Workers[w].Alone = f.cost(func(i op) bool { return f.worker[i] == int32(w) })
	}
}

// worst lists the workers with the largest slowdowns; of equals those with lower ranks.
func (f *figures) worst() []int32 {
	order := make([]int32, len(f.out.Workers))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		return cmp.Compare(f.out.Workers[b].Slowdown, f.out.Workers[a].Slowdown)
	})
	return order[:int(math.Ceil(worstPart*float64(len(order))))]
}

func (f *figures) ofStage(stage int32) (list []int32) {
	for i, w := range f.out.Workers {
		if w.Stage == stage {
			list = append(list, int32(i))
		}
	}
	return list
}

// share finds for how much of the slowdown some workers account.
func (f *figures) share(workers []int32) Share {
	among := make([]bool, len(f.workers))
	var s Share
	for _, w := range workers {
		among[w] = true
		s.Ranks = append(s.Ranks, f.workers[w].Rank)
	}
	slices.Sort(s.Ranks)
	repaired := f.mean(func(i op) bool { return among[f.worker[i]] })
	alone := f.mean(func(i op) bool { return !among[f.worker[i]] })
	s.RepairedNS, s.AloneNS = rounded(repaired), rounded(alone)
	s.Removed = ratio(f.slow-repaired, f.slow-f.idealTime)
	s.Added = ratio(alone-f.idealTime, f.slow-f.idealTime)
	return s
}

// ratio is a/b, 0 where b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func rounded(mean float64) int64 { return int64(math.Round(mean)) }
