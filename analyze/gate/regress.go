package gate

import (
	"fmt"
	"math"

	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// regression judges a metric against the baseline.
func (k *check) regression(g *Regression) {
	m := g.Metric
	row := Row{
		Check:     "regression",
		Metric:    m.Name,
		Severity:  g.Severity,
		Unit:      m.Unit,
		Limit:     g.limit(),
		Where:     m.Path,
		Next:      m.nextAgainst(),
		Tolerated: g.Tolerant,
	}
	switch {
	case k.spoiled(&row, m, k.new):
	case k.spoiled(&row, m, k.base):
		row.Reason = "in the baseline, " + row.Reason
	case k.unlike != "":
		row = row.undecidable("the baseline is of a different experiment: " + k.unlike)
		row.Next = "make a new baseline: {keep-report}"
	case m.against:
		k.newFindings(g, row)
		return
	case m.timed:
		k.timedRegression(g, row)
		return
	default:
		k.exactRegression(g, row)
		return
	}
	k.add(row)
}

// nextAgainst is what to do about a change: what the table says where it names a rule, else
// to look at what changed.
func (m *Metric) nextAgainst() string {
	if m.rule() != "" {
		return m.Next + "; " + toBaseline
	}
	return toBaseline
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

// exactRegression compares structure: for each kind of step where the metric is one of steps.
// A kind that one side lacks is left out where another can be compared.
func (k *check) exactRegression(g *Regression, row Row) {
	base, new := k.samples(g.Metric, k.baseViews), k.samples(g.Metric, k.newViews)
	if g.Metric.step == nil {
		k.add(k.related(g.judgeExact(row, base, new)))
		return
	}
	var rows []Row
	for _, s := range k.pairs {
		b, n := k.samplesOf(g.Metric, s.Base), k.samplesOf(g.Metric, s.New)
		if len(b) > 0 && len(n) > 0 {
			one := g.judgeExact(row, b, n)
			one.Kind = s.Kind
			rows = append(rows, one)
		}
	}
	switch len(rows) {
	case 0:
		rows = []Row{row.undecidable(onlySide(len(base), len(new), g.Metric.Missing))}
	case 1:
		rows[0].Kind = ""
	}
	for _, one := range rows {
		k.add(k.related(one))
	}
}

// samplesOf are the values of an exact metric in some steps.
func (k *check) samplesOf(m *Metric, steps [][]*report.Step) []sample {
	var list []sample
	for _, rows := range steps {
		for _, s := range rows {
			if value, ok := m.step(k.views[s], s); ok {
				list = append(list, sample{value, s.Rank, int64(s.Index)})
			}
		}
	}
	return list
}

// judgeExact compares the worst values of both sides. Where the baseline's own steps differ
// from each other, as routing by data makes them, the metric is not exact: then all steps
// have to be beyond all of the baseline's.
func (g *Regression) judgeExact(row Row, base, new []sample) Row {
	if len(base) == 0 || len(new) == 0 {
		return row.undecidable(onlySide(len(base), len(new), g.Metric.Missing))
	}
	row.Verdict = Pass
	for _, most := range g.directions() {
		b, n := worst(base, most), worst(new, most)
		if b.value != worst(base, !most).value {
			n = worst(new, !most)
		}
		fails := g.toward(most).moved(b.value, n.value)
		if row.Value == nil || fails && row.Verdict == Pass {
			row.at(n)
			row.BaselineValue = &b.value
		}
		if fails {
			row.Verdict = Fail
		}
	}
	return row
}

// toward is the regression with its bound of one direction alone: a value below the greatest of
// a baseline whose steps differ has not decreased.
func (g *Regression) toward(most bool) *Regression {
	one := *g
	if most {
		one.MaxDecrease = nil
	} else {
		one.MaxIncrease = nil
	}
	return &one
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
	case new == 0:
		return missing
	}
	return "the sides have no kind of complete step in common"
}

func (k *check) timedRegression(g *Regression, row Row) {
	judged := false
	for _, s := range k.pairs {
		base, new := k.values(g.Metric, s.Base), k.values(g.Metric, s.New)
		if len(base)+len(new) == 0 {
			continue
		}
		judged = true
		one := row
		one.Kind, one.Steps, one.BaselineSteps = s.Kind, len(new), len(base)
		k.add(g.judge(one, base, new))
	}
	switch host, _ := FindMetric("step.host_time"); {
	case judged:
	case g.preset && g.Metric.Name == "step.time":
		onHost := *g
		onHost.Metric, onHost.preset = host, false
		k.regression(&onHost)
	default:
		k.add(row.undecidable(g.Metric.Missing))
	}
}

// judge compares the values of the steps of one kind. What is too little to decide is not
// tolerated where the values that there are lie beyond the limits.
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
	row.Tolerated = row.Tolerated && !g.moved(b, n)
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
