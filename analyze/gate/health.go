package gate

import (
	"fmt"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/trace"
)

// damage is what can be wrong with a trace, as bits.
type damage uint8

const (
	hostEvents   damage = 1 << iota // host events are missing
	deviceEvents                    // device events are missing
	clocks                          // times are in doubt
	streams                         // what overlaps what is in doubt
	links                           // which launch a device event belongs to is in doubt
	otherRanks                      // ranks of the run are missing

	everything = hostEvents | deviceEvents | clocks | streams | links // that a recording can have
)

// damageOf maps each problem to what it touches. Other problems above a note touch
// everything; other notes are repaired and touch nothing.
var damageOf = map[trace.Code]damage{
	trace.NegativeDuration: clocks,
	trace.DuplicateLaunch:  links,
	trace.ImpossibleDevice: clocks | links | deviceEvents,
	trace.OverlongDevice:   clocks | streams,
	trace.DroppedDevice:    deviceEvents,
	trace.CommOnCompute:    streams,
	trace.SuspectUnit:      clocks,
	trace.MissingDuration:  hostEvents | clocks | links, // where a span ends says what it holds
	trace.UnreadDuration:   clocks | streams,
	trace.ZeroDuration:     clocks | streams,
	trace.LostDevice:       deviceEvents | clocks | streams,
	trace.RepeatedDevice:   deviceEvents | clocks | streams,
	trace.DeviceClock:      clocks,
	trace.LostLaunches:     deviceEvents | clocks | streams | links,
	trace.LostHost:         hostEvents | clocks | links,
	trace.CrossedLaunches:  links,
	trace.Overlapping:      clocks | streams,
	trace.ClockOffset:      clocks,
	trace.ThreadClocks:     hostEvents | clocks | links,
	trace.TimeGap:          everything,
	trace.CopiedRank:       everything | otherRanks,
	trace.SwappedRanks:     otherRanks,
	trace.UnreadWorldSize:  otherRanks,
	trace.CrossingSpans:    hostEvents | clocks | links,
	trace.RankConflict:     0, // runs of one rank, whose steps are pooled
}

// lostShare is the share of device events without a launch, other than at the start, from
// which steps and launch sites are in doubt, as in rule TH004.
const lostShare = 0.01

// unhealthy returns why figures touched by this damage cannot be trusted, or "".
func unhealthy(reports []*report.Report, touched damage) string {
	var parts []string
	note := func(text string) {
		for _, p := range parts {
			if p == text {
				return
			}
		}
		parts = append(parts, text)
	}
	for _, r := range reports {
		for _, p := range r.Health.Problems {
			d, listed := damageOf[trace.Code(p.Code)]
			if !listed && p.Severity != string(trace.Note) {
				d = everything
			}
			if d&touched != 0 {
				note(p.Message)
			}
		}
		for i := range r.Health.DeviceEvents {
			if d := &r.Health.DeviceEvents[i]; lost(d) >= lostShare && touched&links != 0 {
				note(fmt.Sprintf("%.1f %% of the device events of rank %d have no launch in the recording",
					100*lost(d), d.Rank))
			}
		}
	}
	return strings.Join(parts, "; ")
}

// Damage returns in words what damage some reports have that touches any metric, or "".
func Damage(reports []*report.Report) string {
	if why := unhealthy(reports, everything); why != "" {
		return "the trace is unhealthy: " + why
	}
	return ""
}

// mismatch returns how two sides are not the same experiment, or "": device, world
// size, framework, model and accumulation must agree, and so must what makes a step. What
// only one side knows cannot agree.
func mismatch(base, new []*report.Report) string {
	var parts []string
	for _, f := range fingerprint {
		b, n := answers(base, f.of), answers(new, f.of)
		if b != n {
			parts = append(parts, fmt.Sprintf("%s: %s in the baseline, %s here", f.what, b, n))
		}
	}
	return strings.Join(parts, "; ")
}

// fingerprint is what must agree before times of two reports are compared.
var fingerprint = []struct {
	what string
	of   func(*report.Report) string
}{
	{"device", func(r *report.Report) string { return r.Source.Device }},
	{"world size", func(r *report.Report) string {
		if r.Source.WorldSize == nil {
			return "unknown"
		}
		return fmt.Sprint(*r.Source.WorldSize)
	}},
	{"framework", func(r *report.Report) string { return r.Source.Format }},
	{"model", func(r *report.Report) string { return r.Source.Fingerprint.Model }},
	{"accumulation steps", func(r *report.Report) string {
		if len(r.Source.Fingerprint.Accumulation) == 0 {
			return ""
		}
		return fmt.Sprint(r.Source.Fingerprint.Accumulation)
	}},
	{"steps by", func(r *report.Report) string { return r.Source.StepSource }},
}

// answers joins what the reports of a side say, each answer once.
func answers(reports []*report.Report, of func(*report.Report) string) string {
	var list []string
	for _, r := range reports {
		answer := of(r)
		if answer == "" {
			answer = "unknown"
		}
		found := false
		for _, a := range list {
			found = found || a == answer
		}
		if !found {
			list = append(list, answer)
		}
	}
	return strings.Join(list, " or ")
}
