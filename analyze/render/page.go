package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/render/plots"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// newPage lays out a report.
func newPage(r *report.Report, o Options) page {
	all := len(r.Findings)
	r = withKinds(withFirst(r))
	p := page{
		headline: strings.TrimPrefix(headline(r, o), "gaprof "+r.Version+"  "),
		says:     append(verdict(r), also(r)...),
		run:      runName(r.Source.Files),
	}
	if b := timeBars(r); b != nil {
		p.top = append(p.top, *b)
	}
	for _, s := range []section{
		passSection(r), overlapSection(r), normalizationSection(r),
		ledgerSection(r), timelineSection(r, o), memorySection(r), collectiveSection(r), rankSection(r),
		whatIfSection(r),
		findingSection(r, all), gradientSection(r), kernelSection(r), healthSection(r, o), skippedSection(r),
	} {
		if s.id != "" {
			p.sections = append(p.sections, s.used())
		}
	}
	p.eachText(func(s *string) { *s = printable(*s) })
	return p
}

// mostFindings is how many findings are shown.
const mostFindings = 500

// used returns the section without its empty tables, and with at most mostRows rows in each.
func (s section) used() section {
	var tables []table
	for _, t := range s.tables {
		if t = t.first(); len(t.rows) > 0 {
			tables = append(tables, t)
		}
	}
	s.tables = tables
	return s
}

func ledgerSection(r *report.Report) section {
	s := section{
		id:      "ledger",
		title:   "Where the time of a step goes",
		figures: plots.Of(r, plots.Ledger),
		tables:  []table{stepTable(r), idleTable(r)},
	}
	switch {
	case len(r.Steps) == 0:
		s.words = []string{"No optimizer steps: profile through optimizer.step(), or call profiler.step()."}
	case len(s.figures) == 0:
		s.words = []string{"No device activity: there is no ledger, only the time of the host. " +
			"Record with ProfilerActivity.CUDA for more."}
	case len(r.Steps) > maxSteps:
		all := ledgerTable(r, r.Steps)
		all.title = "Every step, ms"
		s.tables = append(s.tables, all)
	}
	return s
}

// withoutEvents is the note of a page that was made from a report instead of traces.
const withoutEvents = "There is no timeline: this page was made from a report, which does not hold the events. " +
	"Make it from the traces, or the report with {drawing}."

func timelineSection(r *report.Report, o Options) section {
	s := section{id: "timeline", title: "One step by stream", figures: plots.Of(r, plots.Timeline)}
	shown := 0
	for _, f := range s.figures {
		if !strings.HasSuffix(f.ID, "-end") {
			shown++
		}
	}
	switch {
	case r.Drawing == nil:
		s.words = []string{o.name(withoutEvents)}
	case shown == 0:
		s.words = []string{"No step has activity on a device that could be drawn."}
	case shown < len(r.Drawing.Timelines):
		s.words = []string{fmt.Sprintf("Shown are %d of %d ranks.", shown, len(r.Drawing.Timelines))}
	}
	if views, left := plots.Views(r, mostSpans); left > 0 {
		s.words = append(s.words, fmt.Sprintf("There is a choice of %d out of %d steps of ranks; the others have too "+
			"many events. A page of fewer steps or ranks has them.", len(views), len(views)+left))
	}
	if r.Straggler != nil && shown > 1 {
		s.words = append(s.words, fmt.Sprintf("Rank %d, for which the others wait, comes first.", *r.Straggler))
	}
	return s
}

// folded is a table of which a page shows only the title at first.
func folded(t table) table {
	t.fold = true
	return t
}

func collectiveSection(r *report.Report) section {
	if len(r.Collectives) == 0 {
		return section{id: "collectives", title: "Collectives",
			words: []string{"No collectives on a device: gloo runs on the host and is not counted as device time."}}
	}
	return section{
		id:     "collectives",
		title:  "Collectives",
		tables: []table{collectiveTable(r), folded(groupTable(r)), folded(eachCollective(r))},
	}
}

// mostListed is how many collectives are listed one by one.
const mostListed = 200

// eachCollective lists the collectives that are exposed longest.
func eachCollective(r *report.Report) table {
	if r.Drawing == nil {
		return table{}
	}
	list := longestExposed(r.Drawing.Collectives)
	t := table{title: "Single collectives, longest exposed first", left: 4,
		header: []string{"rank", "step", "kind", "launched from", "MB", "ts, µs", "duration, µs", "exposed, µs"},
		note:   "ts: as the trace has it; exposed: covered by no compute kernel"}
	if len(list) > mostListed {
		t.note += fmt.Sprintf("; the first %d of %d", mostListed, len(list)+r.Drawing.LeftOut)
		list = list[:mostListed]
	}
	for _, c := range list {
		step, size := "?", "?"
		if c.Step != nil {
			step = fmt.Sprint(*c.Step)
		}
		if c.Bytes != nil {
			size = fmt.Sprintf("%.3f", units.MB(*c.Bytes))
		}
		t.rows = append(t.rows, []string{
			fmt.Sprint(c.Rank), step, spaced(c.Kind), short(strings.TrimSpace(spaced(c.Site) + " " + c.Name)), size,
			micros(c.Start), micros(c.Duration), micros(c.Exposed),
		})
	}
	return t
}

func rankSection(r *report.Report) section {
	if len(r.Ranks) < 2 {
		return section{}
	}
	s := section{
		id:      "ranks",
		title:   "Ranks: waiting and transfer",
		words:   []string{waitText(r)},
		figures: plots.Of(r, plots.Waits),
		tables:  []table{rankTable(r), lateTable(r), matchTable(r)},
	}
	if m := &r.Matching; m.TransferMedian != nil {
		s.words = append(s.words, fmt.Sprintf("Transfer, from the latest start to the earliest end: "+
			"median %s µs, least %s µs. The ranks end apart by %s µs (median).",
			micros(*m.TransferMedian), orDash(m.TransferMin, micros), micros(*m.EndSkewMedian)))
	}
	return s
}

// withFirst is the report with at most mostFindings findings: they stand in the order of what
// they cost, and a page of more is opened by no browser.
func withFirst(r *report.Report) *report.Report {
	if len(r.Findings) <= mostFindings {
		return r
	}
	own := *r
	own.Findings = own.Findings[:mostFindings]
	return &own
}

// findingSection shows the findings of a report that has so many in all.
func findingSection(r *report.Report, all int) section {
	s := section{id: "findings", title: "Findings and their evidence"}
	if n := len(r.Findings); n < all {
		s.words = []string{fmt.Sprintf("The first %d of %d: the JSON report has all of them.", n, all)}
	}
	for i := range r.Findings {
		s.findings = append(s.findings, finding{&r.Findings[i], evidenceTable(evidenceOf(&r.Findings[i])).first()})
	}
	if len(s.findings) == 0 {
		s.words = []string{"None."}
	}
	return s
}

func evidenceTable(list []report.Evidence) table {
	t := table{title: "Events to look at", left: 2, fold: true,
		header: []string{"rank", "row", "ts, µs", "duration, µs", "event"}}
	for _, e := range list {
		t.rows = append(t.rows, []string{
			fmt.Sprint(e.Rank), short(e.Track), micros(e.Start), micros(e.Duration), short(e.Name),
		})
	}
	if slices.ContainsFunc(list, func(e report.Evidence) bool { return e.Code != "" }) {
		t.header = append(t.header, "code")
		for i, e := range list {
			t.rows[i] = append(t.rows[i], short(e.Code))
		}
	}
	return t
}

func gradientSection(r *report.Report) section {
	s := section{
		id:     "gradients",
		title:  "Accumulation, reduction and passes over the gradients",
		tables: []table{accumulationTable(r), passTable(r)},
	}
	if len(s.used().tables) == 0 {
		return section{}
	}
	return s
}

func kernelSection(r *report.Report) section {
	if len(r.Kernels) == 0 {
		return section{}
	}
	return section{id: "kernels", title: "Device time by name", tables: []table{topTable(r)}}
}

func healthSection(r *report.Report, o Options) section {
	s := section{
		id:     "health",
		title:  "Trace health",
		words:  []string{"Health: " + healthText(r, o) + "."},
		tables: []table{sourceTable(r), healthTable(r), folded(deviceTable(r))},
	}
	if len(r.Health.Problems) == 0 {
		s.words = append(s.words, "Nothing was damaged, repaired or left out.")
	}
	return s
}

func skippedSection(r *report.Report) section {
	if len(r.Skipped) == 0 {
		return section{
			id:    "skipped",
			title: "Not judged",
			words: []string{"Every rule that was asked for could be judged."},
		}
	}
	t := table{
		title:  "Rules that could not be judged",
		left:   2,
		header: []string{"rule", "reason and what would supply it"},
	}
	for _, s := range r.Skipped {
		t.rows = append(t.rows, []string{short(s.Rule), s.Reason})
	}
	return section{id: "skipped", title: "Not judged", tables: []table{t}}
}
