package rules_test

import (
	"bytes"
	"encoding/gob"
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

// smallTraces calls do with every example and case.
func smallTraces(t *testing.T, do func(t *testing.T, name string, inputs []analyze.Input)) {
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
}

// manyTraces calls do with every trace at hand: examples and cases, small samples,
// those of a current PyTorch, and the real ones where they are.
func manyTraces(t *testing.T, do func(t *testing.T, name string, inputs []analyze.Input)) {
	t.Helper()
	smallTraces(t, do)
	dirs := []string{"../../traces", "../../interop/testdata"}
	for _, dir := range []string{"gpu", "torch-cpu", "damaged", "idle"} {
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

// What is kept of a trace is a value: written down and read back it gives the same
// report, byte for byte, of one trace and of several ranks. Replays are left out: they need
// the trace itself.
func TestReducedIsAValue(t *testing.T) {
	o := analyze.Options{Rules: rules.All(), Drawing: true}
	n := 0
	compare := func(t *testing.T, name string, inputs []analyze.Input) {
		n++
		back := analyze.New(o)
		for i, in := range inputs {
			inputs[i].Lean = true
			back.AddReduced(i, writtenAndRead(t, analyze.Reduce(in, &o)))
		}
		sameReport(t, name, asJSON(t, back.Result().Report), asJSON(t, analyze.Run(inputs, o)))
	}
	manyTraces(t, compare)
	gpu := filepath.Join("..", "..", "..", "shared", "traces", "gpu")
	if files, _ := filepath.Glob(filepath.Join(gpu, "normuon-rank*.json.gz")); len(files) > 1 {
		compare(t, "all ranks", readAll(t, files...))
	}
	t.Logf("%d runs", n)
}

// writtenAndRead is a value after a way through bytes.
func writtenAndRead(t *testing.T, r *analyze.Reduced) *analyze.Reduced {
	t.Helper()
	var file bytes.Buffer
	if err := gob.NewEncoder(&file).Encode(r); err != nil {
		t.Fatal(err)
	}
	read := new(analyze.Reduced)
	if err := gob.NewDecoder(&file).Decode(read); err != nil {
		t.Fatal(err)
	}
	return read
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
