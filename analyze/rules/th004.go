package rules

import (
	"fmt"
	"slices"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/trace"
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
		Fix: "at the start: record one step more than you look at (schedule(wait=1, " +
			"warmup=1, active=N)); elsewhere: record fewer steps, or give the profiler a larger buffer",
	},
	Needs: []analyze.Need{analyze.NeedDevice},
	Run:   runTH004,
}

// lostShare is the share of device events without a launch, other than at the
// start, from which figures by step and launch site are in doubt.
const lostShare = 0.01

// What helps depends on where the launches are missing. Kineto stops where its buffers are
// full, 128 MB unless its configuration file says otherwise, and CUPTI drops what finds no
// room: launch calls as well as kernels.
const (
	fixAtStart = "record a step more than you look at (schedule(wait=1, warmup=1, active=N)); " +
		"keep CPU activity switched on"
	fixLost = "recording more steps would lose more: record fewer (active=1 or 2) and fewer activities " +
		"(no with_stack, record_shapes or profile_memory), or raise the buffer of the profiler: " +
		"ACTIVITIES_MAX_GPU_BUFFER_SIZE_MB=512 in the file that KINETO_CONFIG names (128 unless set); " +
		"look for its warnings about dropped records and full buffers in the log"
	fixNoLaunch = "record the host together with the device: activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"
)

func runTH004(p *analyze.Pass) {
	var events, unlinked, atStart, cut, unknown, collectives int
	f := report.Finding{}
	for _, r := range p.Ranks {
		events += r.DeviceEvents
		unlinked += r.Unlinked
		atStart += r.UnlinkedAtStart
		if cutOff(r) {
			cut += r.Unlinked - r.UnlinkedAtStart
		}
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
	f.Fix = fixAtStart
	if cut > 0 {
		where = fmt.Sprintf("%d of them in a file that ends early: their launches stood behind the cut", cut)
	}
	if lost := unlinked - atStart - cut; lost > 0 {
		where = fmt.Sprintf("%d of them not at the start of the recording", lost)
		if float64(lost) >= lostShare*float64(events) {
			severity = report.Warn
		}
		if severity == report.Warn || lost > atStart {
			advice{fix: fixLost, before: "schedule = torch.profiler.schedule(wait=1, warmup=1, active=6, repeat=1)",
				after: "schedule = torch.profiler.schedule(wait=1, warmup=1, active=1, repeat=1)"}.give(&f)
		}
	}
	if unlinked == events {
		where = "so nothing can be said of steps and launch sites"
		advice{fix: fixNoLaunch, before: "profile(activities=[ProfilerActivity.CUDA])",
			after: "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])"}.give(&f)
	}
	f.Message = fmt.Sprintf("%d of %d device events have no launch in the recording, %s", unlinked, events, where)
	f.Why = fmt.Sprintf("they count in totals and belong to no step; %d of %d collectives have no known launch site",
		unknown, collectives)
	p.Report(severity, f)
}

// cutOff reports whether the file of a rank ends in the middle, so that launches may stand in the part
// that is not there: TH001 says so.
func cutOff(r *analyze.Rank) bool {
	return slices.ContainsFunc(r.Problems, func(p trace.Problem) bool { return p.Code == trace.Truncated })
}

func firstUnlinked(r *analyze.Rank, n int) []report.Evidence {
	var list []report.Evidence
	for _, row := range r.FirstUnlinked[:min(n, len(r.FirstUnlinked))] {
		list = append(list, analyze.EvidenceOf(r, row))
	}
	return list
}
