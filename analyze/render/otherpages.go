package render

import (
	"io"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/analyze/gate"
	"github.com/gaprof/gaprof/analyze/render/plots"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/straggler"
	"github.com/gaprof/gaprof/internal/release"
)

// sayings are sentences as a page says them, the one with the given head first.
func sayings(list []sentence, first string) []saying {
	var says []saying
	for _, s := range list {
		if s.head == first {
			says = append(says, saying{head: s.head, text: s.text})
		}
	}
	for _, s := range list {
		if s.head != first {
			says = append(says, saying{head: s.head, text: s.text})
		}
	}
	return says
}

// finish makes the texts of a page safe and writes it.
func (p *page) finish(w io.Writer, command, version string, o Options) error {
	p.eachText(func(s *string) { *s = printable(*s) })
	return p.write(w, p.run+" · "+p.headline+" · gaprof "+command, version, o)
}

// DiffHTML writes one page that needs nothing else, as HTML does for a report.
func DiffHTML(w io.Writer, d *compare.Diff, o Options) error {
	p := page{
		run:      "Base and new: " + sameOrBoth(runName(d.Base.Files), runName(d.New.Files)),
		headline: strings.TrimPrefix(diffHeadline(d), "gaprof "+d.Version+" diff  "),
		says:     sayings(diffSentences(d), ""),
	}
	if b := diffBars(d); len(b.rows) > 0 {
		p.top = append(p.top, b)
	}
	if !o.Quiet {
		p.sections = []section{{id: "times", title: "Times by kind of step", tables: diffTables(d)}}
	}
	return p.finish(w, "diff", d.Version, o)
}

// diffBars is where the time of each kind of step goes on both sides.
func diffBars(d *compare.Diff) bars {
	b := bars{title: "Where the time of a step goes, base above new",
		note: "Medians of each part over complete steps, so a bar need not sum to the median step."}
	for i := range d.Kinds[:min(mostBars, len(d.Kinds))] {
		k := &d.Kinds[i]
		base, new := []report.Part{}, []report.Part{}
		for j := range k.Figures {
			f := &k.Figures[j]
			if f.Name != report.IdlePart && f.Name != report.ComputePart && f.Name != report.MemoryPart &&
				!slices.Contains(communicationNames, f.Name) {
				continue
			}
			base, new = addPart(base, f.Name, f.Base), addPart(new, f.Name, f.New)
		}
		for _, side := range []struct {
			name  string
			parts []report.Part
		}{{"base", base}, {"new", new}} {
			if len(side.parts) > 0 {
				b.rows = append(b.rows, ledgerRow(short(k.Name)+", "+side.name, side.parts))
			}
		}
	}
	return b
}

func addPart(parts []report.Part, what string, s *compare.Summary) []report.Part {
	if s == nil || s.Median <= 0 {
		return parts
	}
	return append(parts, report.Part{What: what, Mean: s.Median})
}

// CheckHTML writes a gate's result as one page that needs nothing else.
func CheckHTML(w io.Writer, c Checked, o Options) error {
	r := c.Result
	var files []string
	for _, one := range c.Reports {
		files = append(files, one.Source.Files...)
	}
	p := page{
		run:      "Check: " + string(r.Verdict),
		headline: strings.Join(append([]string{runName(files)}, checkedOf(c)...), " · "),
		says:     sayings(checkSentences(r), "VERDICT"),
	}
	severity := map[gate.Outcome]report.Severity{gate.Failed: report.Error, gate.Inconclusive: report.Warn}
	p.says[0].severity, p.says[0].right = severity[r.Verdict], string(r.Verdict)
	if len(c.Reports) == 1 {
		if b := timeBars(c.Reports[0]); b != nil {
			p.top = append(p.top, *b)
		}
	}
	if t := checkTable(r); !o.Quiet && len(t.rows) > 0 {
		t.open = true
		p.sections = []section{{id: "checks", title: "Checks", tables: []table{t}}}
	}
	return p.finish(w, "check", r.Version, o)
}

// WhatIfHTML writes predictions as one page that needs nothing else.
func WhatIfHTML(w io.Writer, r *report.WhatIf, o Options) error {
	_, headline, _ := strings.Cut(whatIfHeadline(r), "whatif  ")
	p := page{run: runName(r.Files), headline: headline, says: sayings(whatIfSentences(r), "GAIN")}
	if b := gainBars(r); len(b.rows) > 0 {
		p.top = append(p.top, b)
	}
	if !o.Quiet {
		s := section{id: "whatif", title: "What if", tables: whatIfTables(r)}
		for i := range s.tables {
			t := &s.tables[i]
			t.title, t.fold = whatIfTitles[t.title], t.title == "NOT FOR THIS RUN"
			t.note, t.more = strings.Join(append([]string{t.note}, t.more...), "; "), nil
		}
		p.sections = []section{s.used()}
	}
	return p.finish(w, "whatif", r.Version, o)
}

// gainBars is what each change gains, a bar for each that gains anything.
func gainBars(r *report.WhatIf) bars {
	b := bars{title: "What a change gains, ms per step", note: "Means over the steps of all kinds. " +
		"A bound is what no change of its kind exceeds, not a prediction."}
	for i := range r.Edits {
		e := &r.Edits[i]
		if !e.Legal || e.Gain == nil || e.Gain.Mean <= 0 || len(b.rows) == 2*mostBars {
			continue
		}
		name, ink := e.Edit, "changed"
		if e.Bound {
			name, ink = name+" (bound)", plots.Ink(report.IdlePart)
		}
		label := ms2(e.Gain.Mean) + " ms"
		text := name + ": " + gainText(e.Gain)
		b.rows = append(b.rows, barRow{name: name, pieces: []barPiece{{ink, label, text, e.Gain.Mean}}})
	}
	return b
}

// StragglerHTML writes what slow workers cost a job as one page that needs nothing else.
func StragglerHTML(w io.Writer, r *straggler.Result, o Options) error {
	p := page{
		run:      runName([]string{r.File}),
		headline: stragglerHeadline(r),
		says:     sayings(stragglerSentences(r), "VERDICT"),
		top:      []bars{stragglerBars(r)},
	}
	if tables := stragglerTables(r); !o.Quiet && len(tables) > 0 {
		tables[0].open = true
		p.sections = []section{{id: "slowdown", title: "Where the slowdown is", tables: tables}}
	}
	return p.finish(w, "whatif", release.Version, o)
}

// stragglerBars is the mean step of a job: as it was, replayed, and with even work.
func stragglerBars(r *straggler.Result) bars {
	b := bars{title: "The mean step", note: "Replayed: without delays that the model knows no reason for. " +
		"Even work: every operation of a type takes the same time."}
	for _, one := range []struct {
		name, ink string
		ns        int64
	}{
		{"observed", report.IdlePart, r.ObservedNS}, {"replayed", report.ComputePart, r.ReplayedNS},
		{"with even work", report.MemoryPart, r.IdealNS},
	} {
		row := barOf(one.name, one.ink, one.ns, max(1, r.ObservedNS))
		b.rows = append(b.rows, row)
	}
	return b
}
