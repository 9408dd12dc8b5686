package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/gaprof/gaprof/analyze/report"
)

// The ranks of a run become one profile, whose exposed communication is that of the
// report.
func TestProfileOfSeveralRanks(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run.pb.gz")
	code, stdout, stderr := runWith("", "convert", "../../traces/demo-before", "-o", out)
	if code != exitOK || stdout+stderr != "" {
		t.Fatalf("exit code %d, stdout %q, stderr %s", code, stdout, stderr)
	}
	p := readProfile(t, out)
	exposed, ranks := int64(0), make(map[int64]bool)
	for _, s := range p.Sample {
		for i, kind := range p.SampleType {
			if kind.Type == "exposed_communication" {
				exposed += s.Value[i]
			}
		}
		for _, rank := range s.NumLabel["rank"] {
			ranks[rank] = true
		}
	}
	_, text, _ := runWith("", "analyze", "--format", "json", "../../traces/demo-before")
	var report report.Report
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatal(err)
	}
	want := int64(0)
	for _, c := range report.Communication {
		want += c.Exposed
	}
	if exposed != want || want == 0 || len(ranks) != 2 {
		t.Errorf("exposed %d ns, want %d; ranks %v", exposed, want, ranks)
	}
	code, _, stderr = runWith("", "convert", "../../traces/demo-before/rank0.json.gz",
		"../../traces/demo-before/rank1.json.gz", "-o", filepath.Join(t.TempDir(), "a.json"))
	if code != exitUsage || !strings.Contains(stderr, "--to pprof") {
		t.Errorf("exit code %d, stderr %s", code, stderr)
	}
}

func readProfile(t *testing.T, path string) *profile.Profile {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
