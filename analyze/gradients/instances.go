package gradients

import (
	"slices"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// instanceRun is the spans of one update whose optimizers have one name and touch as many
// parameters of each class: one optimizer, or several that are alike.
type instanceRun struct {
	step    int
	touches // of one of them
	spans   int
}

// No program has so many optimizer spans, nor so many with so many classes of parameters: only a
// hostile file does.
const mostSpans, mostWork = 10_000, 1_000_000

// tooMany reports whether there are too many spans to look at what each of them touches.
func tooMany(spans, classes int) bool { return spans > mostSpans || spans*classes > mostWork }

// instances lists the spans of an optimizer's name by update and by what they touch; nil where
// there is no need to, as one span steps all parameters that backward reaches and no other
// optimizer has some of their shapes, or where shapes do not show what is touched. Optimizers of
// one class share their name: those of a generator and a discriminator, of an actor and its critics.
func instances(t *stepping, o *Optimizer, list []steps.Step, passes []Backward) []instanceRun {
	x, params := t.x, t.params
	var runs []instanceRun
	if tooMany(len(x.Optimizers), len(params.Classes)) {
		return nil
	}
	needed := len(o.Classes) == 0 || slices.ContainsFunc(passes, func(b Backward) bool {
		return float64(params.reached(b.Accumulated)) < coverage*float64(params.Count)
	})
	at := 0
	for _, step := range o.Updates {
		first := len(runs)
		for ; at < len(x.Optimizers) && x.Optimizers[at].Start < list[step].HostEnd; at++ {
			span := x.Optimizers[at]
			if timeline.OptimizerName(x.Name(span.Row)) != o.Name {
				continue
			}
			if x.InBackward(span.Row) {
				return nil
			}
			r := instanceRun{step: step, touches: t.touched(span), spans: 1}
			if total(r.counts) == 0 {
				return nil
			}
			runs = addRun(runs, first, r)
		}
		needed = needed || severalRuns(runs[first:])
	}
	if !needed {
		return nil
	}
	return runs
}

// severalRuns reports whether runs of one step are of more than one span.
func severalRuns(runs []instanceRun) bool {
	return len(runs) > 1 || len(runs) == 1 && runs[0].spans > 1
}

// addRun adds a span to the run of the same instance in its step, the runs from first on, or
// begins one.
func addRun(runs []instanceRun, first int, r instanceRun) []instanceRun {
	same := slices.IndexFunc(runs[first:], func(i instanceRun) bool { return i.kind == r.kind })
	if same < 0 {
		return append(runs, r)
	}
	runs[first+same].spans++
	return runs
}

func total(counts []int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// accumulationsOf counts, for each update of an optimizer's name, how often a gradient was
// accumulated for what steps there: since the same steps before, and since its gradients were
// cleared. It takes the mode over the parameters that were reached.
func accumulationsOf(runs []instanceRun, o *Optimizer, list []steps.Step, passes []Backward) []int {
	last := make(map[int]int) // index of the step after that of the last run, by kind
	votes := make(map[int]map[int]int)
	for i := range runs {
		r := &runs[i]
		own := between(passes, list[last[r.kind]].HostStart, list[r.step].HostEnd)
		last[r.kind] = r.step + 1
		own = own[r.lastClear(own):]
		if votes[r.step] == nil {
			votes[r.step] = make(map[int]int)
		}
		for class, n := range r.counts {
			sum, all := 0, n*r.spans
			for k := range own {
				sum += min(own[k].of(class), all) // others may have parameters of the class, too
			}
			if sum > 0 {
				votes[r.step][max(1, (sum+all/2)/all)] += all
			}
		}
	}
	counts := make([]int, len(o.Updates))
	for k, step := range o.Updates {
		counts[k] = mostVoted(votes[step])
	}
	return counts
}

// lastClear returns the index of the last of some backward passes before which the gradients of
// a run's parameters were cleared, as it sets them rather than adding to them.
func (r *instanceRun) lastClear(passes []Backward) int {
	if r.spans > 1 { // each has gradients of its own
		return 0
	}
	for i := len(passes) - 1; i > 0; i-- {
		b := &passes[i]
		reached, set := 0, 0
		for class, n := range r.counts {
			reached += min(n, b.of(class))
			if class < len(b.Added) {
				set += min(n, b.of(class)-b.Added[class])
			}
		}
		if 2*reached >= total(r.counts) && float64(set) >= coverage*float64(reached) {
			return i
		}
	}
	return 0
}

// mostVoted returns the number with most votes, the greater of two with as many; Unknown
// without any.
func mostVoted(votes map[int]int) int {
	best := Unknown
	for n, v := range votes {
		if best == Unknown || v > votes[best] || v == votes[best] && n > best {
			best = n
		}
	}
	return best
}
