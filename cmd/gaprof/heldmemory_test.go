package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// accumulated trains a small model on one rank for three steps of four micro-batches, and
// analyses what it recorded.
func accumulated(t *testing.T, backward string) (dir string, r report.Report) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), backward)
	if code, _, stderr := runWith("", "train", "-q", "-o", dir, "--backward", backward, "--max-steps", "3",
		"--world-size", "1", "--local-batch-size", "2", "--global-batch-size", "8", "--sequence-length", "32",
		"--token-counts", "50,50,50,50"); code != 0 {
		t.Fatalf("train: exit %d: %s", code, stderr)
	}
	code, stdout, stderr := runWith("", "analyze", "--format", "json", dir)
	if code != 0 {
		t.Fatalf("analyze: exit %d: %s", code, stderr)
	}
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	return dir, r
}

// One backward pass for a step of four micro-batches holds four times what one for each
// does, and the peak grows by about what AC005 says.
func TestBackwardOnceHoldsAll(t *testing.T) {
	const forwards = 4
	onceDir, once := accumulated(t, "step")
	eachDir, each := accumulated(t, "micro-batch")
	if len(once.Memory) != 3 || len(each.Memory) != 3 {
		t.Fatalf("%d and %d rows of memory, want one a step", len(once.Memory), len(each.Memory))
	}
	held := *each.Memory[1].Held
	for i := range once.Memory {
		o, e := &once.Memory[i], &each.Memory[i]
		if *e.Held != held || *e.HeldPasses != 1 || *o.Held != forwards*held || *o.HeldPasses != forwards || held == 0 {
			t.Errorf("step %d: %d bytes held by %d, and %d by %d; want four times as many", i, *e.Held, *e.HeldPasses,
				*o.Held, *o.HeldPasses)
		}
		peaks := e.Phase
		if i == 0 { // AdamW allocates its state, for the first time
			peaks = "backward"
		}
		if o.Phase != "backward" || peaks != "backward" || o.Start != e.Start || o.Relative ||
			*o.PeakReserved < o.PeakAllocated {
			t.Errorf("step %d: %+v, %+v", i, *o, *e)
		}
	}
	f := findingOf(&once, "AC005")
	if f == nil || f.SavingBytes == nil || findingOf(&each, "AC005") != nil {
		t.Fatalf("AC005 %+v", f)
	}
	saved := once.Memory[1].PeakAllocated - each.Memory[1].PeakAllocated
	bound := f.SavingBytes.High
	if saved > bound || saved < bound*95/100 || *f.CostBytes != *once.Memory[1].HeldAtPeak {
		t.Errorf("the peak is lower by %d, AC005 says at most %d, of %d", saved, bound, *f.CostBytes)
	}
	code, stdout, stderr := runWith("", "diff", onceDir, eachDir)
	want := "of 4 forward passes -> "
	got := strings.Join(strings.Fields(stdout), " ")
	if code != 0 || !strings.Contains(got, "MEMORY peak of steps of AdamW") || !strings.Contains(got, want) {
		t.Errorf("diff: exit %d, without %q: %s%s", code, want, stdout, stderr)
	}
}

// findingOf is the finding of a rule, nil without one.
func findingOf(r *report.Report, rule string) *report.Finding {
	for i := range r.Findings {
		if r.Findings[i].Rule == rule {
			return &r.Findings[i]
		}
	}
	return nil
}

// A budget in GB is kept or not by the trace of a run.
func TestMemoryBudget(t *testing.T) {
	dir, r := accumulated(t, "step")
	for limit, want := range map[string]int{"1GB": 0, "100kB": exitGate} {
		config := filepath.Join(t.TempDir(), "gaprof.yaml")
		text := "version: 1\nbudgets: {memory.peak: [error, {max: " + limit + "}]}\n"
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, stdout, _ := runWith("", "check", "--config", config, dir); code != want {
			t.Errorf("%s, where the peak is %d: exit %d\n%s", limit, r.Memory[0].PeakAllocated, code, stdout)
		}
	}
}
