package rules

import (
	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/lateness"
)

// tellOfOwn tells the rule about data loading what a finding about the straggler says already: of the late
// rank, the one at the end of a chain of them, that its device waits for data, as the others wait for it.
// Other causes of idle time are spread over a step, and only a part of them makes a rank late.
func tellOfOwn(p *analyze.Pass, m *analyze.Matched) {
	l := lateness.Find(m.Result, m.Straggler)
	for l != nil && l.Because != nil {
		l = l.Because
	}
	if l != nil && l.Cause == lateness.DataLoading {
		p.Explain(m.Ranks[l.Rank], lateRules[l.Cause], spentOn(m, l))
	}
}
