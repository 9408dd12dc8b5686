package ingest

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/trace/tracefile/readertest"
)

// canonicalReport is the report of the canonical trace in some format.
func canonicalReport(t *testing.T, format string) *report.Report {
	t.Helper()
	name, content, err := readertest.File(format)
	must(t, err)
	must(t, os.WriteFile(name, content, 0o666))
	a := analyze.New(analyze.Options{})
	if r := Read([]string{name}, a, Options{}); r.Traces != 1 || len(r.Failures) > 0 {
		t.Fatalf("%+v", r)
	}
	made := a.Result().Report
	made.Source.Files, made.Source.Bytes = nil, 0
	return made
}

// Whatever format a trace is read from, the same steps, launches, collectives and passes
// over gradients are found in it. What a format lacks makes its report another one: then
// it says here what is left.
func TestFormatsAreAnalysed(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, format := range readertest.Formats() {
		t.Run(format, func(t *testing.T) {
			r := canonicalReport(t, format)
			checkRank(t, r)
			checkSteps(t, r)
			checkCommunication(t, r)
			checkGradients(t, r)
		})
	}
}

// The reports of formats that lack nothing are equal to the last byte, but for the name of the file.
func TestFormatsGiveOneReport(t *testing.T) {
	t.Chdir(t.TempDir())
	var texts []string
	for _, format := range []string{"chrome", "text"} {
		r := canonicalReport(t, format)
		for i := range r.Source.RankFiles {
			r.Source.RankFiles[i].File = ""
		}
		text, err := json.Marshal(r)
		must(t, err)
		texts = append(texts, string(text))
	}
	if texts[0] != texts[1] {
		t.Errorf("%s\n%s", texts[0], texts[1])
	}
}

func checkRank(t *testing.T, r *report.Report) {
	s := r.Source
	world := s.WorldSize != nil && *s.WorldSize == 2
	if len(s.Ranks) != 1 || s.Ranks[0] != 1 || !world || s.Device != "NVIDIA H100 80GB HBM3" {
		t.Errorf("source %+v", s)
	}
	if len(r.Health.Problems) > 0 || len(r.Health.DeviceEvents) != 1 || r.Health.DeviceEvents[0].Unlinked != 0 {
		t.Errorf("health %+v", r.Health)
	}
}

func checkSteps(t *testing.T, r *report.Report) {
	if r.Source.StepSource != "optimizer" || len(r.Steps) != 2 || r.AccumulationSteps == nil ||
		*r.AccumulationSteps != 2 {
		t.Fatalf("steps %+v from %s", r.Steps, r.Source.StepSource)
	}
	linked := 0
	for _, s := range r.Steps {
		linked += s.LinkedEvents
		passes := s.MicroBatches
		if !s.Complete || passes == nil || *passes != 2 || len(s.Optimizers) != 1 || s.Optimizers[0].Name != "SGD" {
			t.Errorf("step %+v", s)
		}
	}
	if all := r.Health.DeviceEvents[0].Count; linked == 0 || linked > all {
		t.Errorf("%d of %d device events are launched in steps", linked, all)
	}
}

func checkCommunication(t *testing.T, r *report.Report) {
	if len(r.Groups) != 2 {
		t.Fatalf("groups %+v", r.Groups)
	}
	for i, g := range r.Groups {
		inStep := g.Step != nil && *g.Step == i
		if g.Kind != "all_reduce" || !inStep || g.Site != "backward_hook" || g.Count != 1 || g.Bytes == nil ||
			*g.Bytes != 8192 {
			t.Errorf("group %+v", g)
		}
	}
	if len(r.GradientSync) != 1 || r.GradientSync[0].Pattern != "last_micro_batch" {
		t.Errorf("sync %+v", r.GradientSync)
	}
}

func checkGradients(t *testing.T, r *report.Report) {
	if len(r.GradientPasses) != 2 {
		t.Fatalf("passes %+v", r.GradientPasses)
	}
	for _, p := range r.GradientPasses {
		if p.Kind != "scale" || p.Where != "after_backward" || p.Parameters != 1 || !p.OnDevice || p.Bytes != 16384 {
			t.Errorf("pass %+v", p)
		}
	}
}
