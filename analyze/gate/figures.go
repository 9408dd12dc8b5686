package gate

import (
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/bounded"
)

// place is a step of a rank.
type place struct {
	rank int64
	step int
}

// view is a report with its rows indexed by step.
type view struct {
	report  *report.Report // steps that were not selected are left out
	ignored func(rule string) bool
	groups  map[place][]*report.CollectiveGroup
	passes  map[place][]*report.GradientPass

	complete map[place]bool // steps that were selected and are complete
}

func newView(r *report.Report, ignored func(string) bool) *view {
	v := &view{
		report:  r,
		ignored: ignored,
		groups:  make(map[place][]*report.CollectiveGroup),
		passes:  make(map[place][]*report.GradientPass),

		complete: make(map[place]bool),
	}
	for i := range r.Steps {
		v.complete[place{r.Steps[i].Rank, r.Steps[i].Index}] = r.Steps[i].Complete
	}
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

// hostless is Missing of metrics of device time.
const hostless = missDevice + "; step.host_time is of the host"

func timeOf(name, path, definition, next, bench string, of func(*report.Step) *int64, missing string) Metric {
	return Metric{
		Name:       name,
		Unit:       Nanoseconds,
		Path:       path,
		Definition: definition,
		Next:       next,
		Missing:    missing,
		timed:      true,
		touched:    deviceEvents | clocks | links | otherRanks,
		bench:      bench,
		better:     "lower",
		step: func(_ *view, s *report.Step) (float64, bool) {
			v := of(s)
			if v == nil {
				return 0, false
			}
			return float64(*v), true
		},
	}
}

// ledger is a metric of a bucket of the ledger.
func ledger(name, bucket, definition, next string, of func(*report.Ledger) int64) Metric {
	m := timeOf(name, "steps[].ledger_ns."+bucket, definition+", in a step", next, benchUnit(name),
		func(s *report.Step) *int64 {
			if s.Ledger == nil {
				return nil
			}
			v := of(s.Ledger)
			return &v
		}, missDevice)
	return m
}

// benchUnit turns rs.exposed.time into rs-exposed-ns/op.
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
	return Metric{
		Name:       short + ".overlap.ratio",
		Unit:       Ratio,
		Path:       "collective_groups[kind=" + kind + "].{overlapped_ns, busy_ns}",
		Definition: "share of the " + what + " launched in a step that compute kernels hide",
		Next:       toOverlap,
		Missing:    missComm,
		timed:      true,
		touched:    deviceEvents | clocks | streams | links | otherRanks,
		bench:      short + "-overlap",
		better:     "higher",
		step: func(v *view, s *report.Step) (float64, bool) {
			var busy, over int64
			for _, g := range v.groups[place{s.Rank, s.Index}] {
				if g.Kind == kind {
					busy, over = busy+g.Busy, over+g.Over
				}
			}
			return float64(over) / float64(busy), busy > 0
		},
	}
}

// passTime is the span of gradient passes of a kind, "" of any, in a step.
func passTime(name, kind, what string) Metric {
	return Metric{
		Name:       name,
		Unit:       Nanoseconds,
		Path:       "gradient_passes[" + ofKind(kind) + "].span_ns",
		Definition: "time from the first start to the last end of " + what + ", in a step",
		Next:       toFold,
		Missing:    missShapes,
		timed:      true,
		touched:    hostEvents | deviceEvents | clocks | links | otherRanks,
		bench:      benchUnit(name),
		better:     "lower",
		step: func(v *view, s *report.Step) (float64, bool) {
			sum := int64(0)
			for _, p := range v.passes[place{s.Rank, s.Index}] {
				if kind == "" || p.Kind == kind {
					sum += p.Span
				}
			}
			return float64(sum), v.knowsParameters()
		},
	}
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

// exact is a count of each step.
func exact(name, path, definition, next, missing string, touched damage, of stepValue) Metric {
	return Metric{
		Name:       name,
		Unit:       Count,
		Path:       path,
		Definition: definition,
		Next:       next,
		Missing:    missing,
		touched:    touched,
		step:       of,
	}
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
	return exact(name, "collective_groups["+ofKind(kind)+"].count", what+" that a step launches", toBaseline,
		missDevice, hostEvents|deviceEvents|links,
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
		sum = bounded.Add(sum, *g.Bytes)
	}
	return float64(sum), s.Duration != nil
}
