package rules

import (
	"math"
	"slices"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/ranks"
)

// A rank that an operating system happens to stop once can cause most of the waiting of a
// short recording. A straggler is late in step after step.

const (
	fewSteps = 5   // with fewer nothing but the majority can be asked of
	chance   = 0.1 // greatest probability that equal ranks lead as often
)

// leads counts the steps in which waits were caused, and those of them in which the
// straggler caused the most, but for ranks that are late because of it, or it of them.
// Collectives launched outside the recording are left out.
func leads(m *analyze.Matched, same []bool) (led, steps int) {
	caused := make(map[int][]int64) // by step, by rank
	for _, g := range m.Groups {
		for i := range g.Collectives {
			c := &g.Collectives[i]
			if g.NoFigures != "" || c.Impossible || c.LatestAt <= c.NextAt {
				continue
			}
			step := stepOf(m, g, c)
			if step < 0 {
				continue
			}
			if caused[step] == nil {
				caused[step] = make([]int64, len(m.Sources))
			}
			caused[step][g.Ranks[c.Latest]] += (c.LatestAt - c.NextAt) * int64(len(g.Ranks)-1)
		}
	}
	for _, by := range caused {
		most := true
		for rank, ns := range by {
			most = most && (rank == m.Straggler || same[rank] || ns < by[m.Straggler])
		}
		if most {
			led++
		}
	}
	return led, len(caused)
}

// stepOf is the step of a collective, from the first rank that knows it, counted from the
// end of the recording: ranks may begin with different steps.
func stepOf(m *analyze.Matched, g *ranks.Group, c *ranks.Collective) int {
	for k, source := range g.Ranks {
		r := m.Ranks[source]
		if step := messageOf(r, c, k).Step; step >= 0 {
			return len(r.Steps) - 1 - step
		}
	}
	return -1
}

// steady reports whether the straggler leads more often than one of equal ranks would: in
// most of few steps; in so many of more that a rank does so with a probability of at most
// chance. That is Bonferroni's bound on the binomial tail with p = 1/ranks.
func steady(led, steps, ranks int) bool {
	if steps < fewSteps {
		return 2*led > steps
	}
	return float64(ranks)*binomialTail(led, steps, 1/float64(ranks)) <= chance
}

// binomialTail is the probability of at least k successes in n trials of probability p.
func binomialTail(k, n int, p float64) float64 {
	sum := 0.0
	for i := k; i <= n; i++ {
		logChoose := lgamma(n+1) - lgamma(i+1) - lgamma(n-i+1)
		sum += math.Exp(logChoose + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return min(sum, 1)
}

func lgamma(n int) float64 {
	v, _ := math.Lgamma(float64(n))
	return v
}

// majority counts in how many steps something that costs the time of the host is possible,
// and in how many of them it is so. What the host does once in a recording, because the
// operating system or the profiler holds it up, is no habit of the loop.
type majority struct {
	steps map[int]bool // whether it is so, by step
	have  int
}

// add notes one case of a step: one that is so is enough.
func (m *majority) add(step int, so bool) {
	if m.steps == nil {
		m.steps = make(map[int]bool)
	}
	if so && !m.steps[step] {
		m.have++
	}
	m.steps[step] = m.steps[step] || so
}

// holds reports whether it is so in more than half of the steps.
func (m *majority) holds() bool { return 2*m.have > len(m.steps) }

// steadyGap is the share of a span that is gaps from which a step shows the habit, half of
// the one that makes it a finding: a step just below that bound does not speak against it.
const steadyGap = launchBoundGap / 2

// steadyPasses lists the passes of each rank for which slow is true, if most of the steps
// with a pass of that kind for which of is true show it: they are slow, or have steadyGap.
func steadyPasses(p *analyze.Pass, of, slow func(*analyze.Rank, *gradients.Pass) bool) []found {
	type habit struct {
		rank *analyze.Rank
		kind gradients.PassKind
	}
	most := make(map[habit]*majority)
	all := passes(p, of)
	for _, f := range all {
		h := habit{f.rank, f.pass.Kind}
		if most[h] == nil {
			most[h] = &majority{}
		}
		most[h].add(f.pass.Step, slow(f.rank, f.pass) || gapShare(f.pass) > steadyGap)
	}
	return slices.DeleteFunc(all, func(f found) bool {
		return !slow(f.rank, f.pass) || !most[habit{f.rank, f.pass.Kind}].holds()
	})
}

// gapShare is the share of a pass in which the device does nothing.
func gapShare(gp *gradients.Pass) float64 {
	if gp.Span == 0 {
		return 0
	}
	return float64(max(0, gp.Span-gp.OtherIn-gp.Busy)) / float64(gp.Span)
}
