package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDemo: what the demo must say whatever the machine does meanwhile, and what it
// leaves behind.
func TestDemo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pair")
	code, out, stderr := runWith("", "demo", "-o", dir)
	if code != exitOK || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, want := range []string{
		`all runs are in ` + regexp.QuoteMeta(dir),
		`passes that scale gradients +292 launches, 1\.42 GB, 1\.30 ms +none`,
		`launched from +optimizer step \(18688\) +backward hook \(18688\)`,
		`of them exposed, per step +5\.\d\d ms of [\d.]+ ms \([\d.]+ %\) +0\.\d\d ms of`,
		`STEP +AdamW: 9\d\.\d+ -> 8\d\.\d+ ms, -[78]\.\d+ ms \(-[89]\.\d+ %\), p 0\.00\d`,
		`token weight relative to 1/N .* 0\.6718 to 1\.955 +1\n`,
		`norm of the gradient, against after +1\.0\d+ +1\n`,
		`MOVED +18688 AdamW reduce-scatters moved from the optimizer step to backward hooks`,
		`GONE +gradient pass scale`, `FIXED +OV004 warn`, `FIXED +GS002`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("it does not say %s", want)
		}
	}
	above := regexp.MustCompile(`(?m)^(FINDING|STAYED|WORSE) .*\b(warn|error)\b`)
	if left := above.FindAllString(out, -1); left != nil {
		t.Errorf("after has findings above a note: %q", left)
	}
	if t.Failed() {
		t.Log(out)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "examples.md"))
	head, _, _ := strings.Cut(strings.ReplaceAll(out, dir, "/tmp/gaprof-demo-1"), "\nThe difference")
	if err != nil || !strings.Contains(timeless(string(page)), timeless(head)) {
		t.Errorf("docs/examples.md does not show what the demo says: %v\n%s", err, head)
	}
	if code, _, stderr := runWith("", "demo", "-o", dir); code != exitInput || !strings.Contains(stderr, "--force") {
		t.Errorf("the second time: exit code %d, %s", code, stderr)
	}
	t.Run("norm", func(t *testing.T) { checkNorm(t, dir, out) })
}

// timeless leaves out the times of a text, and the shares that are made of them, with
// the spaces that fill columns up.
func timeless(text string) string {
	times := regexp.MustCompile(` *[\d.]+ ms| of [\d.]+ ms| \([\d.]+ %\)|/tmp/gaprof-demo-\d+| +`)
	return times.ReplaceAllString(text, " ")
}

// checkNorm: gaprof norm, on the files of the demo, finds the same ratio.
func checkNorm(t *testing.T, dir, out string) {
	t.Helper()
	code, audit, stderr := runWith("", "norm", filepath.Join(dir, "before-cpu"), "--against",
		filepath.Join(dir, "after-cpu"))
	ratio := regexp.MustCompile(`against after +([\d.]+)`).FindStringSubmatch(out)
	if code != exitOK || ratio == nil || !strings.Contains(audit, "norm ratio "+ratio[1]+",") {
		t.Errorf("norm: exit code %d, %v is not in\n%s%s", code, ratio, audit, stderr)
	}
}
