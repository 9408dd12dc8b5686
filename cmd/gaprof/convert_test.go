package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// findingsOf is the JSON report of a trace without what names its file.
func findingsOf(t *testing.T, path string) string {
	t.Helper()
	code, stdout, stderr := runWith("", "analyze", "--format", "json", path)
	var report map[string]any
	stdout = strings.ReplaceAll(stdout, path, "trace")
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || code != exitOK {
		t.Fatalf("%s: exit code %d, error %v, stderr %s", path, code, err, stderr)
	}
	delete(report, "source")
	text, _ := json.MarshalIndent(report, "", " ")
	return string(text)
}

// A converted trace gives the same report as the original.
func TestConvertKeepsTheReport(t *testing.T) {
	const shared = "../../../shared/traces"
	if _, err := os.Stat(shared); err != nil {
		t.Skip("skipping: the shared traces are not here")
	}
	dir := t.TempDir()
	for _, in := range []string{"gpu/nanogpt-hook.json.gz", "torch-cpu/single-accum1-scale.native.json.gz"} {
		in = filepath.Join(shared, in)
		want := findingsOf(t, in)
		for _, out := range []string{"a.json.gz", "a.trace.txt.zst"} {
			out = filepath.Join(dir, out)
			code, stdout, stderr := runWith("", "convert", in, "-o", out, "--force")
			if code != exitOK || stdout+stderr != "" {
				t.Errorf("%s to %s: exit code %d, stdout %q, stderr %s", in, out, code, stdout, stderr)
			}
			if findingsOf(t, out) != want {
				t.Errorf("%s as %s gives another report", in, out)
			}
		}
	}
}

// A trace in is the same trace from a pipe.
func TestConvertStdin(t *testing.T) {
	const in = "1/1 10us +5us cpu_op a\n"
	code, stdout, stderr := runWith(in, "convert", "-", "-o", "-", "--to", "chrome")
	if code != exitOK || stderr != "" || !json.Valid([]byte(stdout)) {
		t.Fatalf("exit code %d, stderr %s, stdout %s", code, stderr, stdout)
	}
	code, back, _ := runWith(stdout, "convert", "-", "-o", "-", "--to", "text")
	if code != exitOK || !strings.Contains(back, "+5us") {
		t.Errorf("exit code %d, stdout %s", code, back)
	}
}
