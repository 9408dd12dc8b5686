package analyze

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/ranks"
	"github.com/gaprof/gaprof/analyze/report"
)

// Pass is what a rule sees while it runs: the ranks on which its needs are met,
// the problems of the inputs, and what is left unclaimed of every ledger.
type Pass struct {
	Ranks         []*facts.Rank
	Problems      []report.Problem
	UniformTokens bool // the user declares equal token counts on all ranks
	Normalized    []NormalizedStep

	options *Options
	matched *ranks.Result
	rule    *Rule
	claims  claims
	taken   map[*facts.GradientPass]string // the rule that has a pass over the gradients
	out     []costed
}

// costed is a finding and the ns that it costs over all steps, by which findings of one
// severity are ordered.
type costed struct {
	report.Finding
	total int64
}

// claimKey is one bucket of one step's window.
type claimKey struct {
	rank   *facts.Rank
	step   int
	window int
	bucket facts.Bucket
}

// claims notes which rules took how many ns of each bucket.
type claims map[claimKey]*claimed

type claimed struct {
	ns    int64
	rules []string
}

// Claim takes up to ns of a bucket for the running rule and returns what it got;
// time that others hold is not given twice. Others names the rules that hold the
// rest.
func (p *Pass) Claim(r *facts.Rank, step, window int, bucket facts.Bucket, ns int64) (got int64, others []string) {
	key := claimKey{r, step, window, bucket}
	c := p.claims[key]
	if c == nil {
		c = &claimed{}
		p.claims[key] = c
	}
	got = max(0, min(ns, r.Steps[step].Windows[window].Ledger[bucket]-c.ns))
	if got < ns {
		others = slices.Clone(c.rules)
	}
	c.ns += got
	if got > 0 {
		c.rules = append(c.rules, p.rule.ID)
	}
	return got, others
}

// TakePass gives a pass over the gradients to the running rule. Where another rule has
// it, ok is false and owner names that rule: what a pass costs is charged once.
func (p *Pass) TakePass(gp *facts.GradientPass) (owner string, ok bool) {
	if owner, taken := p.taken[gp]; taken {
		return owner, owner == p.rule.ID
	}
	p.taken[gp] = p.rule.ID
	return p.rule.ID, true
}

// Remark says that the running rule applies, too, to time that the named rules
// have claimed.
func (p *Pass) Remark(rules []string) {
	for i := range p.out {
		if slices.Contains(rules, p.out[i].Rule) && !slices.Contains(p.out[i].Also, p.rule.ID) {
			p.out[i].Also = append(p.out[i].Also, p.rule.ID)
		}
	}
}

// Cost gathers what a rule claims step by step.
type Cost struct {
	claimed map[stepKey]int64
	kinds   []string
}

type stepKey struct {
	rank *facts.Rank
	step int
}

// Add notes ns of one step.
func (c *Cost) Add(r *facts.Rank, step int, ns int64) {
	if ns <= 0 {
		return
	}
	if c.claimed == nil {
		c.claimed = make(map[stepKey]int64)
	}
	c.claimed[stepKey{r, step}] += ns
	if k := r.Steps[step].Kind; !slices.Contains(c.kinds, k) {
		c.kinds = append(c.kinds, k)
		slices.Sort(c.kinds)
	}
}

// PerStep is the mean over the complete steps of the kinds that cost anything, and
// the mean and the median duration of those steps, all in ns. A step on several devices
// of one rank counts as the mean of them. Without complete steps all steps count; partial
// is then true.
func (c *Cost) PerStep(ranks []*facts.Rank) (mean, step, median int64, partial bool) {
	for _, all := range []bool{false, true} {
		var sum, total int64
		var durations []int64
		for _, r := range ranks {
			for i := range r.Steps {
				s := &r.Steps[i]
				d := Duration(r, s)
				if d == 0 || s.Excluded || !slices.Contains(c.kinds, s.Kind) || !s.Complete && !all {
					continue
				}
				sum += c.claimed[stepKey{r, i}] / devicesOf(s)
				total += d
				durations = append(durations, d)
			}
		}
		if n := int64(len(durations)); n > 0 {
			slices.Sort(durations)
			return sum / n, total / n, (durations[(n-1)/2] + durations[n/2]) / 2, all
		}
	}
	return 0, 0, 0, true
}

// total is everything claimed, in ns, over all steps.
func (c *Cost) total() int64 {
	var n int64
	for _, ns := range c.claimed {
		n += ns
	}
	return n
}

// devicesOf is on how many devices a step runs, at least one.
func devicesOf(s *facts.Step) int64 { return max(1, int64(len(s.Windows))) }

// Duration is the length of a step in ns: on its devices, their mean, and 0 where it has
// no window there; on the host where the rank has no device at all.
func Duration(r *facts.Rank, s *facts.Step) int64 {
	if len(r.Devices) == 0 {
		return s.HostDuration()
	}
	var d int64
	for _, w := range s.Windows {
		d += w.End - w.Start
	}
	return d / devicesOf(s)
}

// Bandwidth is the peak memory bandwidth of a rank's device in bytes/s, 0 unknown.
func (p *Pass) Bandwidth(r *facts.Rank) int64 { return p.options.bandwidth(r) }

// ReportHidden adds a finding about communication: by its cost where it is exposed, and
// as a note where it is hidden or nothing is known of its time.
func (p *Pass) ReportHidden(cost *Cost, f report.Finding) {
	if mean, _, _, _ := cost.PerStep(p.Ranks); mean == 0 {
		p.Report(report.Note, f)
		return
	}
	p.ReportStructure(cost, func(mean, _ int64) report.Finding {
		f.Saving = &report.Range{Low: 0, High: mean}
		return f
	})
}

// Report adds a finding of the running rule that has no cost in time.
func (p *Pass) Report(sev report.Severity, f report.Finding) {
	p.report(sev, costed{Finding: f})
}

func (p *Pass) report(sev report.Severity, f costed) {
	f.Rule, f.Title, f.Severity = p.rule.ID, p.rule.Doc.Title, sev
	if f.Fix == "" {
		f.Fix = p.rule.Doc.Fix
	}
	p.out = append(p.out, f)
}

// ReportCost adds a finding that costs time; its severity follows from the share
// of the median step, and a cost too small to matter is not reported.
func (p *Pass) ReportCost(cost *Cost, describe func(mean, step int64) report.Finding) {
	p.reportCost(cost, silentShare, describe)
}

// ReportStructure adds a finding about what the program does, however little it costs.
func (p *Pass) ReportStructure(cost *Cost, describe func(mean, step int64) report.Finding) {
	p.reportCost(cost, 0, describe)
}

func (p *Pass) reportCost(cost *Cost, silent float64, describe func(mean, step int64) report.Finding) {
	mean, step, median, partial := cost.PerStep(p.Ranks)
	if step == 0 || median == 0 || mean == 0 || float64(mean)/float64(median) < silent {
		return
	}
	f := describe(mean, step)
	share := float64(mean) / float64(step)
	f.Cost, f.Share, f.Kinds = &mean, &share, cost.kinds
	if partial {
		f.Caveats = append(f.Caveats, "no complete step of these kinds was recorded: the mean is over incomplete ones")
	}
	p.report(severityOfShare(float64(mean)/float64(median)), costed{f, cost.total()})
}

// EvidenceOf is the view of a row for a person with the trace open.
func EvidenceOf(r *facts.Rank, row int32) report.Evidence {
	e := r.Trace.Event(int(row))
	t := e.Track()
	return report.Evidence{Rank: r.ID, Name: e.Name(), Track: t.PID + "/" + t.TID, Start: e.Start(), Duration: e.Dur()}
}

// findings are what the rules reported: the most severe first, then what costs most over
// the whole recording, since means over different kinds of steps do not compare. Absent
// lists are empty.
func (p *Pass) findings() []report.Finding {
	slices.SortStableFunc(p.out, func(a, b costed) int {
		return cmp.Or(b.Severity.Compare(a.Severity), cmp.Compare(b.total, a.total), cmp.Compare(a.Rule, b.Rule))
	})
	list := make([]report.Finding, 0, len(p.out))
	for _, c := range p.out {
		f := c.Finding
		f.Kinds, f.Also, f.Caveats, f.Evidence = notNil(f.Kinds), notNil(f.Also), notNil(f.Caveats), notNil(f.Evidence)
		list = append(list, f)
	}
	return list
}
