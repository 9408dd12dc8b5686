package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/internal/ingest"
)

// large are files whose tables take more memory than so much text usually does, each by
// its event number i.
var large = []struct {
	name   string
	events int
	event  func(w io.Writer, i int)
}{
	{"names", 600_000, func(w io.Writer, i int) {
		fmt.Fprintf(w, `{"ph":"X","cat":"cpu_op","name":"n%d","pid":1,"tid":1,"ts":%d,"dur":1}`, i, i)
	}},
	{"tracks", 300_000, func(w io.Writer, i int) {
		fmt.Fprintf(w, `{"ph":"X","cat":"cpu_op","name":"n","pid":1,"tid":"thread %d","ts":%d,"dur":1}`, i, i)
	}},
	{"processes", 20_000, func(w io.Writer, i int) {
		fmt.Fprintf(w, `{"ph":"X","cat":"cpu_op","name":"n","pid":%d,"tid":1,"ts":%d,"dur":1}`, i, i)
	}},
	{"named", 100_000, func(w io.Writer, i int) {
		fmt.Fprintf(w, `{"ph":"M","name":"thread_name","pid":1,"tid":%d,"args":{"name":"the thread called %d"}},`, i, i)
		fmt.Fprintf(w, `{"ph":"X","cat":"cpu_op","name":"n","pid":1,"tid":%d,"ts":%d,"dur":1}`, i, i)
	}},
	{"arguments", 250_000, func(w io.Writer, i int) {
		fmt.Fprintf(w, `{"ph":"X","cat":"cpu_op","name":"n","pid":1,"tid":1,"ts":%d,"dur":1,`+
			`"args":{"Input Dims":[[%d,2]],"Seq":%d,"Rank":%d}}`, i, i, i, i)
	}},
	{"ids", 300_000, func(w io.Writer, i int) {
		fmt.Fprintf(w, `{"ph":"X","cat":"cpu_op","name":"n","pid":1,"tid":1,"ts":%d,"dur":1,`+
			`"args":{"correlation":%d,"External id":%d}}`, i, i+1<<40, i+1<<41)
	}},
	{"texts", 60, func(w io.Writer, i int) {
		fmt.Fprintf(w, `{"ph":"X","cat":"cpu_op","name":"%d %s","pid":1,"tid":1,"ts":%d,"dur":1}`, i,
			strings.Repeat("long name ", 100_000), i)
	}},
	{"short", 1_000_000, func(w io.Writer, i int) {
		io.WriteString(w, `{"ph":"X","pid":1,"tid":1,"ts":1}`)
	}},
}

// writeLarge writes such a file.
func writeLarge(t *testing.T, path string, events int, event func(io.Writer, int)) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	io.WriteString(w, `{"schemaVersion":1,"traceEvents":[`)
	for i := range events {
		if i > 0 {
			io.WriteString(w, ",\n")
		}
		event(w, i)
	}
	io.WriteString(w, "]}")
	if w.Flush() != nil || f.Close() != nil {
		t.Fatal("cannot write")
	}
}

// runLimited runs this program in a process of its own and returns its exit code, what
// it said and its greatest resident memory, as runProgram does.
func runLimited(t *testing.T, args ...string) (code int, said string, peak int64) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	cmd := exec.Cmd{Path: self, Args: append([]string{"peak"}, args...), Stderr: &out}
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	said, last, _ := strings.Cut(out.String(), peakMark)
	kB, _ := strconv.ParseInt(strings.TrimSpace(last), 10, 64)
	return cmd.ProcessState.ExitCode(), said, kB << 10
}

// What a file is reckoned to take follows what it takes: with a quarter more than that
// it is read, with half of it it is refused by name, or makes do; and in no case does it
// take more than the limit.
func TestLimitCountsTables(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP: writes files of some 30 MB")
	}
	t.Chdir(t.TempDir())
	for _, c := range large {
		t.Run(c.name, func(t *testing.T) {
			file := c.name + ".json"
			writeLarge(t, file, c.events, c.event)
			defer os.Remove(file)
			checkLimits(t, "analyze", "-o", os.DevNull, file)
			if c.name == "tracks" {
				checkLimits(t, "convert", "-o", os.DevNull, "--to", "csv", file)
			}
		})
	}
}

// ownMemory is what the program itself is reckoned to take, in bytes.
const ownMemory = 24e6

func checkLimits(t *testing.T, command ...string) {
	t.Helper()
	_, _, needed := runLimited(t, command...)
	if needed == 0 {
		t.Skip("SKIP: this system does not say how much memory was resident")
	}
	enough := ownMemory + max(needed*5/4, ingest.LeastMemory)
	code, said, peak := runLimited(t, append(command, "--mem-limit", fmt.Sprintf("%dB", enough))...)
	if code != exitOK || peak > enough {
		t.Errorf("%s with %.0f MB where %.0f MB are enough: exit %d, %.0f MB, %s", command[0], float64(enough)/1e6,
			float64(needed)/1e6, code, float64(peak)/1e6, said)
	}
	little := max(needed/2, ingest.LeastMemory)
	code, said, peak = runLimited(t, append(command, "--mem-limit", fmt.Sprintf("%dB", little))...)
	refused := code == exitInput && strings.Contains(said, " of memory") && strings.Contains(said, "; the limit is ") &&
		strings.Contains(said, "hint: raise --mem-limit")
	if !refused && code != exitOK || peak > little {
		t.Errorf("%s with %.0f MB where %.0f MB are needed: exit %d, %.0f MB, %s", command[0], float64(little)/1e6,
			float64(needed)/1e6, code, float64(peak)/1e6, said)
	}
	t.Logf("%s: %.1f MB; with %.1f MB exit %d, %.1f MB", command[0], float64(needed)/1e6, float64(little)/1e6, code,
		float64(peak)/1e6)
}
