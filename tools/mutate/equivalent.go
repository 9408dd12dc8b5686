package main

import (
	_ "embed"
	"strings"
)

//go:embed equivalent.txt
var equivalentText string

// equivalents are the mutants that nobody could tell from the code, by mutant.key, with
// the reason.
func equivalents(text string) map[string]string {
	known := map[string]string{}
	key := ""
	for line := range strings.Lines(text) {
		switch trimmed := strings.TrimSpace(line); {
		case trimmed == "" || line[0] == '#':
		case line[0] == '\t':
			known[key] = strings.TrimSpace(known[key] + " " + trimmed)
		default:
			key = trimmed
			known[key] = ""
		}
	}
	return known
}
