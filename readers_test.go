package gaprof_test

import (
	"slices"
	"strings"
	"testing"
)

// readers are the packages that work on reports, and what else of analyze they may import:
// contracts that other packages of their kind hold. What they need of a trace has to be in
// the report, or a report that was read from a file would not serve them.
var readers = map[string][]string{
	"analyze/compare":        {"analyze/report"},
	"analyze/gate":           {"analyze/report", "analyze/compare"},
	"analyze/render/plots":   {"analyze/report", "analyze/render/plots/plot"},
	"analyze/render/overlay": {"analyze/report"},
	"analyze/render/agent":   {"analyze/report", "analyze/compare", "analyze/gate"},
	"analyze/render": {
		"analyze/report", "analyze/compare", "analyze/gate", "analyze/render/plots", "analyze/render/agent",
		"analyze/normalization", // for its audit, the contract gaprof.norm/1
		"analyze/straggler",     // for its result, the contract gaprof.straggler/1
	},
}

func TestReadersSeeReportsAlone(t *testing.T) {
	seen := make(map[string]bool)
	for _, s := range sources(t) {
		allowed, reads := readers[s.pkg]
		if !reads || s.test {
			continue
		}
		seen[s.pkg] = true
		for _, imported := range s.imports() {
			own, ok := strings.CutPrefix(imported, module+"/")
			if ok && strings.HasPrefix(own+"/", "analyze/") && !slices.Contains(allowed, own) {
				t.Errorf("%s: imports %s: it reads reports, and what it needs has to be in them", s.path, own)
			}
		}
	}
	if len(seen) != len(readers) {
		t.Errorf("of the readers only these are there: %v", seen)
	}
}
