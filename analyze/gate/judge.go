package gate

import (
	"fmt"
	"slices"

	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// budget judges a metric on its own: structure by the worst value of any step and rank,
// times for each kind of step.
func (k *check) budget(b *Budget) {
	m := b.Metric
	row := Row{
		Check:    "budget",
		Metric:   m.Name,
		Severity: b.Severity,
		Unit:     m.Unit,
		Limit:    b.limit(),
		Where:    m.Path,
		Next:     m.Next,

		Tolerated: b.Tolerant,
	}
	switch {
	case k.spoiled(&row, m, k.new):
		k.add(row)
	case m.timed && !m.whole:
		k.timedBudget(b, row)
	default:
		k.exactBudget(b, row)
	}
}

// limit writes the bounds of a budget.
func (b *Budget) limit() string {
	text := ""
	if b.Min != nil {
		text = "min " + b.Metric.Unit.Format(*b.Min)
	}
	if b.Max != nil {
		if text != "" {
			text += ", "
		}
		text += "max " + b.Metric.Unit.Format(*b.Max)
	}
	return text
}

// holds reports whether a value keeps a budget.
func (b *Budget) holds(v float64) bool {
	return (b.Max == nil || v <= *b.Max) && (b.Min == nil || v >= *b.Min)
}

func (k *check) exactBudget(b *Budget, row Row) {
	all := k.samples(b.Metric, k.newViews)
	if len(all) == 0 {
		k.add(weighed(k, row.undecidable(b.Metric.Missing)))
		return
	}
	row.at(worst(all, b.Max != nil))
	row.Verdict = Pass
	if i := slices.IndexFunc(all, func(s sample) bool { return !b.holds(s.value) }); i >= 0 {
		if b.holds(*row.Value) {
			row.at(all[i])
		}
		row.Verdict = Fail
	}
	if n := k.steps; b.Metric.timed && n < compare.Few {
		row.Tolerated = row.Tolerated && row.Verdict == Pass
		row = row.undecidable(fewSteps(n))
	}
	k.add(k.related(weighed(k, row)))
}

// countSteps is the number of complete steps of all kinds, which times of the whole
// recording are made of.
func countSteps(kinds []compare.Steps) int {
	n := 0
	for _, s := range kinds {
		n += len(s.New)
	}
	return n
}

func fewSteps(n int) string {
	return fmt.Sprintf("low confidence: %s of at least %d", units.Count(n, "step"), compare.Few)
}

func (k *check) timedBudget(b *Budget, row Row) {
	judged := false
	for _, s := range k.kinds {
		values := k.values(b.Metric, s.New)
		if len(values) == 0 {
			continue
		}
		judged = true
		one := row
		v := aggregate(k.config.Select.Aggregate, values)
		one.Kind, one.Verdict = s.Kind, Pass
		one.Value, one.Steps = &v, len(values)
		switch {
		case len(values) < compare.Few:
			one.Tolerated = one.Tolerated && b.holds(v)
			one = one.undecidable(fewSteps(len(values)))
		case !b.holds(v):
			one.Verdict = Fail
		}
		k.add(k.related(one))
	}
	if !judged {
		k.add(row.undecidable(b.Metric.Missing))
	}
}

func (r Row) undecidable(why string) Row {
	r.Verdict, r.Reason = Undecidable, why
	r.Next = ""
	return r
}

// at takes the value and the place of a sample.
func (r *Row) at(s sample) {
	r.Value, r.Rank, r.Step = &s.value, nil, nil
	if s.rank >= 0 {
		r.Rank = &s.rank
	}
	if s.step >= 0 {
		r.Step = &s.step
	}
}

// samples are the values of an exact metric in all complete steps, ranks and reports.
func (k *check) samples(m *Metric, views []*view) []sample {
	var list []sample
	for _, v := range views {
		if m.all != nil {
			list = append(list, m.all(v)...)
			continue
		}
		for i := range v.report.Steps {
			s := &v.report.Steps[i]
			if value, ok := m.step(v, s); ok && s.Complete {
				list = append(list, sample{value, s.Rank, int64(s.Index)})
			}
		}
	}
	return list
}

// values are a metric of each step: the mean over its ranks and devices, which are not
// independent of each other.
func (k *check) values(m *Metric, steps [][]*report.Step) []float64 {
	var list []float64
	for _, rows := range steps {
		sum, n := 0.0, 0
		for _, s := range rows {
			if v, ok := m.step(k.views[s], s); ok {
				sum, n = sum+v, n+1
			}
		}
		if n > 0 {
			list = append(list, sum/float64(n))
		}
	}
	return list
}
