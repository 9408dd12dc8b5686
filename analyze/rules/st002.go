package rules

import (
	"fmt"
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/ranks"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/units"
)

// ST002 says that the ranks' collectives do not belong together.
var ST002 = analyze.Rule{
	ID:    "ST002",
	Scope: analyze.AllRanks,
	Doc: analyze.Doc{
		Title: "unmatched collectives",
		Why: "All ranks of a process group run the same collectives in the same order. Where the traces " +
			"do not show that, an event was lost, the recordings do not overlap, or the files are not of " +
			"one run; how long ranks wait for each other is unknown then. What only some ranks recorded " +
			"at the start or the end is no damage: recordings begin and end at different moments.",
		Fix: "record all ranks in the same steps of one run (the same schedule on every " +
			"rank), with a PyTorch that writes Seq; pass the traces of that run alone",
	},
	Needs: []analyze.Need{analyze.NeedRanks, analyze.NeedDevice, analyze.NeedCollectives},
	Run:   runST002,
}

func runST002(p *analyze.Pass) {
	m := p.Matched()
	var why []string
	var evidence []report.Evidence
	severity, unmatched, gaps := report.Note, 0, 0
	for _, g := range m.Groups {
		if g.Status == ranks.Unmatched {
			unmatched++
			why = append(why, fmt.Sprintf("%s: %s", nameOf(g), g.Reason))
			if g.Mismatches > 0 {
				severity = report.Warn
			}
		}
		for _, gap := range g.Gaps {
			gaps++
			severity = report.Warn
			if len(evidence) < maxEvidence {
				why = append(why, describeGap(m, gap))
				owner := m.Ranks[gap.Owner]
				evidence = append(evidence, analyze.EvidenceOf(owner, owner.Event(gap.Collective)))
			}
		}
	}
	if unmatched+gaps == 0 {
		return
	}
	p.Report(severity, report.Finding{
		Message:  unmatchedText(unmatched, gaps),
		Why:      strings.Join(why, "; "),
		Evidence: evidence,
	})
}

func unmatchedText(groups, gaps int) string {
	var parts []string
	if groups > 0 {
		parts = append(parts,
			"the collectives of "+units.Count(groups, "process group")+" could not be matched between ranks")
	}
	if gaps > 0 {
		parts = append(parts, units.Count(gaps, "collective")+" in the middle of the recordings not on all ranks")
	}
	return strings.Join(parts, "; ")
}

func describeGap(m *analyze.Matched, gap ranks.Gap) string {
	owner := m.Ranks[gap.Owner]
	e := analyze.EvidenceOf(owner, owner.Event(gap.Collective))
	if gap.Extra {
		return fmt.Sprintf("rank %d alone has %s at %.3f us", owner.ID, timeline.ShortKernel(e.Name), units.US(e.Start))
	}
	return fmt.Sprintf("rank %d lacks what rank %d has at %.3f us (%s)", m.Ranks[gap.Rank].ID, owner.ID,
		units.US(e.Start), timeline.ShortKernel(e.Name))
}

func nameOf(g *ranks.Group) string {
	if g.Name == "" {
		return "the process group"
	}
	return "process group " + g.Name
}
