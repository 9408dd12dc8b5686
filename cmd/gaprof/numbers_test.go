package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// numbers are what may be written where an id or a number is meant: beyond int64 on both
// sides, fractions, and what is no number. Those before the bar are distinct values.
const numbers = `9223372036854775807 9223372036854775808 9223372036854775809 -9223372036854775808 -9223372036854775809
18446744073709551615 18446744073709551616 2147483648 4294967296 -1
1.5 1e400 -1e400 1e-400 0.0000001 1e18 9007199254740993 9007199254740992.5 "0xffffffffffffffff" "0x7ffffffffffffffe" "x"
| -0 0 0.0 "" null true [] {} [1] {"a":1} NaN Infinity "9223372036854775808" 1E999999999999`

// identity is all that tells events of a trace apart, but for their times.
func identity(t *trace.Trace, e trace.Event) string {
	s := fmt.Sprintf("%s/%s corr %d ext %d", e.Track().PID, e.Track().TID, e.Corr(), e.External())
	for _, a := range e.Args() {
		s += fmt.Sprintf(" %s=%s", t.KeyName(a.Key), e.ArgText(a.Key))
	}
	return s
}

// TestNumbersInEveryPlace: ids that differ in the file differ in the trace, wherever they
// occur; the trace survives being written; and no analysis fails for them.
func TestNumbersInEveryPlace(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, place := range []string{
		`"ph": "s", "cat": "ac2g", "id": N`, `"ph": "X", "dur": 1, "cat": "kernel", "pid": N, "tid": 7`,
		`"ph": "X", "dur": 1, "cat": "kernel", "pid": 0, "tid": N`,
		`"ph": "X", "dur": 1, "cat": "kernel", "args": {"correlation": N}`,
		`"ph": "X", "dur": 1, "cat": "cuda_runtime", "args": {"correlation": N}`,
		`"ph": "X", "dur": 1, "cat": "cpu_op", "args": {"External id": N}`,
		`"ph": "X", "dur": 1, "cat": "cpu_op", "args": {"Seq": N}`,
		`"ph": "X", "dur": 1, "cat": "kernel", "args": {"stream": N, "device": N, "bytes": N}`,
		`"ph": "X", "dur": 1, "cat": "cpu_op", "args": {"Rank": N, "Group size": N, "In msg nelems": N, ` +
			`"Out msg nelems": N, "Collective name": "allreduce"}`,
	} {
		distinct, others, _ := strings.Cut(numbers, "|")
		var events []string
		for i, n := range append(strings.Fields(distinct), strings.Fields(others)...) {
			events = append(events,
				fmt.Sprintf(`{"name": "e%d", "ts": %d, %s}`, i, i, strings.ReplaceAll(place, "N", n)))
		}
		must(t, os.WriteFile("in.json", []byte(`{"traceEvents": [`+strings.Join(events, ",\n")+`]}`), 0o666))
		first := readBack(t, "in.json")
		if first.Len() != len(events) {
			t.Errorf("%s: %d events of %d: %v", place, first.Len(), len(events), first.Problems())
		}
		seen := make(map[string]string)
		for i := range first.Len() {
			e := first.Event(i)
			id := identity(first, e)
			var n int
			fmt.Sscanf(e.Name(), "e%d", &n)
			if n >= len(strings.Fields(distinct)) {
				continue
			}
			if other := seen[id]; other != "" {
				t.Errorf("%s: %s and %s are both %s", place, other, strings.Fields(distinct)[n], id)
			}
			seen[id] = strings.Fields(distinct)[n]
		}
		sameAgain(t, place, first)
		code, _, stderr := runWith("", "analyze", "--show", "findings,top,groups,ranks,health", "in.json")
		if code != exitOK && code != exitInput {
			t.Errorf("%s: exit %d: %s", place, code, stderr)
		}
	}
}

func readBack(t *testing.T, path string) *trace.Trace {
	t.Helper()
	traces, err := tracefile.Read(path, tracefile.Options{KeepArgs: true})
	must(t, err)
	return traces[0]
}

// sameAgain fails unless a trace is the same after it was written and read.
func sameAgain(t *testing.T, what string, first *trace.Trace) {
	t.Helper()
	for _, format := range []string{"chrome", "text"} {
		var out bytes.Buffer
		must(t, tracefile.Encode(&out, first, format))
		path := filepath.Join(t.TempDir(), "again")
		must(t, os.WriteFile(path, out.Bytes(), 0o666))
		again := readBack(t, path)
		if again.Len() != first.Len() {
			t.Errorf("%s, %s: %d events of %d", what, format, again.Len(), first.Len())
			continue
		}
		for i := range first.Len() {
			a, b := identity(first, first.Event(i)), identity(again, again.Event(i))
			if a != b || first.Event(i).Start() != again.Event(i).Start() ||
				first.Event(i).Dur() != again.Event(i).Dur() {
				t.Errorf("%s, %s: %q became %q", what, format, a, b)
			}
		}
	}
}

// TestTimesThatOverflow: times at the ends of what int64 holds and durations that lead
// beyond them are counted, and give no negative figure.
func TestTimesThatOverflow(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []string{
		`"ts": 9223372036854775.807, "dur": 9223372036854775.807`,
		`"ts": -9223372036854775.808, "dur": 9223372036854775.807`, `"ts": 1, "dur": 9223372036854775.807`,
		`"ts": 1, "dur": -1`,
		`"ts": 1, "dur": -9223372036854775.808`, `"ts": 1e400, "dur": 1`, `"ts": 1, "dur": 1e400`,
		`"ts": 1e-400, "dur": 1e-400`, `"ts": -0, "dur": -0`, `"ts": 0.0000001, "dur": 0.0000001`,
		`"ts": 9e15, "dur": 9e15`,
	} {
		var list []string
		for i, event := range []string{
			`"cat": "kernel", "name": "k", "pid": 0, "tid": 7, "args": {"correlation": 1}`,
			`"cat": "cuda_runtime", "name": "l", "pid": 1, "tid": 1, "args": {"correlation": 1}`,
			`"cat": "user_annotation", "name": "Optimizer.step#A.step", "pid": 1, "tid": 1`,
			`"cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1`,
		} {
			list = append(list, fmt.Sprintf(`{"ph": "X", "ts": %d, "dur": 5, %s}`, 10*i, event),
				fmt.Sprintf(`{"ph": "X", %s, %s}`, c, event))
		}
		must(t, os.WriteFile("in.json", []byte(`{"traceEvents": [`+strings.Join(list, ",\n")+`]}`), 0o666))
		sameAgain(t, c, readBack(t, "in.json"))
		for _, format := range []string{"text", "json", "csv", "html"} {
			code, stdout, stderr := runWith("", "analyze", "--format", format, "in.json")
			if code != exitOK {
				t.Errorf("%s: exit %d: %s", c, code, stderr)
			}
			for _, figure := range []string{
				`"duration_ns": -`, `"busy_ns": -`, `"compute": -`, `"idle": -`, `"host_duration_ns": -`,
				`"exposed_ns": -`, `"span_ns": -`,
			} {
				if strings.Contains(stdout, figure) {
					t.Errorf("%s: %s holds %s", c, format, figure)
				}
			}
		}
	}
}
