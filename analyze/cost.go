package analyze

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/internal/bounded"
)

// Cost gathers what a rule claims step by step.
type Cost struct {
	claimed map[stepKey]int64
	kinds   []string
	host    bool // some of it is time of the host, of which no ledger of a device knows
}

type stepKey struct {
	rank *Rank
	step int
}

// Add notes ns of one step.
func (c *Cost) Add(r *Rank, step int, ns int64) {
	if ns <= 0 {
		return
	}
	if c.claimed == nil {
		c.claimed = make(map[stepKey]int64)
	}
	c.claimed[stepKey{r, step}] += ns
	if k := r.Steps[step].Kind; !slices.Contains(c.kinds, k) {
		c.kinds = append(c.kinds, k)
		slices.Sort(c.kinds)
	}
}

// AddHost notes ns of the host's own time in one step: it varies from run to run.
func (c *Cost) AddHost(r *Rank, step int, ns int64) {
	c.Add(r, step, ns)
	c.host = c.host || ns > 0
}

// PerStep is the mean over the complete steps of the kinds that cost anything, and the
// duration of a step that it is a share of, both in ns: their median, or their mean where
// a few long steps make the cost exceed the median. A step on several devices of one rank
// counts as the mean of them. Without complete steps all steps count; partial is then true.
func (c *Cost) PerStep(ranks []*Rank) (mean, step int64, partial bool) {
	for _, all := range []bool{false, true} {
		var sum, total bounded.Sum
		var durations []int64
		c.each(ranks, all, func(_ *Rank, duration, ns int64) {
			sum.Add(ns)
			total.Add(duration)
			durations = append(durations, duration)
		})
		if n := len(durations); n > 0 {
			slices.Sort(durations)
			mean, median := sum.Mean(), bounded.Middle(durations[(n-1)/2], durations[n/2])
			if mean > median {
				return mean, total.Mean(), all
			}
			return mean, median, all
		}
	}
	return 0, 0, true
}

// each visits the steps that PerStep is the mean of: their rank, duration and cost, in ns.
func (c *Cost) each(ranks []*Rank, all bool, visit func(r *Rank, duration, ns int64)) {
	for _, r := range ranks {
		for i := range r.Steps {
			s := &r.Steps[i]
			d := Duration(r, s)
			if d == 0 || !r.Selected(i) || !slices.Contains(c.kinds, s.Kind) || !s.Complete && !all {
				continue
			}
			visit(r, d, c.claimed[stepKey{r, i}]/devicesOf(s))
		}
	}
}

// Few is in how many steps of how many nearly all of the cost lies, if those are no more than
// one in fewShare, else 0; of the steps that PerStep is the mean of, on ranks on which any costs
// something. on is how many ranks those are, whole says that the other steps cost nothing at all.
func (c *Cost) Few(ranks []*Rank) (few, of, on int, whole bool) {
	costly := make(map[*Rank]bool)
	for key := range c.claimed {
		costly[key.rank] = true
	}
	for _, all := range []bool{false, true} {
		var costs []int64
		var sum int64
		c.each(ranks, all, func(r *Rank, _, ns int64) {
			if costly[r] {
				costs, sum = append(costs, ns), sum+ns
			}
		})
		if len(costs) == 0 {
			continue
		}
		slices.SortFunc(costs, func(a, b int64) int { return cmp.Compare(b, a) })
		rest := sum
		for rest > sum/nearly {
			rest -= costs[few]
			few++
		}
		if fewShare*few > len(costs) {
			few = 0
		}
		return few, len(costs), len(costly), rest == 0
	}
	return 0, 0, 0, false
}

// Nearly all of a cost is all but one part of so many, and few steps are at most one of so many.
const (
	nearly   = 10
	fewShare = 4
)

// total is everything claimed, in ns, over all steps.
func (c *Cost) total() int64 {
	var n int64
	for _, ns := range c.claimed {
		n += ns
	}
	return n
}

// devicesOf is on how many devices a step runs, at least one.
func devicesOf(s *facts.Step) int64 { return max(1, int64(len(s.Windows))) }

// Duration is the length of a step in ns: on its devices, their mean, and 0 where it has
// no window there; on the host where the rank has no device at all.
func Duration(r *Rank, s *facts.Step) int64 {
	if len(r.Devices) == 0 {
		return s.HostDuration()
	}
	var d int64
	for _, w := range s.Windows {
		d += w.End - w.Start
	}
	return d / devicesOf(s)
}
