package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// The JSON has what scripts ask for, whole numbers where they are ns.
func TestWhatIfJSON(t *testing.T) {
	code, out, stderr := runWith("", "whatif", "../../traces/reduce-scatter-in-step.json", "--format", "json",
		"--edit", "hoist-reduce-scatter")
	if code != 0 {
		t.Fatal(stderr)
	}
	var r report.WhatIf
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Edits) != 1 || !r.Edits[0].Legal || len(r.Edits[0].Kinds) != 1 {
		t.Fatalf("%+v", r.Edits)
	}
	if g := r.Edits[0].Kinds[0].Gain; g.Mean <= 0 || g.Low > g.Mean || g.High < g.Mean {
		t.Errorf("gain %+v", g)
	}
	for _, want := range []string{
		`"span_error": 0`, `"worst_start_error_ns": 0`, `"unexplained_gaps": 3`, `"gain_ns"`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s", want)
		}
	}
}
