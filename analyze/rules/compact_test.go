package rules_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
	"github.com/gaprof/gaprof/trace/text"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// manyTraces calls do with every trace at hand: examples and cases, small samples,
// those of a current PyTorch, and the real ones where they are.
func manyTraces(t *testing.T, do func(t *testing.T, name string, inputs []analyze.Input)) {
	t.Helper()
	for _, pattern := range []string{"examples/*/*.txt", "testdata/cases/*.txt"} {
		files, _ := filepath.Glob(pattern)
		if len(files) < 10 {
			t.Fatalf("%s: %d files", pattern, len(files))
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tr, err := text.Read(strings.NewReader(string(data)), file)
			if err != nil {
				t.Fatal(err)
			}
			do(t, file, []analyze.Input{{File: file, Trace: tr}})
		}
	}
	dirs := []string{"../../traces", "../../interop/testdata"}
	for _, dir := range []string{"gpu", "torch-cpu", "damaged"} {
		if path := filepath.Join("..", "..", "..", "shared", "traces", dir); !testing.Short() && exists(path) {
			dirs = append(dirs, path)
		} else {
			t.Logf("SKIP: %s is not read", path)
		}
	}
	for _, dir := range dirs {
		files, err := tracefile.Expand([]string{dir})
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			do(t, file, readAll(t, file))
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// readAll reads the traces of some files.
func readAll(t *testing.T, files ...string) []analyze.Input {
	t.Helper()
	var inputs []analyze.Input
	for _, file := range files {
		traces, err := tracefile.Read(file, tracefile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range traces {
			inputs = append(inputs, analyze.Input{File: file, Trace: tr})
		}
	}
	return inputs
}

// asJSON is a report as bytes.
func asJSON(t *testing.T, r *report.Report) string {
	t.Helper()
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// sameReport fails at the first line in which two reports differ.
func sameReport(t *testing.T, name, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Errorf("%s: line %d is %s, want %s", name, i+1, g[i], w[i])
			return
		}
	}
	t.Errorf("%s: %d lines, want %d", name, len(g), len(w))
}

// Nobody names a row that was dropped: reports of compacted facts are those of whole
// traces, byte for byte.
func TestCompactChangesNoReport(t *testing.T) {
	n := 0
	manyTraces(t, func(t *testing.T, name string, inputs []analyze.Input) {
		n++
		whole := analyze.Run(inputs, analyze.Options{Rules: rules.All(), KeepTraces: true})
		sameReport(t, name, asJSON(t, analyze.Run(inputs, analyze.Options{Rules: rules.All()})), asJSON(t, whole))
	})
	t.Logf("%d files", n)
}

// The order in which traces arrive, from however many goroutines, changes no byte.
func TestOrderOfArrival(t *testing.T) {
	files, _ := filepath.Glob("../../interop/testdata/*.json.gz")
	inputs := readAll(t, files...) // many of them claim the same rank
	want := asJSON(t, analyze.Run(inputs, analyze.Options{Rules: rules.All()}))
	backwards := analyze.New(analyze.Options{Rules: rules.All()})
	for i := len(inputs) - 1; i >= 0; i-- {
		backwards.Add(i, inputs[i])
	}
	sameReport(t, "backwards", asJSON(t, backwards.Result().Report), want)
	together := analyze.New(analyze.Options{Rules: rules.All()})
	done := make(chan struct{})
	for i := range inputs {
		go func() {
			together.Add(i, inputs[i])
			done <- struct{}{}
		}()
	}
	for range inputs {
		<-done
	}
	sameReport(t, "together", asJSON(t, together.Result().Report), want)
}
