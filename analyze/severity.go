package analyze

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze/report"
)

// Shares of the median step of its kind from which a cost is an error or a
// warning, and below which a rule about time stays silent.
const (
	errorShare  = 0.10
	warnShare   = 0.01
	silentShare = 0.001
)

// severityOfShare is the severity of a cost by its share of the step. Exposed time
// decides, never a count: hidden communication is no defect.
func severityOfShare(share float64) report.Severity {
	switch {
	case share >= errorShare:
		return report.Error
	case share >= warnShare:
		return report.Warn
	}
	return report.Note
}

// nearBound is by which factor time that the host causes varies between runs of one program.
const nearBound = 1.25

// ReportHost is ReportCost for time in which a device waits for the host. It varies from run
// to run, so near a bound the finding says that its severity may, too.
func (p *Pass) ReportHost(cost *Cost, describe func(mean, step int64) report.Finding) {
	p.ReportCost(cost, func(mean, step int64) report.Finding {
		f := describe(mean, step)
		if !cost.host {
			f.Caveats = append(f.Caveats, inDoubt(float64(mean)/float64(step), warnShare, errorShare)...)
		}
		return f
	})
}

// inDoubt is the caveat of a share of the host's time that is near one of some bounds.
func inDoubt(share float64, bounds ...float64) []string {
	for _, bound := range bounds {
		if share > bound/nearBound && share < bound*nearBound {
			return []string{fmt.Sprintf("about %.0f %% of a step, from where on the severity is another: what the "+
				"host costs varies from run to run", 100*bound)}
		}
	}
	return nil
}

// ReportHidden adds a finding about communication: by its cost where it is exposed, and
// as a note where it is hidden or nothing is known of its time.
func (p *Pass) ReportHidden(cost *Cost, f report.Finding) {
	if mean, _, _ := cost.PerStep(p.Ranks); mean == 0 {
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
	if f.Change == nil {
		f.Change = &report.Change{Before: p.rule.Doc.Before, After: p.rule.Doc.After}
	}
	if f.Change.After == "" {
		f.Change = nil
	}
	p.out = append(p.out, f)
}

// ReportCost adds a finding that costs time; its severity follows from the share
// of the median step, and a cost too small to matter is not reported.
func (p *Pass) ReportCost(cost *Cost, describe func(mean, step int64) report.Finding) {
	p.reportCost(cost, silentShare, describe)
}

// ReportDesign adds a finding about time that a program costs by its design, such as what a
// sharded optimizer gathers after its update: a note where others would be warned.
func (p *Pass) ReportDesign(cost *Cost, describe func(mean, step int64) report.Finding) {
	p.reportCost(cost, warnShare, describe)
	if n := len(p.out); n > 0 && p.out[n-1].Rule == p.rule.ID {
		p.out[n-1].Severity = report.Note
	}
}

// ReportNote adds a finding about what the program does that may well be meant so: a note,
// whatever it costs.
func (p *Pass) ReportNote(cost *Cost, describe func(mean, step int64) report.Finding) {
	n := len(p.out)
	p.reportCost(cost, 0, describe)
	if len(p.out) > n {
		p.out[n].Severity = report.Note
	}
}

// ReportStructure adds a finding about what the program does, however little it costs.
func (p *Pass) ReportStructure(cost *Cost, describe func(mean, step int64) report.Finding) {
	p.reportCost(cost, 0, describe)
}

func (p *Pass) reportCost(cost *Cost, silent float64, describe func(mean, step int64) report.Finding) {
	mean, step, partial := cost.PerStep(p.Ranks)
	if step == 0 || mean == 0 || float64(mean)/float64(step) < silent {
		return
	}
	f := describe(mean, step)
	share := float64(mean) / float64(step)
	f.Cost, f.Share, f.Kinds = &mean, &share, cost.kinds
	if partial {
		f.Caveats = append(f.Caveats, "no complete step of these kinds was recorded: the mean is over incomplete ones")
	}
	if cost.host {
		f.Caveats = append(f.Caveats, inDoubt(share, warnShare, errorShare)...)
	}
	p.report(severityOfShare(share), costed{f, cost.total()})
}

// ReportWait adds a finding about wait: by its cost where it is exposed, else as a note
// where hidden, its share of the time that passed, would be worth a warning.
func (p *Pass) ReportWait(cost *Cost, hidden float64, f report.Finding, describe func(mean, step int64) string) {
	mean, step, _ := cost.PerStep(p.Ranks)
	if step > 0 && float64(mean)/float64(step) >= silentShare {
		p.ReportCost(cost, func(mean, step int64) report.Finding {
			f.Message, f.Saving = describe(mean, step), &report.Range{Low: 0, High: mean}
			return f
		})
		return
	}
	if hidden >= warnShare {
		f.Message = describe(0, step)
		p.Report(report.Note, f)
	}
}
