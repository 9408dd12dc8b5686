package calibration

import (
	"fmt"
	"math"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/ranks"
)

// Uneven is how unevenly ranks come to their collectives. What a rank waits in a step is what the slowest one computes
// longer; if kernels of a rank take in a step a factor of what they should, which is normal with a deviation, that is
// the expected maximum of as many draws, times the deviation, times what is computed.
type Uneven struct {
	Steps   int     // in the recordings of all ranks
	Wait    int64   // of a rank in a step, mean, ns
	Compute int64   // of a rank in a step, mean, ns
	Factor  float64 // standard deviation of the factor
	Why     string  // why it is unknown, "" where it is known
}

// mostIdle is the share of the time that devices may be idle where only their kernels make ranks late.
const mostIdle = 0.05

// unevenOf measures it: the waits of collectives that all ranks recorded, else what those of a rank take beyond their
// transfers.
func unevenOf(list []*Samples, matched *ranks.Result, transfers []Transfer) Uneven {
	var u Uneven
	var wait, compute int64
	world, idle := int64(0), 0.0
	least := make(map[string]map[[2]int64]int64)
	for _, t := range transfers {
		if least[t.Kind] == nil {
			least[t.Kind] = make(map[[2]int64]int64)
		}
		least[t.Kind][[2]int64{t.Ranks, t.Bytes}] = t.NS
	}
	for i, s := range list {
		rank := matched.Sources[i].Rank
		u.Steps += len(rank.Steps)
		compute, idle = compute+s.Compute, max(idle, s.Idle)
		world = max(world, rank.WorldSize)
		if len(list) > 1 && matched.Figures[i].Known {
			wait += matched.Figures[i].Wait
			continue
		}
		for k := range rank.Collectives {
			wait += waited(&rank.Collectives[k], least)
		}
	}
	switch {
	case world < 2 || len(transfers) == 0:
		u.Why = "no collectives whose waits are known"
	case u.Steps == 0:
		u.Why = "no steps"
	case compute == 0:
		u.Why = "no kernels that compute"
	case idle > mostIdle:
		u.Why = fmt.Sprintf("devices are idle for %.0f %% of the time: ranks are late because of their hosts, too",
			100*idle)
	}
	if u.Why != "" {
		return u
	}
	u.Wait, u.Compute = wait/int64(u.Steps), compute/int64(u.Steps)
	u.Factor = float64(u.Wait) / float64(u.Compute) / expectedMaximum(world)
	return u
}

// waited is what a collective of one rank takes beyond its transfer, 0 where that is not known.
func waited(c *facts.Collective, least map[string]map[[2]int64]int64) int64 {
	m, ok := messageOf(c)
	transfer, known := least[m.kind.String()][[2]int64{m.ranks, m.bytes}]
	if !ok || !known {
		return 0
	}
	return max(0, c.End-c.Start-transfer)
}

// expectedMaximum of n draws of a standard normal, by Blom's approximation of its quantile.
func expectedMaximum(n int64) float64 {
	p := (float64(n) - 0.375) / (float64(n) + 0.25)
	return math.Sqrt2 * math.Erfinv(2*p-1)
}
