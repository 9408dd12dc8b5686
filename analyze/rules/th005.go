package rules

import (
	"fmt"
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/ranks"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// TH005 says that the clocks of ranks cannot be compared.
var TH005 = analyze.Rule{
	ID:    "TH005",
	Scope: analyze.AllRanks,
	Doc: analyze.Doc{
		Title: "clocks of ranks that cannot be compared",
		Why: "Ranks leave a collective at nearly the same moment. Where one rank leaves all of them early " +
			"or late, its clock is off, and who waits for whom cannot be read from start times. " +
			"Times that contradict each other, such as an end before the last start, show the same.",
		Fix: "synchronize the clocks of the hosts (PTP, chrony); {align-clocks} subtracts " +
			"from each rank's times the median distance of its ends from those of the others",
	},
	Needs: []analyze.Need{analyze.NeedRanks, analyze.NeedDevice, analyze.NeedCollectives},
	Run:   runTH005,
}

func runTH005(p *analyze.Pass) {
	m := p.Matched()
	severity := report.Note
	var why []string
	var evidence []report.Evidence
	for _, g := range m.Groups {
		if g.Status != ranks.Matched {
			continue
		}
		switch {
		case g.NoFigures != "":
			severity = report.Warn
			why = append(why, fmt.Sprintf("%s: %s", nameOf(g), g.NoFigures))
		case g.Impossible > 0:
			why = append(why, fmt.Sprintf("%s: %d of %d collectives have impossible times and are left out",
				nameOf(g), g.Impossible, len(g.Collectives)))
		case g.OnHosts:
			why = append(why, fmt.Sprintf(
				"%s: its ranks run on several hosts, so clock residuals of up to %s were subtracted",
				nameOf(g), units.Microseconds(largest(g.Residual))))
		default:
			continue
		}
		evidence = append(evidence, clockEvidence(m, g, maxEvidence-len(evidence))...)
	}
	if len(why) == 0 {
		return
	}
	message := "waiting between ranks is measured on clocks that had to be aligned or that contradict each other"
	if severity == report.Warn {
		message = "the clocks of the ranks cannot be compared: no rank's waiting is known"
		if p.WaitsKnown() {
			message = "the clocks of some ranks cannot be compared: the waiting in their process group is unknown"
		}
	}
	p.Report(severity, report.Finding{Message: message, Why: strings.Join(why, "; "), Evidence: evidence})
}

func largest(list []int64) int64 {
	most := int64(0)
	for _, n := range list {
		most = max(most, n, -n)
	}
	return most
}

// clockEvidence shows what contradicts itself: the impossible collectives, else the
// last one on the ranks whose clocks are off.
func clockEvidence(m *analyze.Matched, g *ranks.Group, n int) []report.Evidence {
	var list []report.Evidence
	show := func(k int, c *ranks.Collective) {
		if r := m.Ranks[g.Ranks[k]]; len(list) < n {
			list = append(list, analyze.EvidenceOf(r, r.Event(int(c.OfRank[k]))))
		}
	}
	for i := range g.Collectives {
		if c := &g.Collectives[i]; c.Impossible {
			show(c.Latest, c)
		}
	}
	for _, k := range g.OffClock {
		show(k, &g.Collectives[len(g.Collectives)-1])
	}
	return list
}

func messageOf(r *analyze.Rank, c *ranks.Collective, k int) *facts.Collective {
	return &r.Collectives[c.OfRank[k]]
}
