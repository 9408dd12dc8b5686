package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// goldens are outputs that pages show or that are a contract, by file. Inputs
// of the real traces live outside the project and are skipped where absent.
var goldens = []struct {
	name  string
	args  []string
	inDoc bool // README or a page of docs/ shows it
}{
	{"nanogpt-current.txt", []string{"analyze", "../../../shared/traces/gpu/nanogpt-current.json.gz"}, true},
	{"nanogpt-hook.txt", []string{"analyze", "../../../shared/traces/gpu/nanogpt-hook.json.gz"}, true},
	{
		"nanogpt-current.md",
		[]string{"analyze", "--format", "md", "../../../shared/traces/gpu/nanogpt-current.json.gz"},
		false,
	},
	{"normuon.verdict.txt", []string{"analyze", "-q", "../../../shared/traces/gpu/normuon-rank[0-7].json.gz"}, true},
	{
		"normuon.txt",
		[]string{"analyze", "--show", "ranks", "../../../shared/traces/gpu/normuon-rank[0-7].json.gz"},
		false,
	},
	{"h100.txt", []string{"analyze", h100 + "current.json.gz"}, false},
	{"h100.full.txt", []string{"analyze", "--show", "findings,groups,top,health", h100 + "hook.json.gz"}, false},
	{"diff-h100.txt", []string{"diff", h100 + "current.json.gz", h100 + "hook.json.gz"}, false},
	{"sample-in-step.txt", []string{"analyze", "../../traces/reduce-scatter-in-step.json"}, true},
	{"sample-in-hook.txt", []string{"analyze", "../../traces/reduce-scatter-in-hook.json"}, false},
	{"sample-in-step.json", []string{"analyze", "--format", "json", "../../traces/reduce-scatter-in-step.json"}, false},
	{
		"sample-in-step.agent.json",
		[]string{"analyze", "--format", "agent", "../../traces/reduce-scatter-in-step.json"},
		false,
	},
	{"sample-in-step.csv", []string{"analyze", "--format", "csv", "../../traces/reduce-scatter-in-step.json"}, false},
	{
		"sample-in-step.full.txt",
		[]string{"analyze", "--show", "findings,groups,top,health", "../../traces/reduce-scatter-in-step.json"},
		false,
	},
	{
		"diff-nanogpt.txt",
		[]string{
			"diff", "../../../shared/traces/gpu/nanogpt-current.json.gz",
			"../../../shared/traces/gpu/nanogpt-hook.json.gz",
		},
		false,
	},
	{
		"diff-sample.txt",
		[]string{"diff", "../../traces/reduce-scatter-in-step.json", "../../traces/reduce-scatter-in-hook.json"},
		false,
	},
	{
		"diff-sample.md",
		[]string{
			"diff", "--format", "md", "../../traces/reduce-scatter-in-step.json",
			"../../traces/reduce-scatter-in-hook.json",
		},
		false,
	},
	{
		"diff-sample.json",
		[]string{
			"diff", "--format", "json", "../../traces/reduce-scatter-in-step.json",
			"../../traces/reduce-scatter-in-hook.json",
		},
		false,
	},
	{"demo-before.txt", []string{"analyze", "../../traces/demo-before"}, false},
	{"demo-after.txt", []string{"analyze", "../../traces/demo-after"}, false},
	{"demo-diff.txt", []string{"diff", "../../traces/demo-before", "../../traces/demo-after"}, false},
	{"explain-OV004.txt", []string{"explain", "ov004"}, false},
	{"help.txt", []string{"--help"}, false},
}

// h100 is the folder of one step of two real recordings, which are part of the project.
const h100 = "../../analyze/rules/testdata/h100/"

func TestGoldens(t *testing.T) {
	for _, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			input := g.args[len(g.args)-1]
			if strings.Contains(input, "shared") {
				if files, err := filepath.Glob(input); len(files) == 0 {
					t.Skipf("SKIP: real traces are not here: %v", err)
				}
			}
			var out, errs bytes.Buffer
			if code := run(g.args, strings.NewReader(""), &out, &errs); code != exitOK || errs.Len() > 0 {
				t.Fatalf("exit %d, stderr %q", code, errs.String())
			}
			compareGolden(t, filepath.Join("testdata", "golden", g.name), out.String())
		})
	}
}

func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test ./cmd/gaprof -update writes it)\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

// TestPagesShowGoldens: the pages show the outputs that they should; that they are those of the program holds TestDocs.
func TestPagesShowGoldens(t *testing.T) {
	var all strings.Builder
	for _, name := range docPages(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	for _, g := range goldens {
		golden, err := os.ReadFile(filepath.Join("testdata", "golden", g.name))
		if err != nil {
			t.Fatal(err)
		}
		if g.inDoc && !strings.Contains(all.String(), string(golden)) {
			t.Errorf("no page shows %s as it is (go test ./cmd/gaprof -run TestDocs -update writes it)", g.name)
		}
	}
}

// TestSchemaFile: the published schema is the one that explain prints.
func TestSchemaFile(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run([]string{"explain", "--schema"}, strings.NewReader(""), &out, &errs); code != exitOK {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	compareGolden(t, filepath.Join("..", "..", "docs", "schema", "report-1.json"), out.String())
}
