package gate

import (
	"fmt"
	"math"
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
		k.add(row.undecidable(b.Metric.Missing))
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
	if n := k.fewestSteps(); b.Metric.timed && n < compare.Few {
		k.add(row.undecidable(fewSteps(n)))
		return
	}
	k.add(row)
}

// fewestSteps is the number of selected steps of all kinds, which times of the whole
// recording are made of.
func (k *check) fewestSteps() int {
	n := 0
	for _, s := range compare.Match(nil, k.new) {
		n += len(s.New)
	}
	return n
}

func fewSteps(n int) string {
	return fmt.Sprintf("low confidence: %s of at least %d", units.Count(n, "step"), compare.Few)
}

func (k *check) timedBudget(b *Budget, row Row) {
	judged := false
	for _, s := range compare.Match(nil, k.new) {
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
			one = one.undecidable(fewSteps(len(values)))
		case !b.holds(v):
			one.Verdict = Fail
		}
		k.add(one)
	}
	if !judged {
		k.add(row.undecidable(b.Metric.Missing))
	}
}

// regression judges a metric against the baseline.
func (k *check) regression(g *Regression) {
	m := g.Metric
	row := Row{
		Check:    "regression",
		Metric:   m.Name,
		Severity: g.Severity,
		Unit:     m.Unit,
		Limit:    g.limit(),
		Where:    m.Path,
		Next:     toBaseline,
	}
	switch {
	case k.spoiled(&row, m, k.new):
	case k.spoiled(&row, m, k.base):
		row.Reason = "in the baseline, " + row.Reason
	case k.unlike != "":
		row = row.undecidable("the baseline is of another experiment: " + k.unlike)
		row.Next = "make a new baseline: {keep-report}"
	case m.timed:
		k.timedRegression(g, row)
		return
	default:
		k.exactRegression(g, row)
		return
	}
	k.add(row)
}

// limit writes the conditions of a regression.
func (g *Regression) limit() string {
	text := ""
	for _, c := range []struct {
		sign string
		of   *Change
	}{{"+", g.MaxIncrease}, {"-", g.MaxDecrease}} {
		switch {
		case c.of == nil:
			continue
		case c.of.Share:
			text += fmt.Sprintf("%s%g %%, ", c.sign, c.of.Value*100)
		default:
			text += c.sign + g.Metric.Unit.Format(c.of.Value) + ", "
		}
	}
	if g.MinDelta > 0 {
		text += "at least " + g.Metric.Unit.Format(g.MinDelta) + ", "
	}
	if g.Metric.timed {
		text += fmt.Sprintf("p < %g, ", g.Alpha)
	}
	return text[:max(0, len(text)-2)]
}

// moved reports whether a value is further from the baseline than a regression allows,
// whatever its significance.
func (g *Regression) moved(base, new float64) bool {
	exceeds := func(c *Change, delta float64) bool {
		if c == nil {
			return false
		}
		limit := c.Value
		if c.Share {
			limit *= math.Abs(base)
		}
		return delta > limit && delta >= g.MinDelta
	}
	return exceeds(g.MaxIncrease, new-base) || exceeds(g.MaxDecrease, base-new)
}

func (k *check) exactRegression(g *Regression, row Row) {
	base, new := k.samples(g.Metric, k.baseViews), k.samples(g.Metric, k.newViews)
	if len(base) == 0 || len(new) == 0 {
		k.add(row.undecidable(onlySide(len(base), len(new), g.Metric.Missing)))
		return
	}
	row.Verdict = Pass
	for _, most := range g.directions() {
		b, n := worst(base, most), worst(new, most)
		fails := g.moved(b.value, n.value)
		if row.Value == nil || fails && row.Verdict == Pass {
			row.at(n)
			row.BaselineValue = &b.value
		}
		if fails {
			row.Verdict = Fail
		}
	}
	k.add(row)
}

// directions are those in which a regression bounds its metric: true is upward, where
// the greatest values count.
func (g *Regression) directions() []bool {
	var list []bool
	if g.MaxIncrease != nil {
		list = append(list, true)
	}
	if g.MaxDecrease != nil {
		list = append(list, false)
	}
	return list
}

// onlySide says which side lacks a value.
func onlySide(base, new int, missing string) string {
	switch {
	case base == 0 && new == 0:
		return missing
	case base == 0:
		return "unknown in the baseline: " + missing
	}
	return missing
}

func (k *check) timedRegression(g *Regression, row Row) {
	judged := false
	for _, s := range compare.Match(k.base, k.new) {
		base, new := k.values(g.Metric, s.Base), k.values(g.Metric, s.New)
		if len(base)+len(new) == 0 {
			continue
		}
		judged = true
		one := row
		one.Kind, one.Steps, one.BaselineSteps = s.Kind, len(new), len(base)
		k.add(g.judge(one, base, new))
	}
	if !judged {
		k.add(row.undecidable(g.Metric.Missing))
	}
}

// judge compares the values of the steps of one kind.
func (g *Regression) judge(row Row, base, new []float64) Row {
	switch {
	case len(base) == 0:
		return row.undecidable("the baseline has no complete step of this kind")
	case len(new) == 0:
		return row.undecidable("no complete step of this kind, which the baseline has")
	}
	b, n := aggregate("median", base), aggregate("median", new)
	p := compare.P(base, new)
	row.Value, row.BaselineValue, row.P = &n, &b, &p
	row.Verdict = Pass
	switch {
	case len(base) < compare.Few || len(new) < compare.Few:
		return row.undecidable(fmt.Sprintf("low confidence: %d against %s of at least %d",
			len(base), units.Count(len(new), "step"), compare.Few))
	case leastP(len(base), len(new)) >= g.Alpha:
		return row.undecidable(fmt.Sprintf("%d against %s cannot reach p < %g",
			len(base), units.Count(len(new), "step"), g.Alpha))
	case g.moved(b, n) && p < g.Alpha:
		row.Verdict = Fail
	}
	return row
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
