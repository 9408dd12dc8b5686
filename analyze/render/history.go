package render

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// Run is a run of a history: its report, and what to call it; without a name its files say.
type Run struct {
	Name   string
	Report *report.Report // never nil
}

// mostRuns is how many runs a figure of a history shows, the last ones.
const mostRuns = 40

// HistoryHTML writes one page of several runs, oldest first: how their steps changed, which
// findings came and went, and what the last change was. It needs nothing else.
func HistoryHTML(w io.Writer, runs []Run, o Options) error {
	runs = slices.Clone(runs)
	for i := range runs {
		runs[i].Report = withKinds(runs[i].Report)
		runs[i].Name = cmp.Or(runs[i].Name, runName(runs[i].Report.Source.Files), "run "+fmt.Sprint(i+1))
	}
	p := page{run: fmt.Sprintf("%d runs: %s to %s", len(runs), short(path.Base(runs[0].Name)),
		short(path.Base(runs[len(runs)-1].Name)))}
	last := runs[len(runs)-1].Report
	p.headline = "the last: " + strings.TrimPrefix(headline(last, o), "gaprof "+last.Version+"  ")
	p.top = []bars{historyBars(runs)}
	var changes []sentence
	if len(runs) > 1 {
		d := compare.Between([]*report.Report{runs[len(runs)-2].Report}, []*report.Report{last}, last.Version)
		changes = diffSentences(d)
	}
	p.says = sayings(changes, "STEP")
	if len(p.says) > 0 {
		p.says = p.says[:1]
	}
	p.says = append(p.says, verdict(last)...)
	p.sections = []section{
		section{id: "runs", title: "Runs", tables: []table{runTable(runs)}}.used(),
		section{id: "findings", title: "Findings of each run", words: cameAndWent(runs),
			tables: []table{findingTable(runs)}}.used(),
		section{id: "change", title: "The last change", words: sentenceWords(changes)}.used(),
		section{id: "verdicts", title: "Verdicts", tables: []table{verdictTable(runs)}}.used(),
	}
	return p.finish(w, "report", last.Version, o)
}

// historyBars is where the time of the mean step of each run goes.
func historyBars(runs []Run) bars {
	b := bars{title: "The mean step of each run, ms"}
	shown := runs[max(0, len(runs)-mostRuns):]
	if len(shown) < len(runs) {
		b.note = fmt.Sprintf("The last %d of %d runs. ", len(shown), len(runs))
	}
	for _, run := range shown {
		if t := run.Report.Time; t != nil {
			b.rows = append(b.rows, ledgerRow(short(run.Name), t.Parts))
		}
	}
	b.note += "Means over the steps of all ranks and kinds. Communication is only what nothing hides."
	return b
}

// runTable is a row for each run.
func runTable(runs []Run) table {
	t := table{title: "Mean step of each run", left: 2, open: true,
		header: []string{"run", "name", "ranks", "steps", "ms/step", "change", "compute", "communication", "idle",
			"findings"},
		note: "change: of the mean step against the run before; communication: the part that nothing hides; " +
			"findings: those above a note"}
	var before *report.Time
	for i, run := range runs {
		r := run.Report
		row := []string{fmt.Sprint(i + 1), short(run.Name), fmt.Sprint(len(r.Source.Ranks)),
			"-", "-", "-", "-", "-", "-", fmt.Sprint(len(r.Findings) - len(notesOf(r)))}
		if now := r.Time; now != nil {
			row[3], row[4] = fmt.Sprint(now.Count), ms2(now.Length)
			if before != nil && before.Of == now.Of && before.Length > 0 {
				row[5] = fmt.Sprintf("%+.1f %%", 100*float64(now.Length-before.Length)/float64(before.Length))
			}
			compute, idle := computeShare(now), shareOf(now, report.IdlePart)
			row[6], row[8] = percentOf(compute), percentOf(idle)
			row[7] = percentOf(max(0, 1-compute-idle-shareOf(now, report.MemoryPart)))
		}
		before = r.Time
		t.rows = append(t.rows, row)
	}
	return t
}

func shareOf(t *report.Time, what string) float64 {
	for i := range t.Parts {
		if t.Parts[i].What == what {
			return t.Parts[i].Share
		}
	}
	return 0
}

func notesOf(r *report.Report) (notes []string) {
	for i := range r.Findings {
		if r.Findings[i].Severity == report.Note {
			notes = append(notes, r.Findings[i].Rule)
		}
	}
	return notes
}

// findingTable is the cost of each finding in each of the last runs.
func findingTable(runs []Run) table {
	const most = 8
	shown := runs[max(0, len(runs)-most):]
	t := table{title: "Cost of each finding, ms per step", left: 2, header: []string{"rule", "what"},
		note: "by run; -: not found; 0.00: found, without a cost in time"}
	if len(shown) < len(runs) {
		t.note += fmt.Sprintf("; the last %d runs", most)
	}
	for i := range shown {
		t.header = append(t.header, "run "+fmt.Sprint(len(runs)-len(shown)+i+1))
	}
	for _, f := range rulesOf(shown) {
		row := []string{f.Rule, short(f.Title)}
		for _, run := range shown {
			row = append(row, costIn(run.Report, f.Rule))
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// rulesOf is a finding for each rule that found anything, by rule.
func rulesOf(runs []Run) []report.Finding {
	var list []report.Finding
	for _, run := range runs {
		for _, f := range run.Report.Findings {
			if !slices.ContainsFunc(list, func(g report.Finding) bool { return g.Rule == f.Rule }) {
				list = append(list, f)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b report.Finding) int { return cmp.Compare(a.Rule, b.Rule) })
	return list
}

func costIn(r *report.Report, rule string) string {
	cost, found := int64(0), false
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Rule == rule {
			found = true
			if f.Cost != nil {
				cost += *f.Cost
			}
		}
	}
	if !found {
		return "-"
	}
	return ms2(cost)
}

// cameAndWent say what came and what went with the last run.
func cameAndWent(runs []Run) []string {
	if len(runs) < 2 {
		return nil
	}
	before, last := rulesOf(runs[len(runs)-2:len(runs)-1]), rulesOf(runs[len(runs)-1:])
	var words []string
	for _, w := range []struct {
		text   string
		of, in []report.Finding
	}{{"New in the last run", last, before}, {"Gone since the run before", before, last}} {
		var names []string
		for _, f := range w.of {
			if !slices.ContainsFunc(w.in, func(g report.Finding) bool { return g.Rule == f.Rule }) {
				names = append(names, f.Rule+" "+f.Title)
			}
		}
		if len(names) > 0 {
			words = append(words, w.text+": "+strings.Join(names, ", ")+".")
		}
	}
	return words
}

func sentenceWords(list []sentence) []string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = strings.TrimPrefix(s.head+": "+s.text, ": ")
	}
	return words
}

// verdictTable is what is said first of each run.
func verdictTable(runs []Run) table {
	t := table{title: "What is said of each run first", left: 3, header: []string{"run", "rule", "verdict"}}
	for i, run := range runs {
		first := verdict(run.Report)[0]
		t.rows = append(t.rows, []string{fmt.Sprint(i + 1), first.right, first.text})
	}
	t.note = units.Count(len(runs), "run")
	return t
}
