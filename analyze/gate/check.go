package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// The exit codes of a check, part of the contract of the command line.
const (
	exitOK           = 0
	exitFailed       = 1
	exitInconclusive = 4
)

// check is the state of one call of Check.
type check struct {
	config    Config
	options   Options
	result    *Result
	base, new []*report.Report // with the selected steps
	views     map[*report.Step]*view
	newViews  []*view
	baseViews []*view
	unlike    string // how the baseline is another experiment; empty: it is the same
	none      bool   // steps are selected, but no complete one
	used      map[int]bool
}

// Check judges reports of one side, and against those of a baseline where there are any.
// Several reports of a side are pooled by kind of step. Reports are not changed.
func Check(c Config, reports, baseline []*report.Report, o Options) *Result {
	k := &check{
		config:  c,
		options: o,
		views:   make(map[*report.Step]*view),
		used:    make(map[int]bool),
		result: &Result{
			Schema:   Schema,
			Version:  o.Version,
			Config:   o.Config,
			Extends:  presetPrefix + cmp.Or(c.Extends, "off"),
			Files:    filesOf(reports),
			Baseline: filesOf(baseline),
			Rows:     []Row{},
			Notes:    []string{},
		},
	}
	k.new, k.newViews = k.selected(reports)
	k.base, k.baseViews = k.selected(baseline)
	k.none = k.fewestSteps() == 0 && (c.Select.asked() || len(compare.Match(nil, reports)) > 0)
	if len(baseline) > 0 {
		k.unlike = mismatch(baseline, reports)
		k.sayUnlike()
	}
	k.job()
	for i := range c.Budgets {
		k.budget(&c.Budgets[i])
	}
	if len(baseline) > 0 {
		for i := range c.Regressions {
			k.regression(&c.Regressions[i])
		}
	} else if n := len(c.Regressions); n > 0 {
		k.say("%s not judged: no {baseline}", units.Count(n, "regression"))
	}
	k.findings()
	k.ignoreNotes()
	k.conclude()
	k.result.nameChoices(o.Choices)
	return k.result
}

func filesOf(reports []*report.Report) []string {
	files := []string{}
	for _, r := range reports {
		files = append(files, r.Source.Files...)
	}
	return files
}

func (k *check) say(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(k.result.Notes, text) {
		k.result.Notes = append(k.result.Notes, text)
	}
}

// sayUnlike notes how the baseline differs without being another experiment.
func (k *check) sayUnlike() {
	for _, u := range compare.Between(k.base, k.new, "").Unlike {
		if u.What == "ranks" || u.What == "gaprof_version" {
			k.say("the baseline differs in its %s: %s, here %s", strings.ReplaceAll(u.What, "_", " "), u.Base, u.New)
		}
	}
}

// add puts a row into the result, unless its severity is off.
func (k *check) add(r Row) {
	if i := k.ignoring(r.Metric); i >= 0 && r.Check != "job" {
		k.used[i] = true
		r.Verdict, r.Reason, r.BadData = Ignored, k.config.Ignores[i].Reason, false
	}
	if r.Verdict == Pass || r.Verdict == Ignored {
		r.Next = ""
	}
	k.result.Rows = append(k.result.Rows, r)
}

// ignoring is the index of an ignore of a rule or metric that has not expired, or -1.
func (k *check) ignoring(name string) int {
	return slices.IndexFunc(k.config.Ignores, func(i Ignore) bool { return i.Rule == name && !i.expired(k.options) })
}

// expired reports whether the last day of an ignore is over.
func (i Ignore) expired(o Options) bool {
	return !i.Until.IsZero() && !o.Now.Before(i.Until.AddDate(0, 0, 1))
}

// ignoreNotes says what is ignored, and what no longer.
func (k *check) ignoreNotes() {
	for i, ignore := range k.config.Ignores {
		switch {
		case ignore.expired(k.options):
			k.say("%s: the ignore of %s expired on %s and does nothing any more: %s",
				ignore.Place, ignore.Rule, ignore.Until.Format("2006-01-02"), ignore.Reason)
		case !k.used[i]:
			k.say("%s: the ignore of %s meets nothing", ignore.Place, ignore.Rule)
		case ignore.Until.IsZero():
			k.say("%s is ignored: %s", ignore.Rule, ignore.Reason)
		default:
			k.say("%s is ignored until %s: %s", ignore.Rule, ignore.Until.Format("2006-01-02"), ignore.Reason)
		}
	}
}

// job judges what the configuration declares of the run. It adds no row where the trace
// does not show it.
func (k *check) job() {
	if k.config.Job.Accumulation > 0 {
		k.declaredAccumulation(float64(k.config.Job.Accumulation))
	}
	if declared := k.config.Job.Normalization; declared != "" {
		for _, r := range k.new {
			k.declaredNormalization(declared, &r.Normalization)
		}
	}
}

const (
	otherJob  = "the trace is of another job than the configuration declares"
	toCorrect = "correct job in the configuration, or pass a trace of that job"
)

func (k *check) declaredAccumulation(want float64) {
	m, _ := FindMetric("accumulation_steps")
	micro, _ := FindMetric("micro_batches")
	row := Row{
		Check:    "job",
		Metric:   m.Name,
		Severity: report.Error,
		Unit:     m.Unit,
		Limit:    "job.accum " + m.Unit.Format(want),
		Where:    m.Path,
		Next:     toCorrect,
		Verdict:  Pass,
	}
	all := k.samples(m, k.newViews)
	is := func(s sample) bool { return s.value == want }
	switch {
	case k.spoiled(&row, m, k.new):
	case len(all) == 0:
		return
	case slices.ContainsFunc(all, is), slices.ContainsFunc(k.samples(micro, k.newViews), is):
		row.Value = &want
	default:
		row.at(worst(all, true))
		row.Verdict, row.Reason = Fail, otherJob
	}
	k.add(row)
}

func (k *check) declaredNormalization(declared string, n *report.Normalization) {
	if !observed(n) {
		return
	}
	row := Row{
		Check:    "job",
		Metric:   "normalization",
		Severity: report.Error,
		Unit:     Count,
		Limit:    "job.norm " + declared,
		Where:    "normalization.mode",
		Next:     toCorrect,
		Verdict:  Pass,
	}
	if n.Mode != declared {
		row.Verdict, row.Reason = Fail, "it is "+n.Mode+", by the "+n.Basis
	}
	k.add(row)
}

// spoiled makes a row undecidable where damage of a trace touches its metric, and reports
// whether it did.
func (k *check) spoiled(row *Row, m *Metric, reports []*report.Report) bool {
	why := unhealthy(reports, m.touched)
	if why == "" {
		return false
	}
	row.Verdict, row.Reason, row.BadData = Undecidable, "the trace is unhealthy: "+why, true
	row.Next = "record again; gaprof analyze {show} health"
	return true
}

// findings judges what rules found, where the command asks for it.
func (k *check) findings() {
	for _, r := range k.new {
		for i := range r.Findings {
			f := &r.Findings[i]
			if index := k.ignoring(f.Rule); index >= 0 {
				k.used[index] = true
			}
			if k.options.FailOn == "" || k.options.FailOn == report.Off || !f.Severity.AtLeast(k.options.FailOn) {
				continue
			}
			row := Row{
				Check:    "finding",
				Metric:   f.Rule,
				Severity: report.Error,
				Verdict:  Fail,
				Unit:     Nanoseconds,
				Limit:    "below " + string(k.options.FailOn),
				Where:    fmt.Sprintf("findings[%d]", i),
				Reason:   string(f.Severity) + ": " + f.Message,
				Next:     f.Fix,
			}
			if f.Cost != nil {
				cost := float64(*f.Cost)
				row.Value = &cost
			}
			k.add(row)
		}
	}
}

// conclude derives the verdict from all rows.
//
//  1. A row of severity error that fails is a failure, whatever else is unknown.
//  2. A baseline of another experiment, a selection without any complete step, damage
//     that hides an error, or nothing at all that could be decided is inconclusive: a
//     gate is never green on bad data.
//  3. Otherwise it passed.
func (k *check) conclude() {
	n := countRows(k.result.Rows)
	r, checks := k.result, units.Count(len(k.result.Rows), "check")
	r.Record = k.recordSteps()
	r.Verdict, r.Exit = Inconclusive, report.Exit{Code: exitInconclusive}
	switch {
	case n.failed > 0:
		r.Verdict, r.Exit = Failed, report.Exit{Code: exitFailed}
		r.Summary = fmt.Sprintf("%d of %s failed", n.failed, checks)
	case k.unlike != "":
		r.Summary = "the baseline is of another experiment: " + k.unlike
	case k.none:
		r.Summary = "no complete step is selected"
	case n.hidden > 0:
		r.Summary = fmt.Sprintf("%d of %s cannot be decided on unhealthy data", n.hidden, checks)
	case n.undecided > 0 && n.decided() == 0:
		r.Summary = fmt.Sprintf("none of %s could be decided", checks)
	default:
		r.Verdict, r.Exit = Passed, report.Exit{}
		r.Summary = fmt.Sprintf("%d of %s passed", n.passed+n.failed, checks)
	}
	r.Summary += n.rest(r.Verdict)
	r.Exit.Reason = string(r.Verdict) + ": " + r.Summary
}

// rowCounts counts rows by outcome. hidden are those of undecided that would be
// errors and that damage of the input hides.
type rowCounts struct{ passed, failed, warned, undecided, hidden, ignored int }

func countRows(rows []Row) (n rowCounts) {
	for i := range rows {
		switch r := &rows[i]; {
		case r.Verdict == Fail && r.Severity == report.Error:
			n.failed++
		case r.Verdict == Fail:
			n.warned++
		case r.Verdict == Undecidable:
			n.undecided++
			if r.BadData && r.Severity == report.Error {
				n.hidden++
			}
		case r.Verdict == Ignored:
			n.ignored++
		default:
			n.passed++
		}
	}
	return n
}

func (n rowCounts) decided() int { return n.passed + n.failed + n.warned }

// rest is what a summary says of the rows that neither passed nor failed.
func (n rowCounts) rest(v Outcome) string {
	text := ""
	add := func(count int, what string) {
		if count > 0 {
			text += fmt.Sprintf(", %d %s", count, what)
		}
	}
	add(n.warned, "with a warning")
	if v != Inconclusive {
		add(n.undecided, "undecidable")
	}
	add(n.ignored, "ignored")
	return text
}
