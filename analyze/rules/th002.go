package rules

import (
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/trace"
)

// TH002 says that device events are missing or impossible.
var TH002 = analyze.Rule{
	ID:    "TH002",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "device events were dropped or are impossible",
		Why: "A kernel that the profiler lost counts as idle time; one that starts before its launch shows that " +
			"host and device clocks disagree, and then phases, waits and gaps between host and device are wrong.",
		Fix: "record fewer steps or give the profiler a larger buffer; check the clocks of host and device",
	},
	Needs: []analyze.Need{analyze.NeedDevice},
	Run:   runTH002,
}

// deviceDamage are the problems that TH002 reports and TH001 does not.
var deviceDamage = map[trace.Code]bool{
	trace.DroppedDevice: true, trace.ImpossibleDevice: true, trace.DuplicateLaunch: true, trace.LostDevice: true,
	trace.RepeatedDevice: true, trace.DeviceClock: true, trace.UnreadDuration: true, trace.ZeroDuration: true,
	trace.LostLaunches: true, trace.CrossedLaunches: true, trace.Overlapping: true, trace.ClockOffset: true,
}

func runTH002(p *analyze.Pass) {
	var parts []string
	for _, problem := range p.Problems {
		if deviceDamage[trace.Code(problem.Code)] {
			parts = append(parts, describeProblem(problem))
		}
	}
	if len(parts) == 0 {
		return
	}
	f := report.Finding{Message: "device events are missing or impossible", Why: strings.Join(parts, "; ")}
	for _, r := range p.Ranks {
		for _, row := range r.Impossible {
			if len(f.Evidence) < maxEvidence {
				f.Evidence = append(f.Evidence, analyze.EvidenceOf(r, row))
			}
		}
	}
	p.Report(report.Warn, f)
}
