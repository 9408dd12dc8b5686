//go:build linux || darwin

package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gaprof/gaprof/trace/sidecar"
)

// gradientsOf writes a file of gradients with one tensor whose header says what it likes.
func gradientsOf(t *testing.T, name, meta, shape string) {
	t.Helper()
	header := `{"__metadata__":{"rank":"0","step":"0"` + meta + `},"w":{"dtype":"F32","shape":` + shape +
		`,"data_offsets":[0,4]}}`
	must(t, os.MkdirAll(filepath.Dir(name), 0o777))
	must(t, os.WriteFile(name, fmt.Appendf(nil, "%c%c\x00\x00\x00\x00\x00\x00%s\x00\x00\x00\x00", byte(len(header)),
		byte(len(header)>>8), header), 0o666))
}

// TestBoundedInputs: whatever is not a plain file of bounded size, or claims what nothing has,
// is refused with the reason, what can be done, and the exit code of its kind.
func TestBoundedInputs(t *testing.T) {
	trace, err := filepath.Abs("../../traces/reduce-scatter-in-step.json")
	must(t, err)
	t.Chdir(t.TempDir())
	must(t, os.Symlink("/dev/zero", "zero"))
	must(t, syscall.Mkfifo("pipe", 0o600))
	large, err := os.Create("large")
	must(t, err)
	must(t, large.Truncate(1<<40)) // it takes no room
	must(t, large.Close())
	for _, name := range []string{"large.jsonl", "large.csv", "large.safetensors"} {
		must(t, os.Symlink("large", name))
	}
	most := math.MaxInt64
	must(t, os.WriteFile("sum.csv", fmt.Appendf(nil, "step,rank,tokens\n0,0,%d\n0,1,%d\n", most/2, most/2+7), 0o666))
	must(t, os.WriteFile("sum.jsonl", fmt.Appendf(nil, `{"step":0,"tokens":%d}`+"\n", most), 0o666))
	inf := `{"step":0,"micro_batch":0,"loss_sum":1e309,"local_valid_tokens":5}`
	must(t, os.WriteFile("inf.jsonl", []byte(inf), 0o666))
	gradientsOf(t, "world/rank0-step0.safetensors", `,"world_size":"2147483647"`, "[]")
	gradientsOf(t, "numel/rank0-step0.safetensors", "", "[2147483648,2147483648,4]")
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"check TRACE --config zero", exitUsage, "--config: zero: is a device, not a plain file"},
		{"check TRACE --config .", exitUsage, "--config: .: is a directory, not a plain file"},
		{"check TRACE --config large", exitUsage, "has 1099511627776 bytes, and a configuration has at most 65536"},
		{"check TRACE --config gone", exitUsage, "--config: open gone: no such file or directory"},
		{"check TRACE --baseline zero", exitInput, "zero: a baseline is a report, and this is not one"},
		{"check TRACE --baseline pipe", exitInput, "pipe: a baseline is a report, and this is not one"},
		{"analyze @zero", exitInput, "zero: is a device, not a plain file"},
		{"norm x --min-impact 1ms", exitUsage, "unknown flag: --min-impact"},
		{"norm x --peak-bw 1", exitUsage, "unknown flag: --peak-bw"},
		{"norm x --align-clocks", exitUsage, "unknown flag: --align-clocks"},
		{"analyze @large", exitInput, "and a list of files has at most 33554432 bytes"},
		{"analyze @.", exitInput, ".: is a directory"},
		{"analyze TRACE --tokens zero", exitInput, "zero: is a device, not a plain file"},
		{"analyze TRACE --tokens large.jsonl", exitInput, "and a log has at most "},
		{"analyze TRACE --tokens large.csv --mem-limit 160MB", exitInput, "and a log has at most 10000000 bytes"},
		{"analyze TRACE --tokens sum.csv", exitInput, "line 2: 4611686018427387903 tokens: with those before it"},
		{"norm sum.jsonl", exitInput, "with those before it the log has more than 9007199254740992, which no run has"},
		{"norm inf.jsonl", exitInput, "loss log: line 1: "},
		{"norm world", exitInput, "world_size 2147483647 is more than any run has, 1048576"},
		{"norm numel", exitInput, `"w" has the shape [2147483648 2147483648 4]`},
		{"norm large.safetensors", exitInput, "large.safetensors: is hollow: of 1099511627776 bytes 0 are stored"},
		{"analyze large", exitInput, "large: is hollow: of "},
		{"norm --oracle pipe", exitInput, "pipe: "},
	} {
		args := strings.Fields(strings.ReplaceAll(c.args, "TRACE", trace))
		code, _, stderr := runWith("", args...)
		if code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%s: exit %d, %s", c.args, code, stderr)
		}
	}
}

// A configuration that is found is a plain file too; what else has its name is no reason to
// check by another one.
func TestFoundConfig(t *testing.T) {
	trace, err := filepath.Abs("../../traces/reduce-scatter-in-step.json")
	must(t, err)
	for says, place := range map[string]func(name string) error{
		"gaprof.yaml: is a device, not a plain file": func(name string) error { return os.Symlink("/dev/zero", name) },
		"gaprof.yaml: is a pipe, not a plain file":   func(name string) error { return syscall.Mkfifo(name, 0o600) },
		"gaprof.yaml: no such file or directory":     func(name string) error { return os.Symlink("nowhere", name) },
		"gaprof.yaml: too many levels":               func(name string) error { return os.Symlink(name, name) },
		"gaprof.yaml: has 70000 bytes, and a configuration has at most 65536 bytes": func(name string) error {
			return os.WriteFile(name, make([]byte, 70_000), 0o666)
		},
	} {
		t.Chdir(t.TempDir())
		must(t, place("gaprof.yaml"))
		code, _, stderr := runWith("", "check", trace)
		if code != exitUsage || !strings.Contains(stderr, says) {
			t.Errorf("exit %d, %s, want %s", code, stderr, says)
		}
	}
}

// What is beside traces under the name of a log and is none is named and left out.
func TestFoundLogs(t *testing.T) {
	trace, err := os.ReadFile("../../traces/reduce-scatter-in-step.json")
	must(t, err)
	t.Chdir(t.TempDir())
	must(t, os.WriteFile("rank0.json", trace, 0o666))
	must(t, os.Symlink("/dev/zero", sidecar.TokensFile))
	must(t, syscall.Mkfifo(sidecar.LossFile, 0o600))
	code, _, stderr := runWith("", "analyze", ".")
	if code != exitOK || !strings.Contains(stderr, "tokens.jsonl: is a device, not a plain file; left out") ||
		!strings.Contains(stderr, "loss.jsonl: is a pipe, not a plain file; left out") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

// A small file that would decode into gigabytes is refused within the limit, as a report, as
// either side of a difference, and as a baseline.
func TestReportBombs(t *testing.T) {
	trace, err := filepath.Abs("../../traces/reduce-scatter-in-step.json")
	must(t, err)
	const head = `{"schema": "gaprof.report/1", `
	for what, path := range map[string]string{
		"steps":   repeated(t, "steps.json.gz", head+`"steps": [`, "{},", 500_000_000, "{}]}"),
		"string":  repeated(t, "string.json.gz", head+`"gaprof_version": "`, "a", 500_000_000, `"}`),
		"unknown": repeated(t, "unknown.json.gz", head+`"unknown": [`, "[],", 500_000_000, "[]]}"),
		"blanks":  repeated(t, "blanks.json.gz", head, " ", 500_000_000, `"steps": []}`),
	} {
		for _, args := range [][]string{
			{"report", path, "-o", os.DevNull}, {"check", path}, {"check", trace, "--baseline", path},
			{"diff", trace, path}, {"diff", path, trace},
		} {
			code, stderr, peak := tryProgram(t, nil, append(args, "--mem-limit", "100MB")...)
			if code != exitInput || !strings.Contains(stderr, ": byte ") || !strings.Contains(stderr, "hint: ") {
				t.Errorf("%s %s: exit %d, %s", args[0], what, code, stderr)
			}
			if peak > 100e6 {
				t.Errorf("%s %s: %d bytes", args[0], what, peak)
			}
		}
	}
}

// A message about a hundred thousand files names a few.
func TestNamesOf(t *testing.T) {
	many := strings.Fields(strings.Repeat("f.json ", 100_000))
	for n, want := range map[int]string{
		1: "f.json", 9: strings.Repeat("f.json, ", 8) + "f.json",
		10:      strings.Repeat("f.json, ", 7) + "f.json and 2 others",
		100_000: strings.Repeat("f.json, ", 7) + "f.json and 99992 others",
	} {
		if got := namesOf(many[:n]); got != want {
			t.Errorf("%d: %.200s, want %s", n, got, want)
		}
	}
}
