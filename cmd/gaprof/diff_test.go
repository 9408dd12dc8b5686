package main

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gaprof/gaprof/analyze/compare"
)

// TestDiffSchemaFile: the published schema is that of the code.
func TestDiffSchemaFile(t *testing.T) {
	schema, err := compare.JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetIndent("", " ")
	if err := enc.Encode(schema); err != nil {
		t.Fatal(err)
	}
	compareGolden(t, "../../docs/schema/diff-1.json", b.String())
}

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
