package gate

import (
	"math"
	"slices"

	"github.com/gaprof/gaprof/analyze/report"
)

// place is a step of a rank.
type place struct {
	rank int64
	step int
}

// view is a report with what a gate selects of it, found by step.
type view struct {
	report  *report.Report // steps that were not selected are left out
	ignored func(rule string) bool
	groups  map[place][]*report.CollectiveGroup
	passes  map[place][]*report.GradientPass
}

func newView(r *report.Report, ignored func(string) bool) *view {
	v := &view{report: r, ignored: ignored, groups: make(map[place][]*report.CollectiveGroup), passes: make(map[place][]*report.GradientPass)}
	for i := range r.Groups {
		if g := &r.Groups[i]; g.Step != nil && !g.Inferred {
			v.groups[place{g.Rank, *g.Step}] = append(v.groups[place{g.Rank, *g.Step}], g)
		}
	}
	for i := range r.GradientPasses {
		p := &r.GradientPasses[i]
		v.passes[place{p.Rank, p.Step}] = append(v.passes[place{p.Rank, p.Step}], p)
	}
	return v
}

// hostless is what a metric of device time misses.
const hostless = missDevice + "; step.host_time is of the host"

func timeOf(name, path, definition, next, bench string, of func(*report.Step) *int64, missing string) Metric {
	return Metric{Name: name, Unit: Nanoseconds, Path: path, Definition: definition, Next: next, Missing: missing, timed: true,
		touched: deviceEvents | clocks | links, bench: bench, better: "lower",
		step: func(_ *view, s *report.Step) (float64, bool) {
			v := of(s)
			if v == nil {
				return 0, false
			}
			return float64(*v), true
		}}
}

// ledger is a metric of a bucket of the ledger.
func ledger(name, bucket, definition, next string, of func(*report.Ledger) int64) Metric {
	m := timeOf(name, "steps[].ledger_ns."+bucket, definition+", in a step", next, benchUnit(name), func(s *report.Step) *int64 {
		if s.Ledger == nil {
			return nil
		}
		v := of(s.Ledger)
		return &v
	}, missDevice)
	return m
}

// benchUnit makes rs-exposed-ns/op of rs.exposed.time.
func benchUnit(name string) string {
	out := []rune{}
	for _, r := range name[:len(name)-len(".time")] {
		if r == '.' {
			r = '-'
		}
		out = append(out, r)
	}
	return string(out) + "-ns/op"
}

func exposed(short, bucket, what string, of func(*report.Ledger) int64) Metric {
	m := ledger(short+".exposed.time", bucket, "time of "+what+" that nothing hides", toOverlap, of)
	m.touched |= streams
	return m
}

// overlapOf is the overlap of one kind of collective by step.
func overlapOf(short, kind, what string) Metric {
	return Metric{Name: short + ".overlap.ratio", Unit: Ratio, Path: "collective_groups[kind=" + kind + "].{overlapped_ns, busy_ns}",
		Definition: "share of the " + what + " launched in a step that compute kernels hide", Next: toOverlap, Missing: missComm,
		timed: true, touched: deviceEvents | clocks | streams | links, bench: short + "-overlap", better: "higher",
		step: func(v *view, s *report.Step) (float64, bool) {
			var busy, over int64
			for _, g := range v.groups[place{s.Rank, s.Index}] {
				if g.Kind == kind {
					busy, over = busy+g.Busy, over+g.Over
				}
			}
			return float64(over) / float64(busy), busy > 0
		}}
}

// passTime is the span of gradient passes of a kind, "" of any, in a step.
func passTime(name, kind, what string) Metric {
	return Metric{Name: name, Unit: Nanoseconds, Path: "gradient_passes[" + ofKind(kind) + "].span_ns", Definition: "time from the first start to the last end of " + what + ", in a step",
		Next: toFold, Missing: missShapes, timed: true, touched: hostEvents | deviceEvents | clocks | links, bench: benchUnit(name), better: "lower",
		step: func(v *view, s *report.Step) (float64, bool) {
			sum := int64(0)
			for _, p := range v.passes[place{s.Rank, s.Index}] {
				if kind == "" || p.Kind == kind {
					sum += p.Span
				}
			}
			return float64(sum), v.knowsParameters()
		}}
}

func ofKind(kind string) string {
	if kind == "" {
		return ""
	}
	return "kind=" + kind
}

// knowsParameters reports whether gradient passes could be found at all.
func (v *view) knowsParameters() bool { return known(v.report.Source.Fingerprint.Model) }

// known reports whether a text of the report says something.
func known(text string) bool { return text != "" && text != "unknown" }

func exact(name, path, definition, next, missing string, touched damage, of func(*view, *report.Step) (float64, bool)) Metric {
	return Metric{Name: name, Unit: Count, Path: path, Definition: definition, Next: next, Missing: missing, touched: touched, step: of}
}

// passCount is the number of gradient passes of a kind, and of a verdict unless empty.
func passCount(name, kind string, verdict report.Verdict, what, next string) Metric {
	path := "gradient_passes[kind=" + kind
	if verdict != "" {
		path += ", verdict=" + string(verdict)
	}
	return exact(name, path+"]", what, next, missShapes, hostEvents, func(v *view, s *report.Step) (float64, bool) {
		n := 0
		for _, p := range v.passes[place{s.Rank, s.Index}] {
			if p.Kind == kind && (verdict == "" || p.Verdict == verdict) {
				n++
			}
		}
		return float64(n), v.knowsParameters()
	})
}

// groupCount is the number of collectives of a kind, "" of any, that a step launches.
func groupCount(name, kind, what string) Metric {
	return exact(name, "collective_groups["+ofKind(kind)+"].count", what+" that a step launches", toBaseline, missDevice, hostEvents|deviceEvents|links,
		func(v *view, s *report.Step) (float64, bool) {
			n := 0
			for _, g := range v.groups[place{s.Rank, s.Index}] {
				if kind == "" || g.Kind == kind {
					n += g.Count
				}
			}
			return float64(n), s.Duration != nil
		})
}

func groupBytes(v *view, s *report.Step) (float64, bool) {
	sum := int64(0)
	for _, g := range v.groups[place{s.Rank, s.Index}] {
		if g.Bytes == nil {
			return 0, false
		}
		sum += *g.Bytes
	}
	return float64(sum), s.Duration != nil
}

// knowsSites reports whether the launch sites of a rank's reduce-scatters can be told: steps
// are those of an optimizer, and of the collectives of the kind at least one has a place.
// A rank without any launches none.
func (v *view) knowsSites(rank int64) bool {
	if v.report.Source.StepSource != "optimizer" {
		return false
	}
	for _, c := range v.report.Collectives {
		if c.Rank == rank && c.Kind == "reduce_scatter" {
			return slices.ContainsFunc(c.Sites, func(s report.LaunchSite) bool { return s.Site != "unknown" })
		}
	}
	return slices.ContainsFunc(v.report.Health.DeviceEvents, func(d report.DeviceEvents) bool { return d.Rank == rank && d.Count > d.Unlinked })
}

func inOptimizer(v *view, s *report.Step) (float64, bool) {
	n := 0
	for _, g := range v.groups[place{s.Rank, s.Index}] {
		if g.Kind == "reduce_scatter" && g.Site == "optimizer_step" {
			n += g.Count
		}
	}
	return float64(n), v.knowsSites(s.Rank)
}

func launchedInOptimizer(v *view) []sample {
	var list []sample
	for _, rank := range v.report.Source.Ranks {
		if !v.knowsSites(rank) {
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

// syncOf sums what of says of the collectives of each micro-batch.
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
// user's word alone proves nothing and is unknown.
func weightError(v *view) []sample {
	n := &v.report.Normalization
	if n.Ratio == nil || !observed(n) {
		return nil
	}
	return []sample{{math.Max(math.Abs(n.Ratio.Min-1), math.Abs(n.Ratio.Max-1)), -1, -1}}
}

// observed reports whether the way of normalising was seen and not only declared.
func observed(n *report.Normalization) bool {
	return known(n.Mode) && known(n.Basis) && n.Basis != "declared"
}

func mismatches(v *view) []sample {
	if v.report.Matching.Matched+v.report.Matching.Mismatches == 0 {
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
	return Metric{Name: "findings." + string(severity), Unit: Count, Path: "findings[severity=" + string(severity) + "]",
		Definition: "findings of severity " + string(severity) + ", those that the configuration ignores aside", Next: toFindings, Missing: missCount, touched: everything,
		all: func(v *view) []sample {
			n := 0
			for i := range v.report.Findings {
				if f := &v.report.Findings[i]; f.Severity == severity && !v.ignored(f.Rule) {
					n++
				}
			}
			return []sample{{float64(n), -1, -1}}
		}}
}
