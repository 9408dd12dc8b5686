package rules

import (
	"math"

	"github.com/gaprof/gaprof/analyze"
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
