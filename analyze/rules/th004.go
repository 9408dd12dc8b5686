package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
)

// TH004 says that device events have no launch in the recording.
var TH004 = analyze.Rule{
	ID:    "TH004",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "device events without a launch",
		Why: "Work that was launched before the recording began belongs to no step and " +
			"has no known launch site. At the start of a recording that is normal: the " +
			"device runs behind the host. Elsewhere it means that launches were lost.",
		Fix: "record a step more than you look at (schedule(wait=1, " +
			"warmup=1, active=N)); keep CPU activity switched on",
	},
	Needs: []analyze.Need{analyze.NeedDevice},
	Run:   runTH004,
}

// lostShare is the share of device events without a launch, other than at the
// start, from which figures by step and launch site are in doubt.
const lostShare = 0.01

func runTH004(p *analyze.Pass) {
	var events, unlinked, atStart, unknown, collectives int
	f := report.Finding{}
	for _, r := range p.Ranks {
		events += r.DeviceEvents
		unlinked += r.Unlinked
		atStart += r.UnlinkedAtStart
		collectives += len(r.Collectives)
		for i := range r.Collectives {
			if !r.Collectives[i].Linked {
				unknown++
			}
		}
		f.Evidence = append(f.Evidence, firstUnlinked(r, maxEvidence-len(f.Evidence))...)
	}
	if unlinked == 0 {
		return
	}
	severity, where := report.Note, "all at the start of the recording"
	if lost := unlinked - atStart; lost > 0 {
		where = fmt.Sprintf("%d of them not at the start of the recording", lost)
		if float64(lost) >= lostShare*float64(events) {
			severity = report.Warn
		}
	}
	if unlinked == events {
		where = "so nothing can be said of steps and launch sites"
	}
	f.Message = fmt.Sprintf("%d of %d device events have no launch in the recording, %s", unlinked, events, where)
	f.Why = fmt.Sprintf("they count in totals and belong to no step; %d of %d collectives have no known launch site",
		unknown, collectives)
	p.Report(severity, f)
}

func firstUnlinked(r *analyze.Rank, n int) []report.Evidence {
	var list []report.Evidence
	for _, row := range r.FirstUnlinked[:min(n, len(r.FirstUnlinked))] {
		list = append(list, analyze.EvidenceOf(r, row))
	}
	return list
}
