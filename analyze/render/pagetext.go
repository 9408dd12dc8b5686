package render

import (
	"slices"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/escape"
)

// mostSentence is how many characters of a sentence are shown.
const mostSentence = 1000

// printable makes a text safe to show: names in it may come from a trace, and a report
// from anybody.
func printable(s string) string {
	s = escape.Control(s)
	if len(s) <= mostSentence {
		return s
	}
	if runes := []rune(s); len(runes) > mostSentence {
		return string(runes[:mostSentence]) + "…"
	}
	return s
}

// eachText calls change for every text of a page except those of figures, which are safe.
// This is the one place that knows them all.
func (p *page) eachText(change func(*string)) {
	change(&p.run)
	change(&p.headline)
	for i := range p.top {
		p.top[i].eachText(change)
	}
	for i := range p.says {
		change(&p.says[i].text)
		change(&p.says[i].right)
	}
	for i := range p.sections {
		s := &p.sections[i]
		change(&s.title)
		change(&s.answer)
		for j := range s.words {
			change(&s.words[j])
		}
		for j := range s.tables {
			s.tables[j].eachText(change)
		}
		for j := range s.findings {
			s.findings[j].eachText(change)
		}
	}
}

func (b *bars) eachText(change func(*string)) {
	change(&b.title)
	change(&b.note)
	for i := range b.rows {
		row := &b.rows[i]
		change(&row.name)
		change(&row.right)
		for j := range row.pieces {
			change(&row.pieces[j].label)
			change(&row.pieces[j].text)
		}
	}
}

func (t *table) eachText(change func(*string)) {
	change(&t.title)
	change(&t.note)
	for _, row := range append(t.rows, t.header) {
		for i := range row {
			change(&row[i])
		}
	}
}

// eachText works on copies: the page does not own the report.
func (f *finding) eachText(change func(*string)) {
	own := *f.Finding
	f.Finding = &own
	own.Also, own.Caveats = slices.Clone(own.Also), slices.Clone(own.Caveats)
	severity := string(own.Severity)
	for _, s := range []*string{&own.Rule, &severity, &own.Title, &own.Message, &own.Why, &own.Fix} {
		change(s)
	}
	own.Severity = report.Severity(severity)
	if own.Change != nil {
		code := *own.Change
		own.Change = &code
		change(&code.Before)
		change(&code.After)
	}
	for i := range own.Also {
		change(&own.Also[i])
	}
	for i := range own.Caveats {
		change(&own.Caveats[i])
	}
	f.evidence.eachText(change)
}
