package main

import (
	"fmt"
	"io"
	"slices"
)

// The limits of docs/architecture.md.
const (
	mostCycle       = 8  // files in one cycle
	mostFields      = 20 // of a struct
	mostMethodFiles = 5  // in which the methods of one type stand
	mostCyclo       = 15 // of a function
	mostLines       = 350
)

// exempt are the packages whose structs may have more fields, each with its reason.
var exempt = map[string]string{
	"analyze/report": "the fields are those of the JSON that others read, where grouping them is a change of the format",
}

// broken writes which limits m breaks, one a line, and returns how many. What is
// exempt is written as well, with its reason, and not counted.
func broken(w io.Writer, m measured) int {
	n := 0
	tell := func(format string, args ...any) {
		n++
		fmt.Fprintf(w, "%s: %s\n", m.path, fmt.Sprintf(format, args...))
	}
	if len(m.cycle) > mostCycle {
		tell("%d files in one cycle, at most %d: %v", len(m.cycle), mostCycle, m.cycle)
	}
	for _, r := range m.methods {
		if r.files > mostMethodFiles {
			tell("%s has methods in %d files, at most %d", r.name, r.files, mostMethodFiles)
		}
	}
	for _, c := range above(m.fields, mostFields) {
		if why := exempt[m.path]; why != "" {
			fmt.Fprintf(w, "%s: %s has %d fields; exempt: %s\n", m.path, c.name, c.n, why)
			continue
		}
		tell("%s has %d fields, at most %d", c.name, c.n, mostFields)
	}
	for _, c := range above(m.cyclo, mostCyclo) {
		tell("%s has a cyclomatic complexity of %d, at most %d", c.name, c.n, mostCyclo)
	}
	for _, c := range above(m.long, mostLines) {
		tell("%s has %d lines, at most %d", c.name, c.n, mostLines)
	}
	return n
}

// above returns those of counts, which descend, that exceed limit.
func above(counts []count, limit int) []count {
	end := slices.IndexFunc(counts, func(c count) bool { return c.n <= limit })
	if end < 0 {
		return counts
	}
	return counts[:end]
}
