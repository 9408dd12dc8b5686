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
	unlike    string          // how the baseline is another experiment; empty: it is the same
	kinds     []compare.Steps // complete steps of the side that is judged
	pairs     []compare.Steps // and of both sides
	steps     int             // complete ones of the side that is judged
	stepless  string          // how a side has no complete step; empty: it has
	rankless  string          // which ranks a side lacks; empty: none that has to be there
	fewer     string          // how the side that is judged has far fewer device events; empty: it has not
	used      map[int]bool
}

// Check judges reports of one side, and against those of a baseline where there are any.
// Several reports of a side are pooled by kind of step. Reports are not changed.
func Check(c Config, reports, baseline []*report.Report, o Options) *Result {
	if o.OnlyNew {
		c = withNew(c)
	}
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

			StepTimes: []compare.StepTime{},
		},
	}
	k.new, k.newViews = k.selected(reports)
	k.base, k.baseViews = k.selected(baseline)
	k.kinds, k.pairs = compare.Match(nil, k.new), compare.Match(k.base, k.new)
	k.steps = countSteps(k.kinds)
	k.stepless = k.noSteps()
	k.rankless = noRanks(k)
	if len(baseline) > 0 {
		k.unlike = mismatch(baseline, reports)
		if k.unlike == "" {
			k.result.StepTimes = compare.Times(k.base, k.new).StepTimes
			k.fewer = fewerEvents(k.base, k.new)
		}
		k.sayUnlike()
	}
	k.compareFindings()
	k.job()
	for i := range c.Budgets {
		k.budget(&c.Budgets[i])
	}
	k.ignoreOld(baseline)
	if len(baseline) > 0 {
		for i := range c.Regressions {
			k.regression(&c.Regressions[i])
		}
	}
	k.sayRegressions()
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
	for _, u := range compare.Times(k.base, k.new).Unlike {
		if u.What == "ranks" || u.What == "gaprof_version" {
			k.say("the baseline differs in its %s: %s, here %s", strings.ReplaceAll(u.What, "_", " "), u.Base, u.New)
		}
	}
}

// leastTolerant is how many complete steps there must be before a row may stay undecided: one
// alone does not show what is usual.
const leastTolerant = 2

// noSteps is how a side has no complete step, of which a gate could say nothing.
func (k *check) noSteps() string {
	switch {
	case k.steps == 0 && k.config.Select.asked():
		return "no complete step is selected"
	case k.steps == 0:
		return "there is no complete step"
	case len(k.base) > 0 && len(k.config.Regressions) > 0 && !slices.ContainsFunc(k.pairs, baseHas):
		return "the baseline has no complete step"
	}
	return ""
}

// baseHas reports whether the baseline has complete steps of a kind.
func baseHas(s compare.Steps) bool { return len(s.Base) > 0 }

// sayRegressions says what is not compared, and why.
func (k *check) sayRegressions() {
	own := 0
	for i := range k.config.Regressions {
		if !k.config.Regressions[i].preset {
			own++
		}
	}
	switch {
	case len(k.base) > 0 && len(k.config.Regressions) == 0:
		k.say("0 regressions configured: nothing is compared with the baseline")
	case len(k.base) > 0:
	case k.options.FirstRun:
		k.say("%s not compared: there is no baseline yet", units.Count(len(k.config.Regressions), "regression"))
	case own > 0:
		k.say("%s not judged: no {baseline}", units.Count(own, "regression"))
	default:
		k.say("0 regressions configured, and none was compared: no {baseline}")
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
	withoutOthers(k, &r)
	r.Tolerated = r.Tolerated && r.Verdict == Undecidable && !r.BadData && k.steps >= leastTolerant
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
			k.say("%s: the ignore of %s expired on %s and no longer has any effect: %s",
				ignore.Place, ignore.Rule, ignore.Until.Format("2006-01-02"), ignore.Reason)
		case !k.used[i]:
			k.say("%s: the ignore of %s matches nothing", ignore.Place, ignore.Rule)
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
	otherJob  = "the trace is of a different job than the configuration declares"
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
	if m.touched&deviceEvents != 0 && why == "" {
		why = k.fewer
	}
	if why == "" {
		return false
	}
	row.Verdict, row.Reason, row.BadData = Undecidable, "the trace is unhealthy: "+why, true
	row.Next = "record again; gaprof analyze {show} health"
	if why == k.fewer {
		row.Next += "; if the program launches fewer, make a new baseline: {keep-report}"
	}
	return true
}

// conclude derives the verdict from all rows.
//
//  1. A row of severity error that fails is a failure, whatever else is unknown.
//  2. A baseline of another experiment, a side without any complete step, or with fewer ranks
//     than are declared, a row of severity
//     error that cannot be decided (unless the configuration says that it need not be, and
//     no damage hides it), or nothing decided that could have failed is inconclusive: a
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
		r.Summary = "the baseline is of a different experiment: " + k.unlike
	case len(n.hidden) > 0 && k.rankless != "":
		r.Summary = fmt.Sprintf("%s: %d of %s cannot be decided: %s", k.rankless, len(n.hidden), checks,
			firstNames(n.hidden))
	case len(n.hidden) > 0:
		r.Summary = fmt.Sprintf("%d of %s cannot be decided on unhealthy data: %s",
			len(n.hidden), checks, firstNames(n.hidden))
	case k.stepless != "":
		r.Summary = k.stepless
	case k.rankless != "" && k.config.Job.Ranks != 0:
		r.Summary = k.rankless
	case len(n.open) > 0:
		r.Summary = fmt.Sprintf("%d of %s cannot be decided: %s", len(n.open), checks, firstNames(n.open))
	case !k.options.FirstRun && n.idle():
		r.Summary = fmt.Sprintf("none of %s that can fail could be decided", units.Count(n.canFail(), "check"))
	default:
		r.Verdict, r.Exit = Passed, report.Exit{}
		r.Summary = fmt.Sprintf("%d of %s passed", n.passed+n.failed, checks)
	}
	r.Summary += n.rest(r.Verdict)
	r.Exit.Reason = string(r.Verdict) + ": " + r.Summary
}
