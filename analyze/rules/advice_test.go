package rules_test

import (
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// TestLinesFitTheWords: the lines of code of a finding name what its advice is about, not what another cause of
// the same rule would ask for.
func TestLinesFitTheWords(t *testing.T) {
	seen := 0
	for file, want := range map[string]struct{ rule, words, line string }{
		"examples/OV004/fires.txt": {"OV004", "hook", "dist.reduce_scatter_tensor(shard, p.grad)"},
		"examples/OV010/fires.txt": {"OV010", "more micro-batches", ""},
		"examples/CL002/silent.txt": {"OV008", "one all-reduce for all norms",
			"dist.all_reduce(square); dist.all_reduce(tokens)"},
		"examples/ID001/skipped.txt": {"TH004", "activities=", "activities=[ProfilerActivity.CUDA]"},
	} {
		for _, f := range runFile(t, file).Findings {
			if f.Rule != want.rule || !strings.Contains(f.Fix, want.words) {
				continue
			}
			seen++
			change := report.Change{}
			if f.Change != nil {
				change = *f.Change
			}
			if want.line == "" && change != (report.Change{}) || !strings.Contains(change.Before, want.line) {
				t.Errorf("%s: %s: %s => %s", file, f.Fix, change.Before, change.After)
			}
		}
	}
	if seen != 4 {
		t.Errorf("%d findings of 4 were seen", seen)
	}
}
