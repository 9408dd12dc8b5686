package main

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/trace/sidecar"
)

const smallRun = "--layers 1 --width 16 --heads 2 --sequence-length 16 --local-batch-size 1 --profile-steps none -q"

// TestKilled: a run that is killed leaves the logs of the steps that it has done.
func TestKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	cmd := exec.Command("gaprof", append(strings.Fields("train --max-steps 100000000 "+smallRun), "-o", dir)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for lines := 0; lines < 400; {
		text, err := os.ReadFile(filepath.Join(dir, lossFile))
		if lines = bytes.Count(text, []byte("\n")); err != nil && len(ended) > 0 {
			t.Fatalf("it ended by itself: %s", said.String())
		}
	}
	must(t, cmd.Process.Kill())
	<-ended
	for _, name := range []string{tokensFile, lossFile} {
		file, err := os.Open(filepath.Join(dir, name))
		must(t, err)
		defer file.Close()
		if name == tokensFile {
			list, err := sidecar.ReadTokens(file, name, 0)
			if err != nil || len(list) < 80 {
				t.Errorf("%s: %d counts, %v", name, len(list), err)
			}
			continue
		}
		log, err := sidecar.ReadLosses(file, name, 0)
		if err != nil || len(log.Micro) < 80 || len(log.Steps) < 10 || log.Steps[9].Step != 9 {
			t.Errorf("%s: %d losses, %v", name, len(log.Micro), err)
		}
	}
	code, stdout, stderr := runWith("", "norm", dir)
	if code != exitOK || !strings.Contains(stdout, "every token counts equally") {
		t.Errorf("norm: code %d, %s%s", code, stdout, stderr)
	}
}

// TestLossBecomesNaN: train says so once, where it began, and so does norm.
func TestLossBecomesNaN(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	flags := strings.Fields("train --optimizer sgd --lr 1e6 --max-steps 8 " + smallRun)
	code, stdout, stderr := runWith("", append(flags, "-o", dir)...)
	said := strings.Contains(stdout, "loss 5.") && strings.Contains(stdout, "-> NaN") &&
		strings.Contains(stdout, "tokens/s")
	if code != exitOK || strings.Count(stderr, "the loss is NaN in step ") != 1 || !said {
		t.Errorf("code %d, %q, %q", code, stdout, stderr)
	}
	_, rest, _ := strings.Cut(stderr, "the loss is ")
	where, _, _ := strings.Cut(rest, ";")
	code, stdout, _ = runWith("", "norm", dir)
	all := strings.Join(strings.Fields(stdout), " ")
	if code != exitOK || where == "" || !strings.Contains(all, "the loss is "+where) {
		t.Errorf("norm does not say %q: %s", where, stdout)
	}
}

func TestBadLoss(t *testing.T) {
	step := reference.StepResult{Step: 4, MicroBatches: 2, Ranks: []reference.RankStep{
		{Rank: 0, LossSums: []float64{1, math.Inf(1)}, Tokens: []int64{3, 3}},
		{Rank: 1, LossSums: []float64{math.NaN(), 1}, Tokens: []int64{0, 3}},
	}}
	const want = "the loss is Infinity in step 4 of rank 0, first in micro-batch 1"
	if got := badLoss(reference.Options{}, step); got != want {
		t.Error(got)
	}
	step.Ranks[0].LossSums[1] = 2
	if got := badLoss(reference.Options{}, step); got != "" {
		t.Errorf("a micro-batch without tokens: %s", got)
	}
}

// TestTokensOfOneRank: norm says which ranks a log lacks, and why equal counts are not enough.
func TestTokensOfOneRank(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, "run")
	code, _, stderr := runWith("", append(strings.Fields("train --max-steps 2 --force "+
		strings.Replace(smallRun, "--profile-steps none", "", 1)), "-o", run)...)
	if code != exitOK {
		t.Fatal(stderr)
	}
	text, err := os.ReadFile(filepath.Join(run, tokensFile))
	must(t, err)
	var of0 strings.Builder
	for l := range strings.Lines(string(text)) {
		if strings.Contains(l, `"rank":0`) {
			of0.WriteString(l)
		}
	}
	log := filepath.Join(dir, "rank0.jsonl")
	must(t, os.WriteFile(log, []byte(of0.String()), 0o666))
	_, stdout, _ := runWith("", "norm", filepath.Join(run, "rank0.json.gz"), filepath.Join(run, "rank1.json.gz"),
		"--tokens", log)
	if all := strings.Join(strings.Fields(stdout), " "); !strings.Contains(all, "those of rank 1 are missing") {
		t.Errorf("got %s", stdout)
	}
	code, _, stderr = runWith("", "norm", "../../traces/reduce-scatter-in-step.json", "--tokens", "uniform")
	if code != exitInput || !strings.Contains(stderr, "equally many tokens, not how many") {
		t.Errorf("code %d, %s", code, stderr)
	}
}
