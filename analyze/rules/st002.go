package rules

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/facts"
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
			"one run; then it is unknown how long ranks wait for each other. What only some ranks recorded " +
			"at the start or the end is no damage: recordings begin and end at different moments. Where all " +
			"ranks recorded sequence numbers (Seq, in current versions of PyTorch also Comms Id), matching is " +
			"exact: one number on collectives that differ in kind, type or size is an error in the program " +
			"or a mix-up of files.",
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
			why = append(why, fmt.Sprintf("%s (%s): %s", nameOf(g), matchedBy(g), g.Reason))
			if g.Mismatches > 0 {
				severity = report.Warn
			}
		}
		for _, c := range g.Conflicts {
			if len(evidence)+2 <= maxEvidence {
				why = append(why, describeConflict(m, c))
				evidence = append(evidence, bothOf(m, c)...)
			}
		}
		for i, gap := range g.Gaps {
			gaps++
			severity = report.Warn
			if len(evidence) < maxEvidence {
				why = append(why, describeGap(m, gap)+onceFor(i, matchedBy(g)))
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
		parts = append(parts, units.Count(gaps, "collective")+" in the middle of the recordings missing on some ranks")
	}
	return strings.Join(parts, "; ")
}

// matchedBy says what decided which collectives of a group are the same.
func matchedBy(g *ranks.Group) string {
	switch g.Basis {
	case ranks.ByComms:
		return "matched by Comms Id and sequence number"
	case ranks.ByNumber:
		return "matched by sequence number"
	}
	return "aligned by signature"
}

// onceFor is text in brackets where i is 0, the first of several that it holds for.
func onceFor(i int, text string) string {
	if i > 0 {
		return ""
	}
	return " (" + text + ")"
}

// describeConflict says what two ranks have under one sequence number.
func describeConflict(m *analyze.Matched, c ranks.Conflict) string {
	var sides [2]string
	var seq int64
	for i, source := range c.Sources {
		r := m.Ranks[source]
		one := &r.Collectives[c.Collectives[i]]
		seq = one.Seq
		sides[i] = fmt.Sprintf("%s on rank %d", whatOf(one), r.ID)
	}
	return fmt.Sprintf("number %d is %s, but %s", seq, sides[0], sides[1])
}

// whatOf is what a collective does and how much: "all_reduce of 8192 Float".
func whatOf(c *facts.Collective) string {
	return fmt.Sprintf("%s of %d %s", c.Kind, max(c.InElems, c.OutElems), cmp.Or(c.Dtype, "elements"))
}

// bothOf are the kernels of a conflict.
func bothOf(m *analyze.Matched, c ranks.Conflict) (list []report.Evidence) {
	for i, source := range c.Sources {
		r := m.Ranks[source]
		list = append(list, analyze.EvidenceOf(r, r.Event(c.Collectives[i])))
	}
	return list
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
	if g.Desc != "" && g.Desc != g.Name {
		return fmt.Sprintf("process group %s (%s)", g.Name, g.Desc)
	}
	return "process group " + g.Name
}
