package rules_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
	"github.com/gaprof/gaprof/trace/text"
)

// ofCase is the report of a case, edited.
func ofCase(t *testing.T, name string, edits ...string) *report.Report {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "cases", name))
	if err != nil {
		t.Fatal(err)
	}
	tr, err := text.Read(strings.NewReader(strings.NewReplacer(edits...).Replace(string(data))), name)
	if err != nil {
		t.Fatal(err)
	}
	return analyze.Run([]analyze.Input{{File: name, Trace: tr}}, analyze.Options{Rules: rules.All()})
}

func findingOf(r *report.Report, rule string) *report.Finding {
	for i := range r.Findings {
		if r.Findings[i].Rule == rule {
			return &r.Findings[i]
		}
	}
	return nil
}

func reasonOf(r *report.Report, rule string) string {
	for _, s := range r.Skipped {
		if s.Rule == rule {
			return s.Reason
		}
	}
	return ""
}

// TestGraphsAreNotJudged: why OV004 says nothing of a graph, and what it says of the rest
// where only some reductions are a graph's.
func TestGraphsAreNotJudged(t *testing.T) {
	const want = "launched by a CUDA graph: sites inside a graph are unknown without annotations"
	if got := reasonOf(ofCase(t, "graph-whole-step.txt"), "OV004"); !strings.Contains(got, want) {
		t.Errorf("skipped for %q", got)
	}
	for _, name := range []string{"graph-annotated-step.txt", "graph-annotated-backward.txt"} {
		if got := reasonOf(ofCase(t, name), "OV004"); got != "" {
			t.Errorf("%s: skipped for %q", name, got)
		}
	}
	// The last step lost its annotation.
	some := ofCase(t, "graph-annotated-step.txt", "corr=22 graph=3 coll=_reduce_scatter_base in=1000000 out=500000 "+
		"dtype=Float group=0 gsize=2 seq=41 \"name\"=Optimizer.step#AdamW.step", "corr=22 graph=3")
	f := findingOf(some, "OV004")
	if f == nil || !strings.Contains(strings.Join(f.Caveats, "; "), "1 reduction in CUDA graphs not judged") {
		t.Errorf("%+v", f)
	}
	for _, h := range some.Health.Problems {
		t.Errorf("a problem: %+v", h)
	}
}

// TestOneNumberDiffers: what has one number and differs is shown, by both events.
func TestOneNumberDiffers(t *testing.T) {
	f := findingOf(ofCase(t, "number-differs.txt"), "ST002")
	if f == nil {
		t.Fatal("no ST002")
	}
	for _, want := range []string{
		"process group 0 (default_pg) (matched by Comms Id and sequence number): ",
		"number 9 is reduce_scatter of 500000 Float on rank 0, but reduce_scatter of 400000 Float on rank 1",
	} {
		if !strings.Contains(f.Why, want) {
			t.Errorf("%q is not in %q", want, f.Why)
		}
	}
	if len(f.Evidence) != 2 || f.Evidence[0].Rank != 0 || f.Evidence[1].Rank != 1 || f.Evidence[1].Start != 1_720_000 {
		t.Errorf("%+v", f.Evidence)
	}
	// Without numbers the same is an alignment that fails, and says so.
	f = findingOf(ofCase(t, "number-differs.txt", " seq=", " \"x\"=", " comms=", " \"y\"="), "ST002")
	if f == nil || !strings.Contains(f.Why, "(aligned by signature)") || strings.Contains(f.Why, "number 9") {
		t.Errorf("%+v", f)
	}
}
