package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// The text form fits 100 columns, and begins with the change of step time.
func TestDiffText(t *testing.T) {
	_, out, _ := runWith("", "diff", "../../traces/reduce-scatter-in-step.json",
		"../../traces/reduce-scatter-in-hook.json")
	for line := range strings.Lines(out) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	step := strings.Index(out,
		"\nSTEP     ShardedAdam: 6.800 -> 5.900 ms, -0.900 ms (-13.24 %), not significant (p 0.100)")
	moved := strings.Index(out, "12 ShardedAdam reduce-scatters moved from the optimizer step to backward hooks")
	if step < 0 || moved < step || strings.Index(out, "\n") != step {
		t.Errorf("the step is at %d, what moved at %d:\n%s", step, moved, out)
	}
}

// TestDiffLoaders: of PyTorch's own pair, before and after num_workers=4, the text says that
// the loader changed, and that the idle time in it accounts for the change of the step.
func TestDiffLoaders(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "traces", "idle")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("skipping: the shared traces are not here")
	}
	_, out, _ := runWith("", "diff", filepath.Join(dir, "resnet50-loader-in-main.json.gz"),
		filepath.Join(dir, "resnet50-loader-4-workers.json.gz"))
	for _, want := range []string{
		"STEP     SGD: 175.601 -> 128.012 ms, -47.590 ms (-27.10 %), not significant (p 0.065)",
		"WHY      idle in data loading (median 56.448 -> 0.000 ms) accounts for more than all of it: -46.82\n" +
			"         of -32.49 ms/step by means; in the other direction idle in host operators +6.67 ms",
		"SETTING  data loader: _SingleProcessDataLoaderIter -> _MultiProcessingDataLoaderIter",
		"FIXED    ID001 error: data loading leaves the device idle 47.28 ms/step (26.9 % of 175.6 ms)",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}
