package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/escape"
	"github.com/gaprof/gaprof/internal/units"
	"github.com/gaprof/gaprof/trace"
)

// Text writes for a terminal: one line that says what was read, then verdict, why
// and next, then what else was found, then the tables.
func Text(w io.Writer, r *report.Report, o Options) error {
	b := o.sheet()
	r = withKinds(r)
	b.WriteString(headline(r, o) + "\n")
	since := b.line()
	say(b, verdict(r))
	b.repeat(since)
	if !o.Quiet {
		say(b, also(r))
		together(b, r, o)
		if text := memoryText(r); text != "" {
			line(b, saying{head: "MEMORY", text: text, right: o.name("{show} memory")})
		}
	}
	if o.shows("findings") {
		for i := range r.Findings {
			details(b, &r.Findings[i])
		}
	}
	for _, t := range tables(r, o) {
		drawText(b, foldRanks(t, o))
	}
	if !o.Quiet {
		skipped(b, r)
	}
	return b.flush(w)
}

// tables are those of the summary, unless only the verdict is wanted, and the ones asked for,
// without empty ones.
func tables(r *report.Report, o Options) []table {
	var list []table
	if !o.Quiet {
		list = append(list, stepTable(r), idleTable(r), accumulationTable(r), passTable(r), collectiveTable(r))
	}
	for _, extra := range []struct {
		section string
		make    func(*report.Report) table
	}{
		{"memory", memoryTable}, {"ranks", rankTable}, {"ranks", lateTable}, {"ranks", matchTable},
		{"groups", groupTable}, {"top", topTable}, {"health", healthTable},
	} {
		if o.shows(extra.section) {
			list = append(list, extra.make(r))
		}
	}
	if r.WhatIf != nil && o.shows("whatif") {
		list = append(list, whatIfTables(r.WhatIf)...)
	}
	var used []table
	for _, t := range list {
		if len(t.rows) > 0 {
			used = append(used, t)
		}
	}
	return used
}

// headline names the program and what it has read.
func headline(r *report.Report, o Options) string {
	parts := []string{rankText(r), stepsText(r)}
	if r.Source.Device != "unknown" {
		parts = append(parts, short(r.Source.Device))
	}
	parts = append(parts, "health: "+healthText(r, o))
	return "gaprof " + r.Version + "  " + strings.Join(parts, " · ")
}

func rankText(r *report.Report) string {
	text := "no rank"
	switch n := len(r.Source.Ranks); {
	case n == 1:
		text = fmt.Sprintf("rank %d", r.Source.Ranks[0])
	case n > 1:
		text = fmt.Sprintf("%d ranks", n)
	}
	if r.Source.WorldSize != nil {
		text += fmt.Sprintf(" of %d", *r.Source.WorldSize)
	}
	return text
}

// stepsText is how many steps a rank has, and of how many kinds.
func stepsText(r *report.Report) string {
	seen, kinds := map[int64]map[int]bool{}, map[string]bool{}
	for _, s := range r.Steps {
		if seen[s.Rank] == nil {
			seen[s.Rank] = map[int]bool{}
		}
		seen[s.Rank][s.Index] = true
		kinds[s.Kind] = true
	}
	least, most := 0, 0 // by rank: ranks step together, so their steps are not summed
	for i, rank := range r.Source.Ranks {
		n := len(seen[rank])
		if i == 0 || n < least {
			least = n
		}
		most = max(most, n)
	}
	if most == 0 {
		return "no optimizer steps"
	}
	text := units.Count(most, "step")
	if least < most {
		text = fmt.Sprintf("%d to %s", least, text)
	}
	if len(r.Source.Ranks) > 1 {
		text += " each"
	}
	if len(kinds) > 1 {
		text += fmt.Sprintf(" in %d kinds", len(kinds))
	}
	if r.Source.StepSource == "profiler_step" {
		text += " (ProfilerStep#, may be micro-batches)"
	}
	return text
}

// healthText is ok, or how many kinds of damage there are, and the unlinked events.
func healthText(r *report.Report, o Options) string {
	warn := 0
	repaired := 0
	for _, p := range r.Health.Problems {
		if p.Severity != "note" {
			warn++
		} else if p.Offset != nil {
			repaired++
		}
	}
	text := "ok"
	switch {
	case warn > 0:
		text = units.Count(warn, "warning") + o.name(" ({show} health)")
	case repaired > 0:
		text = o.name("repaired ({show} health)")
	}
	if n := problemsOf(r, trace.PossibleCommunication); n > 0 {
		text += ", " + units.Count(n, "kernel") + o.name(" may be communication ({show} health)")
	}
	unlinked, edge := 0, 0
	for _, d := range r.Health.DeviceEvents {
		unlinked += d.Unlinked
		edge += d.Edge
	}
	switch {
	case unlinked > 0 && unlinked == edge:
		text += ", " + units.Count(unlinked, "unlinked edge event")
	case unlinked > 0:
		text += ", " + units.Count(unlinked, "unlinked event")
	}
	return text
}

// problemsOf counts the different problems of a kind; ranks that share one count once.
func problemsOf(r *report.Report, code trace.Code) int {
	seen := make(map[string]bool)
	for _, p := range r.Health.Problems {
		if p.Code == string(code) {
			seen[p.Action] = true
		}
	}
	return len(seen)
}

// verdict is the first finding that is more than a note, and what takes most of a step
// beside compute where no finding speaks of it; without such a finding that alone.
func verdict(r *report.Report) []saying {
	if len(r.Findings) == 0 || r.Findings[0].Severity == report.Note {
		return nothing(r)
	}
	f := &r.Findings[0]
	next := f.Fix
	if text := savingText(f); text != "" {
		next += "; " + text
	}
	list := []saying{
		{"VERDICT", f.Message, f.Rule + " " + string(f.Severity), f.Severity},
		{"WHY", f.Why, "", ""},
		{"NEXT", next, "gaprof explain " + f.Rule, ""},
	}
	for _, l := range changed(f) {
		list = append(list, saying{text: l})
	}
	if text := codeText(f); text != "" {
		list = append(list, saying{head: "AT", text: text})
	}
	return append(list, unnamed(r)...)
}

// changed is the change of a finding as a patch of two lines; none where it has no code.
func changed(f *report.Finding) []string {
	if f.Change == nil {
		return nil
	}
	return []string{"- " + f.Change.Before, "+ " + f.Change.After}
}

// mostLines is how many lines of a program are named for a finding.
const mostLines = 3

// codeText names the lines of the program that a finding is about, "" where they are unknown.
func codeText(f *report.Finding) string {
	lines := f.Code()
	if n := len(lines) - mostLines; n > 0 {
		lines = append(lines[:mostLines], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(lines, ", ")
}

// also lists the other findings, a line each.
func also(r *report.Report) []saying {
	var list []saying
	for i := range r.Findings {
		f := &r.Findings[i]
		if i == 0 && f.Severity != report.Note {
			continue
		}
		list = append(list, saying{"ALSO", f.Message, f.Rule + " " + string(f.Severity), f.Severity})
	}
	return list
}

func say(b *sheet, list []saying) {
	for _, s := range list {
		line(b, s)
	}
}

// details prints a finding with its evidence.
func details(b *sheet, f *report.Finding) {
	b.WriteString("\n")
	b.paint(0, len(f.Rule)+1+len(f.Severity), severityStyle(f.Severity))
	fmt.Fprintf(b, "%s %s: %s\n", escape.Control(f.Rule), f.Severity, escape.Control(f.Message))
	fmt.Fprintf(b, "  %s\n  because: %s\n  fix: %s\n",
		escape.Control(f.Title), escape.Control(f.Why), escape.Control(f.Fix))
	for _, l := range changed(f) {
		fmt.Fprintf(b, "    %s\n", escape.Control(l))
	}
	if text := codeText(f); text != "" {
		fmt.Fprintf(b, "  at: %s\n", escape.Control(text))
	}
	if text := predictedText(f); text != "" {
		fmt.Fprintf(b, "  replay: %s\n", escape.Control(text))
	}
	for _, c := range f.Caveats {
		fmt.Fprintf(b, "  but: %s\n", escape.Control(c))
	}
	if len(f.Also) > 0 {
		fmt.Fprintf(b, "  also applies: %s\n", escape.Control(strings.Join(f.Also, ", ")))
	}
	for _, e := range evidenceOf(f) {
		fmt.Fprintf(b, "  see rank %d, row %s, ts %s us, %s us: %s\n",
			e.Rank, escape.Control(e.Track), micros(e.Start), micros(e.Duration), short(e.Name))
	}
}

// skipped lists the rules that could not run; silence is not health.
func skipped(b *sheet, r *report.Report) {
	list := unjudged(r)
	if len(list) == 0 {
		return
	}
	b.WriteString("\nNot judged\n")
	for _, s := range alike(list) {
		fmt.Fprintf(b, "  %s  %s\n", s.Rule, escape.Control(s.Reason))
	}
}

// alike joins neighbours that were skipped for the same reason, and names their rules
// together.
func alike(list []report.Skip) []report.Skip {
	var joined []report.Skip
	for _, s := range list {
		if n := len(joined); n > 0 && joined[n-1].Reason == s.Reason {
			joined[n-1].Rule += " " + s.Rule
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// together is one line on several ranks: who waits how long, and for whom.
func together(b *sheet, r *report.Report, o Options) {
	if len(r.Ranks) < 2 {
		return
	}
	line(b, saying{head: "RANKS", text: waitText(r), right: o.name("{show} ranks")})
}
