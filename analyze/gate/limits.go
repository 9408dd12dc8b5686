package gate

import (
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
)

// Both budgets and regressions are written as metric: [severity, {limits}]. A severity
// alone changes that of the preset, and off removes the entry.

func (r *reader) budgets(n *node) {
	r.entries(n, "budgets", "[error, {max: 5}]", func(m *Metric, s report.Severity, at, limits *node) {
		b := Budget{Metric: m, Severity: s}
		i := slices.IndexFunc(r.config.Budgets, func(b Budget) bool { return b.Metric == m })
		switch {
		case s == report.Off:
		case m.against:
			r.fail(at, "write it under regressions: [error, {max_increase: 0}]", "%s needs a baseline", m.Name)
		case limits == nil && i < 0:
			r.fail(at, "write [error, {max: 5}]", "budget of %s without max and min", m.Name)
		case limits == nil:
			b = r.config.Budgets[i]
			b.Severity = s
		default:
			r.each(limits, "a budget", map[string]func(*node){
				"max":     func(n *node) { b.Max = r.amount(n, m) },
				"min":     func(n *node) { b.Min = r.amount(n, m) },
				"unknown": func(n *node) { b.Tolerant = r.tolerant(n) },
			})
			r.checkBudget(limits, b)
		}
		r.config.setBudget(b)
	})
}

func (r *reader) checkBudget(n *node, b Budget) {
	switch {
	case b.Max == nil && b.Min == nil && !slices.ContainsFunc(n.fields, other):
		r.fail(n, "write {max: ...} or {min: ...}", "budget of %s without max and min", b.Metric.Name)
	case b.Max != nil && b.Min != nil && *b.Max < *b.Min:
		r.fail(n, "", "budget of %s whose max is less than its min", b.Metric.Name)
	}
}

// other reports whether a field of a budget is more than what to do with the unknown.
func other(f field) bool { return f.key.text != "unknown" }

func (r *reader) regressions(n *node) {
	r.entries(n, "regressions", "[error, {max_increase: 3%}]", func(m *Metric, s report.Severity, at, limits *node) {
		g := Regression{Metric: m, Severity: s, Alpha: defaultAlpha}
		i := slices.IndexFunc(r.config.Regressions, func(g Regression) bool { return g.Metric == m })
		switch {
		case s == report.Off:
		case m.whole && m.timed:
			r.fail(at, "give it a budget",
				"%s has no value for each step, so that changes cannot be told from noise", m.Name)
		case m.whole:
			r.fail(at, "compare "+m.Name+".per_step", "%s grows with the number of recorded steps", m.Name)
		case limits == nil && i < 0:
			r.fail(at, "write [error, {max_increase: 3%}]",
				"regression of %s without max_increase and max_decrease", m.Name)
		case limits == nil:
			g = r.config.Regressions[i]
			g.Severity = s
		default:
			r.limits(limits, &g)
		}
		r.config.setRegression(g)
	})
}

func (r *reader) limits(n *node, g *Regression) {
	before := len(r.errs)
	r.each(n, "a regression", map[string]func(*node){
		"max_increase": func(n *node) { g.MaxIncrease = r.change(n, g.Metric) },
		"max_decrease": func(n *node) { g.MaxDecrease = r.change(n, g.Metric) },
		"min_delta": func(n *node) {
			if v := r.amount(n, g.Metric); v != nil {
				g.MinDelta = *v
				r.notNegative(n, *v)
			}
		},
		"alpha":   func(n *node) { r.alpha(n, g) },
		"unknown": func(n *node) { g.Tolerant = r.tolerant(n) },
	})
	if len(r.errs) == before && g.MaxIncrease == nil && g.MaxDecrease == nil {
		r.fail(n, "write {max_increase: 3%}", "regression of %s without max_increase and max_decrease", g.Metric.Name)
	}
}

func (r *reader) alpha(n *node, g *Regression) {
	if !r.want(n, scalar, "alpha", "write alpha: 0.01") {
		return
	}
	v, ok := number(n.text)
	switch {
	case !ok || v <= 0 || v >= 1:
		r.fail(n, "write alpha: 0.01", "alpha is a probability between 0 and 1, not %q", n.text)
	case !g.Metric.timed:
		r.fail(n, "leave alpha out", "%s is exact and has no significance", g.Metric.Name)
	}
	g.Alpha = v
}

// tolerant reads what to do where something cannot be decided.
func (r *reader) tolerant(n *node) bool {
	const hint = "write unknown: ok, or leave it out to be inconclusive then"
	if r.want(n, scalar, "unknown", hint) && n.text != "ok" && n.text != "inconclusive" {
		r.fail(n, hint, "unknown is ok or inconclusive, not %q", n.text)
	}
	return n.text == "ok"
}

// entries reads metric: [severity, {limits}]; limits is nil where there is only a severity.
func (r *reader) entries(n *node, what, hint string, entry func(m *Metric, s report.Severity, at, limits *node)) {
	if n.form == empty || !r.want(n, mapping, what, "metric: "+hint) {
		return
	}
	for _, f := range n.fields {
		m, ok := FindMetric(f.key.text)
		if !ok {
			r.unknown(f.key, "metric", MetricNames())
			continue
		}
		parts := []*node{f.value}
		if f.value.form == sequence {
			parts = f.value.items
		}
		if len(parts) == 0 || len(parts) > 2 {
			r.fail(f.value, "write "+hint, "%s needs a severity and limits", m.Name)
			continue
		}
		before := len(r.errs)
		s := r.severity(parts[0])
		var limits *node
		if len(parts) == 2 {
			limits = parts[1]
			r.want(limits, mapping, "what follows the severity", "write "+hint)
		}
		if len(r.errs) == before {
			entry(m, s, f.key, limits)
		}
	}
}

// amount reads a value in the unit of a metric.
func (r *reader) amount(n *node, m *Metric) *float64 {
	if !r.want(n, scalar, "a limit of "+m.Name, "write "+example[m.Unit]) {
		return nil
	}
	v, ok := m.Unit.value(n.text)
	if !ok {
		r.fail(n, "write "+example[m.Unit], "%q is not a value of %s", n.text, m.Name)
		return nil
	}
	return &v
}

// change reads a percentage of the baseline or an amount. Ratios have both in percent:
// there a percentage is a share of the baseline.
func (r *reader) change(n *node, m *Metric) *Change {
	if head, ok := cutPercent(n); ok {
		if v, ok := number(head); ok {
			r.notNegative(n, v)
			return &Change{v / 100, true}
		}
	}
	v := r.amount(n, m)
	if v == nil {
		return nil
	}
	r.notNegative(n, *v)
	return &Change{*v, false}
}

func (r *reader) notNegative(n *node, v float64) {
	if v < 0 {
		r.fail(n, "", "%s is negative", n.text)
	}
}

// cutPercent is what precedes the percent sign.
func cutPercent(n *node) (string, bool) {
	head, ok := strings.CutSuffix(strings.TrimSpace(n.text), "%")
	return strings.TrimSpace(head), ok && n.form == scalar
}
