package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
)

// chainOf is a late rank and those that it waits for, directly or not; nil where no
// finding has a late rank.
func chainOf(r *report.Report) []report.LateRank {
	for i := range r.Findings {
		if l := r.Findings[i].Lateness; l != nil {
			return append([]report.LateRank{l.LateRank}, l.Chain...)
		}
	}
	return nil
}

// evidenceOf is all that shows a finding: why a rank is late, then the rest.
func evidenceOf(f *report.Finding) []report.Evidence {
	if f.Lateness == nil {
		return f.Evidence
	}
	list := slices.Clone(f.Lateness.Evidence)
	for i := range f.Lateness.Chain {
		list = append(list, f.Lateness.Chain[i].Evidence...)
	}
	return append(list, f.Evidence...)
}

// lateTable says what a late rank does that the others do not, part by part; it is empty
// where no rank is late.
func lateTable(r *report.Report) table {
	t := table{title: "Why a rank is late, ms per step beyond the others", left: 1,
		header: []string{"rank", "late"},
		note:   "what it does before collectives in which others wait for it; the parts sum to late"}
	chain := chainOf(r)
	var used []string
	for i := range chain {
		for _, p := range chain[i].Parts {
			if !slices.Contains(used, p.Cause) && millis(max(p.NS, -p.NS)) != "0.000" {
				used = append(used, p.Cause)
			}
		}
	}
	for _, cause := range used {
		t.header = append(t.header, strings.ReplaceAll(cause, "_", " "))
	}
	t.header = append(t.header, "other")
	for i := range chain {
		t.rows = append(t.rows, lateRow(&chain[i], used))
	}
	return t
}

// lateRow is one rank of the table. What has no column of its own is with the unexplained.
func lateRow(l *report.LateRank, used []string) []string {
	row, other := []string{strconv.FormatInt(l.Rank, 10), millis(l.Late)}, l.Late
	for _, cause := range used {
		ns := int64(0)
		if i := slices.IndexFunc(l.Parts, func(p report.LatePart) bool { return p.Cause == cause }); i >= 0 {
			ns = l.Parts[i].NS
		}
		row, other = append(row, millis(ns)), other-ns
	}
	return append(row, millis(other))
}
