package gaprof_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof"
	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/tracefile"
)

const sample = "traces/reduce-scatter-in-step.json"

// The zero value of the options runs all rules; a list that is empty runs none.
func TestRulesRunByDefault(t *testing.T) {
	for _, test := range []struct {
		name string
		o    gaprof.Options
		want bool
	}{
		{"zero", gaprof.Options{}, true},
		{"empty", gaprof.Options{Rules: []analyze.Rule{}}, false},
	} {
		r, err := gaprof.Analyze([]string{sample}, test.o)
		if err != nil {
			t.Fatal(err)
		}
		if found := len(r.Findings)+len(r.Skipped) > 0; found != test.want || r.Version == "" {
			t.Errorf("%s: %d findings, %d rules skipped, version %q",
				test.name, len(r.Findings), len(r.Skipped), r.Version)
		}
	}
	if a, b := gaprof.Rules(), gaprof.Rules(); len(a) == 0 || &a[0] == &b[0] {
		t.Error("the list of rules is shared")
	}
}

// A run is the traces of its ranks with the logs beside them, from a folder, from memory or
// from streams.
func TestWaysToARun(t *testing.T) {
	const folder = "traces/demo-before"
	whole, err := gaprof.Analyze([]string{folder}, gaprof.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(whole.Source.Ranks, []int64{0, 1}) || whole.Normalization.Ratio == nil {
		t.Errorf("ranks %v, normalization %+v", whole.Source.Ranks, whole.Normalization)
	}
	inputs, err := gaprof.OpenAll(folder)
	if err != nil || len(inputs) != 2 {
		t.Fatal(inputs, err)
	}
	inMemory, err := gaprof.AnalyzeTraces(inputs, gaprof.Options{})
	if err != nil || len(inMemory.Steps) != len(whole.Steps) {
		t.Errorf("%d steps of %d in memory, %v", len(inMemory.Steps), len(whole.Steps), err)
	}
	text, err := os.ReadFile(inputs[0].File)
	if err != nil {
		t.Fatal(err)
	}
	streamed, err := gaprof.Read(bytes.NewReader(text))
	if err != nil || streamed.Len() != inputs[0].Trace.Len() {
		t.Errorf("%v, %d events of %d", err, streamed.Len(), inputs[0].Trace.Len())
	}
	if d := gaprof.Diff(whole, whole); d.Changed() {
		t.Error("a report differs from itself")
	}
}

// Traces of several runs are an error that lists the files of each, from files and from memory.
func TestSeveralRuns(t *testing.T) {
	folders := []string{"traces/demo-before", "traces/demo-after"}
	_, fromFiles := gaprof.Analyze(folders, gaprof.Options{})
	inputs, err := gaprof.OpenAll(folders...)
	if err != nil {
		t.Fatal(err)
	}
	_, fromMemory := gaprof.AnalyzeTraces(inputs, gaprof.Options{})
	for _, err := range []error{fromFiles, fromMemory} {
		var several *analyze.SeveralRuns
		if !errors.As(err, &several) {
			t.Fatal(err)
		}
		for i, run := range several.Runs {
			folder := filepath.FromSlash(folders[i])
			if len(several.Runs) != 2 || len(run.Files) != 2 || filepath.Dir(run.Files[0]) != folder {
				t.Errorf("%v", err)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return file
	}
	event := func(cat string) string {
		return `{"traceEvents":[{"ph":"X","cat":"` + cat + `","name":"a","pid":1,"tid":1,"ts":1,"dur":1}]}`
	}
	several := write("two.json", event("cpu_op")+"\n"+event("cpu_op"))
	empty, bad := write("empty.json", event("other")), write("bad.json", "no trace")
	if _, err := gaprof.Open(filepath.Join(dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	var unreadable *tracefile.Error
	for _, open := range []func(string) error{
		func(file string) error { _, err := gaprof.Open(file); return err },
		func(file string) error { _, err := gaprof.OpenAll(file); return err },
		func(file string) error { _, err := gaprof.Analyze([]string{file}, gaprof.Options{}); return err },
		func(file string) error {
			_, err := gaprof.Analyze([]string{sample, file}, gaprof.Options{})
			return err
		},
	} {
		if err := open(bad); !errors.As(err, &unreadable) || !strings.Contains(err.Error(), "bad.json") {
			t.Errorf("what is no trace: %v", err)
		}
	}
	if _, err := gaprof.Open(several); err == nil || !strings.Contains(err.Error(), "holds 2 traces") {
		t.Errorf("two traces: %v", err)
	}
	if list, err := gaprof.OpenAll(several); err != nil || len(list) != 2 {
		t.Errorf("two traces: %d, %v", len(list), err)
	}
	if _, err := gaprof.Read(strings.NewReader("no trace")); !errors.As(err, &unreadable) {
		t.Errorf("a stream that is no trace: %v", err)
	}
	_, err := gaprof.Analyze([]string{empty}, gaprof.Options{})
	if !errors.Is(err, gaprof.ErrNothing) || !strings.Contains(err.Error(), "empty.json") {
		t.Errorf("nothing to analyze: %v", err)
	}
	if _, err := gaprof.AnalyzeTrace(new(trace.Trace), gaprof.Options{}); !errors.Is(err, gaprof.ErrNothing) {
		t.Errorf("an empty trace: %v", err)
	}
	write("tokens.jsonl", "{oops")
	file := write("rank0.json", event("cpu_op"))
	var format *trace.FormatError
	_, err = gaprof.Analyze([]string{file}, gaprof.Options{})
	if !errors.As(err, &format) || !strings.Contains(format.File, "tokens.jsonl") {
		t.Errorf("a log that cannot be read: %v", err)
	}
}
