package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/gaprof/gaprof/trace/sidecar"
)

// tiny are the flags of a model that trains at once.
var tiny = []string{"--layers", "1", "--width", "16", "--heads", "2", "--sequence-length", "32"}

// onFirst does something when the first text is written.
type onFirst struct {
	once sync.Once
	do   func()
	b    bytes.Buffer
}

func (w *onFirst) Write(p []byte) (int, error) {
	w.once.Do(w.do)
	return w.b.Write(p)
}

// TestInterrupt: Ctrl-C ends a run after the step that is under way, and what was done
// is written.
func TestInterrupt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	stderr := &onFirst{do: func() {
		if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
			t.Error(err)
		}
	}}
	var stdout bytes.Buffer
	args := append([]string{"train", "-o", dir, "--max-steps", "1000000", "--progress", "plain"}, tiny...)
	code := run(args, strings.NewReader(""), &stdout, stderr)
	if code != exitInterrupt || !strings.Contains(stderr.b.String(), "interrupted after ") {
		t.Fatalf("exit code %d, stderr %s", code, stderr.b.String())
	}
	log, err := os.Open(filepath.Join(dir, tokensFile))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	tokens, err := sidecar.ReadTokens(log, tokensFile, 0)
	if err != nil {
		t.Fatal(err)
	}
	steps := int(tokens[len(tokens)-1].Step) + 1
	if len(tokens) != steps*2*4 {
		t.Errorf("%d counts of %d steps", len(tokens), steps)
	}
	code, report, _ := runWith("", "analyze", dir, "--format", "csv", "--strict")
	if code != exitOK || report == "" {
		t.Errorf("analyze: exit code %d, %s", code, report)
	}
}

// TestTrainHelp: every option of the trainer is a flag, by its name.
func TestTrainHelp(t *testing.T) {
	o := small()
	_, help, _ := runWith("", "train", "--help")
	for _, f := range o.Fields() {
		if !strings.Contains(help, "--"+f.Name+" ") {
			t.Errorf("the help does not name --%s", f.Name)
		}
	}
}

// TestTrainRefused: what the trainer rejects is reported in terms of flags, as are its usage texts.
func TestTrainRefused(t *testing.T) {
	for args, want := range map[string]string{
		"--scale skip": "gaprof: --scale: skip is right with one micro-batch only, a step has 4\n" +
			"gaprof: hint: take loss, or --global-batch-size -1\n",
		"--optimizer-in-backward --global-batch-size -1 --scale pass": "gaprof: --optimizer-in-backward: " +
			"gradients are used up before --scale pass could run\ngaprof: hint: take --scale loss\n",
		"--token-counts 1,2": "gaprof: --token-counts: they are of 1 ranks, --world-size is 2\n" +
			"gaprof: hint: give every rank its counts\n",
	} {
		line := append([]string{"train", "-o", filepath.Join(t.TempDir(), "run")}, strings.Fields(args)...)
		code, _, stderr := runWith("", line...)
		if code != exitUsage || stderr != want {
			t.Errorf("%s: exit code %d, %q, want %q", args, code, stderr, want)
		}
	}
	_, help, _ := runWith("", "train", "--help")
	if !strings.Contains(help, "where it has none 4 x --width") || strings.Contains(help, "`") {
		t.Errorf("the help names options otherwise than as flags:\n%s", help)
	}
}
