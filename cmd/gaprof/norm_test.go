package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The trainer gives what our own oracle expects.
func TestNormTinyOracle(t *testing.T) {
	code, out, errs := runWith("", "norm", "--oracle", filepath.Join("..", "..", "oracle", "testdata", "tiny"))
	if code != exitOK || !strings.HasSuffix(out, "56 of 56 agree\n") || strings.Contains(out, "WRONG") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

// The trainer gives what an oracle expects, and an oracle that expects something else is
// told from one that does not.
func TestNormOracle(t *testing.T) {
	oracle := filepath.Join("..", "..", "..", "shared", "oracle")
	if _, err := os.Stat(oracle); err != nil {
		t.Skip("no ../shared/oracle here")
	}
	both := t.TempDir() // of two cases, whatever others are there
	for _, name := range []string{"mlp", "transformer"} {
		for _, file := range []string{"_inputs.json", "_expected_f64.json", "_expected_f32.json"} {
			text, err := os.ReadFile(filepath.Join(oracle, name+file))
			must(t, err)
			must(t, os.WriteFile(filepath.Join(both, name+file), text, 0o666))
		}
	}
	code, out, errs := runWith("", "norm", "--oracle", both)
	if code != exitOK || !strings.HasSuffix(out, "112 of 112 agree\n") || strings.Contains(out, "WRONG") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	dir := t.TempDir()
	for _, name := range []string{"mlp_inputs.json", "mlp_expected_f64.json"} {
		text, err := os.ReadFile(filepath.Join(oracle, name))
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(text), `"loop_logged_loss": 3.502966472825836`,
			`"loop_logged_loss": 3.502966472835836`, 1)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(changed), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	code, out, _ = runWith("", "norm", "--oracle", dir)
	if code != exitGate || strings.Count(out, "WRONG") != 1 || !strings.HasSuffix(out, "27 of 28 agree\n") {
		t.Errorf("exit %d: %s", code, out)
	}
}
