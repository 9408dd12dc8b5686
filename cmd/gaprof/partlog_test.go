package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLogsOfSomeSteps: a log that ends early, or lacks a step, says nothing of the others, and
// the gate does not pass on those that it has. A log of more steps than are looked at is whole.
func TestLogsOfSomeSteps(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, "run")
	flags := "train -q " + plantFlags + " --max-steps 4 -o " + run
	if code, _, stderr := runWith("", strings.Fields(flags)...); code != exitOK {
		t.Fatal(stderr)
	}
	config := normGate(t, dir)
	check := func(name, words string, want int, args ...string) {
		t.Helper()
		code, out := checked(append([]string{"-q", run, "--config", config}, args...)...)
		if code != want || !strings.Contains(out, words) {
			t.Errorf("%s: exit %d, want %d and %q\n%s", name, code, want, words, out)
		}
	}
	check("whole logs", "1 of 1 check passed", exitOK)
	for _, file := range []string{lossFile, "tokens.jsonl"} {
		path := filepath.Join(run, file)
		whole, err := os.ReadFile(path)
		must(t, err)
		for _, lost := range []string{`"step":3,`, `"step":1,`} {
			text := ""
			for line := range strings.Lines(string(whole)) {
				if !strings.Contains(line, lost) {
					text += line
				}
			}
			must(t, os.WriteFile(path, []byte(text), 0o666))
			check(file+" without "+lost, "nothing says what a token counts", exitInconclusive,
				"--tokens", filepath.Join(run, "tokens.jsonl"))
			check(file+" without "+lost+", allowed", "", exitOK, "--allow-inconclusive",
				"--tokens", filepath.Join(run, "tokens.jsonl"))
		}
		must(t, os.WriteFile(path, whole, 0o666))
	}
	check("a window of a longer log", "1 of 1 check passed", exitOK, "--steps", "0:2")
}
