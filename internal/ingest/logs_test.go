package ingest

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/sidecar"
)

// Logs are taken from the one folder that has some, where the options name none.
func TestReadLogs(t *testing.T) {
	write := func(dir, name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return file
	}
	run, other := t.TempDir(), t.TempDir()
	bare, broken := t.TempDir(), t.TempDir()
	for _, dir := range []string{run, other} {
		write(dir, sidecar.TokensFile, `{"step":0,"tokens":7}`+"\n")
		write(dir, sidecar.LossFile, `{"step":0,"loss":2.5}`+"\n")
	}
	write(broken, sidecar.TokensFile, "{oops\n")
	in := func(dir string) string { return filepath.Join(dir, "rank3.json") }
	passed := []sidecar.TokenCount{{Tokens: 9}}
	for _, test := range []struct {
		name   string
		files  []string
		o      analyze.Options
		tokens int64 // of the first count; 0 none
		losses bool
		failed int
	}{
		{"a run", []string{in(run)}, analyze.Options{}, 7, true, 0},
		{"a run and traces elsewhere", []string{in(run), in(bare)}, analyze.Options{}, 7, true, 0},
		{"two runs", []string{in(run), in(other)}, analyze.Options{}, 0, false, 0},
		{"no logs", []string{in(bare)}, analyze.Options{}, 0, false, 0},
		{"a log that was passed", []string{in(run)}, analyze.Options{Logs: analyze.Logs{Tokens: passed}}, 9, true, 0},
		{"equal counts by the user's word", []string{in(run)}, analyze.Options{UniformTokens: true}, 0, true, 0},
		{"a broken log", []string{in(broken)}, analyze.Options{}, 0, false, 1},
	} {
		failures := ReadLogs(test.files, &test.o, Limits{})
		tokens := int64(0)
		if len(test.o.Logs.Tokens) > 0 {
			tokens = test.o.Logs.Tokens[0].Tokens
		}
		if tokens != test.tokens || (test.o.Logs.Losses != nil) != test.losses || len(failures) != test.failed {
			t.Errorf("%s: %d tokens, losses %v, %v", test.name, tokens, test.o.Logs.Losses, failures)
		}
		var format *trace.FormatError
		if test.failed > 0 && !errors.As(failures[0], &format) {
			t.Errorf("%s: %v", test.name, failures)
		}
	}
	list, err := ReadTokenLog(write(t.TempDir(), "tokens-rank5.jsonl", `{"step":0,"tokens":7}`), RankOfFile, Limits{})
	if err != nil || list[0].Rank != 5 {
		t.Errorf("the rank in the name of a log: %v %v", list, err)
	}
}

func TestRankOfFile(t *testing.T) {
	for file, want := range map[string]int64{
		"rank0_trace.json.gz": 0, "run/rank-3.json": 3, "x-gpu-rank-00-chrome-trace.json.gz": 0, "RANK12.json": 12,
		"trace.json": -1, "rank7/trace.json": -1, "rank99999999999999999999.json": -1,
	} {
		rank, ok := RankOfFile(file)
		if ok != (want >= 0) || ok && rank != want {
			t.Errorf("%s: %d %v, want %d", file, rank, ok, want)
		}
	}
	if rank, ok := RankBy(regexp.MustCompile(`gpu(\d+)`))("node1-gpu6.json"); rank != 6 || !ok {
		t.Errorf("by an expression: %d %v", rank, ok)
	}
}
