package gate

import (
	"math"
	"slices"

	"github.com/gaprof/gaprof/analyze/report"
)

// knowsSites reports whether the launch sites of a rank's collectives of a kind can be told:
// steps are those of an optimizer, and of the collectives at least one has a place and none is
// hidden in a CUDA graph. A rank without any launches none, which is known: of a run of several ranks if
// events of a device are there to tell.
func (v *view) knowsSites(rank int64, kind string) bool {
	if v.report.Source.StepSource != "optimizer" {
		return false
	}
	for _, c := range v.report.Collectives {
		if c.Rank == rank && c.Kind == kind {
			return slices.ContainsFunc(c.Sites, func(s report.LaunchSite) bool { return s.Site != "unknown" }) &&
				!slices.ContainsFunc(c.Sites, func(s report.LaunchSite) bool { return s.Site == "cuda_graph" })
		}
	}
	return v.single() || slices.ContainsFunc(v.report.Health.DeviceEvents, func(d report.DeviceEvents) bool {
		return d.Rank == rank && d.Count > d.Unlinked
	})
}

// single reports whether the run has one rank, which has no others to reduce with, or to differ from. Of steps in
// which nothing was recorded, neither backward passes nor devices, that is not known.
func (v *view) single() bool {
	world := v.report.Source.WorldSize
	return world != nil && *world == 1 && worked([]*report.Report{v.report})
}

// inOptimizer counts the collectives of a kind that are launched inside Optimizer.step.
func inOptimizer(short, kind, what string) Metric {
	return exact(short+".launched_in_optimizer.per_step",
		"collective_groups[kind="+kind+", site=optimizer_step].count",
		what+" of a step that are launched inside Optimizer.step", toHook, missSites, hostEvents|deviceEvents|links,
		func(v *view, s *report.Step) (float64, bool) {
			n := 0
			for _, g := range v.groups[place{s.Rank, s.Index}] {
				if g.Kind == kind && g.Site == "optimizer_step" {
					n += g.Count
				}
			}
			return float64(n), v.knowsSites(s.Rank, kind)
		})
}

// missingReductions is the metric of gradients that no rank shares.
var missingReductions = Metric{
	Name:       "reductions.missing",
	Unit:       Count,
	Path:       "gradient_sync[pattern=none]",
	Definition: "optimizers of a run of several ranks whose gradients no collective reduces",
	Next:       toBaseline,
	Missing:    missSync,
	touched:    hostEvents | deviceEvents | links,
	all:        unreduced,
}

// unreduced is 1 for each optimizer whose gradients are never reduced over ranks although
// there are several.
func unreduced(v *view) []sample {
	var list []sample
	for _, g := range v.report.GradientSync {
		if !known(g.Pattern) {
			continue
		}
		one := sample{0, g.Rank, -1}
		if world := v.report.Source.WorldSize; g.Pattern == "none" && world != nil && *world > 1 {
			one.value = 1
		}
		list = append(list, one)
	}
	return list
}

func launchedInOptimizer(v *view) []sample {
	var list []sample
	for _, rank := range v.report.Source.Ranks {
		if !v.knowsSites(rank, "reduce_scatter") {
			return nil
		}
		n := 0
		for _, c := range v.report.Collectives {
			for _, s := range c.Sites {
				if c.Rank == rank && c.Kind == "reduce_scatter" && s.Site == "optimizer_step" {
					n += s.Count
				}
			}
		}
		list = append(list, sample{float64(n), rank, -1})
	}
	return list
}

func accumulationSteps(v *view) []sample {
	var list []sample
	for i := range v.report.Steps {
		s := &v.report.Steps[i]
		for _, o := range s.Optimizers {
			if o.Accumulation != nil && s.Complete {
				list = append(list, sample{float64(*o.Accumulation), s.Rank, int64(s.Index)})
			}
		}
	}
	return list
}

// syncOf sums of(n) over the micro-batches, n being the collectives of each.
func syncOf(of func(collectives int) int) func(*view) []sample {
	return func(v *view) []sample {
		var list []sample
		for _, g := range v.report.GradientSync {
			if !known(g.Pattern) {
				continue
			}
			n := 0
			for _, c := range g.PerMicroBatch {
				n += of(c)
			}
			list = append(list, sample{float64(n), g.Rank, -1})
		}
		return list
	}
}

func tokenReductions(v *view) []sample {
	var list []sample
	for _, t := range v.report.TokenAllReduce {
		switch {
		case t.Present == nil:
		case !*t.Present:
			list = append(list, sample{0, t.Rank, -1})
		default:
			list = append(list, sample{float64(t.PerStep), t.Rank, -1})
		}
	}
	return list
}

func communicationOverlap(v *view) []sample {
	var list []sample
	for _, c := range v.report.Communication {
		if c.Ratio != nil {
			list = append(list, sample{*c.Ratio, c.Rank, -1})
		}
	}
	return list
}

// weightError is how far the weight of any token over 1/N is from 1. What rests on the
// user's declaration alone proves nothing and is unknown.
func weightError(v *view) []sample {
	n := &v.report.Normalization
	if n.Ratio == nil || !known(n.Basis) || n.Basis == "declared" {
		return nil
	}
	return []sample{{math.Max(math.Abs(n.Ratio.Min-1), math.Abs(n.Ratio.Max-1)), -1, -1}}
}

// observed reports whether the way of normalising was seen and not only declared.
func observed(n *report.Normalization) bool {
	return known(n.Mode) && known(n.Basis) && n.Basis != "declared"
}

func mismatches(v *view) []sample {
	if v.report.Matching.Matched+v.report.Matching.Mismatches == 0 && !v.single() {
		return nil
	}
	return []sample{{float64(v.report.Matching.Mismatches), -1, -1}}
}

// waits divides a time of each rank by its complete steps.
func waits(of func(*report.RankWaits) *int64) func(*view) []sample {
	return func(v *view) []sample {
		steps := make(map[int64]map[int]bool)
		for i := range v.report.Steps {
			if s := &v.report.Steps[i]; s.Complete {
				if steps[s.Rank] == nil {
					steps[s.Rank] = make(map[int]bool)
				}
				steps[s.Rank][s.Index] = true
			}
		}
		var list []sample
		for i := range v.report.Ranks {
			r := &v.report.Ranks[i]
			if t := of(r); t != nil && len(steps[r.Rank]) > 0 {
				list = append(list, sample{float64(*t) / float64(len(steps[r.Rank])), r.Rank, -1})
			}
		}
		return list
	}
}

// lost is how many device events have no launch, those at the start aside.
func lost(d *report.DeviceEvents) float64 {
	if d.Count == 0 {
		return 0
	}
	return float64(d.Unlinked-d.Edge) / float64(d.Count)
}

func unlinkedShare(v *view) []sample {
	var list []sample
	for i := range v.report.Health.DeviceEvents {
		d := &v.report.Health.DeviceEvents[i]
		list = append(list, sample{lost(d), d.Rank, -1})
	}
	return list
}

func findingsOf(severity report.Severity) Metric {
	return Metric{
		Name:       "findings." + string(severity),
		Unit:       Count,
		Path:       "findings[severity=" + string(severity) + "]",
		Definition: "findings of severity " + string(severity) + ", except those that the configuration ignores",
		Next:       toFindings,
		Missing:    missSteps,
		touched:    everything | otherRanks,
		findings:   severity,
		all: func(v *view) []sample {
			if !worked([]*report.Report{v.report}) {
				return nil
			}
			n := 0
			for i := range v.report.Findings {
				if f := &v.report.Findings[i]; f.Severity == severity && !v.ignored(f.Rule) {
					n++
				}
			}
			return []sample{{float64(n), -1, -1}}
		},
	}
}

// newFindings is the metric of what rules find that they did not find in the baseline.
var newFindings = Metric{
	Name: "findings.new",
	Unit: Count,
	Path: "findings",
	Definition: "findings above a note that the baseline does not have, or has at a lower severity and for a third " +
		"of the cost or less; one row for each; those about the trace itself (TH) are warnings, and so are " +
		"those about idle time (ID) or exposed communication (OV) of which a mean step has no more than in the " +
		"baseline",
	Next:    toFindings,
	Missing: missSteps,
	against: true,
	touched: hostEvents | deviceEvents | clocks | links | otherRanks,
}

// worked reports whether some complete step of a side is known to do anything: no rule can
// find a fault in steps of which nothing was recorded.
func worked(reports []*report.Report) bool {
	return slices.ContainsFunc(reports, func(r *report.Report) bool {
		return slices.ContainsFunc(r.Steps, func(s report.Step) bool {
			counted := func(o report.Optimizer) bool { return o.Accumulation != nil && *o.Accumulation > 0 }
			known := s.LinkedEvents > 0 || s.MicroBatches != nil && *s.MicroBatches > 0
			return s.Complete && (known || slices.ContainsFunc(s.Optimizers, counted))
		})
	})
}
