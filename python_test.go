package gaprof_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestPythonPackage runs the tests of the package in python/gaprof, which need Python's standard library alone.
func TestPythonPackage(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3: the Python package is not tested")
	}
	cmd := exec.Command(python, "-B", "-m", "unittest", "discover", "-s", "python/tests")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("python/tests: %v\n%s", err, out)
	}
	if !strings.Contains(string(out), "\nRan ") || strings.Contains(string(out), "\nRan 0 tests") {
		t.Fatalf("python/tests ran no tests:\n%s", out)
	}
}
