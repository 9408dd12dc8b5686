package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gaprof/gaprof/internal/ingest"
	"github.com/gaprof/gaprof/internal/tracegen"
)

// benchFiles are the inputs of the benchmarks: every shape at one size, and the
// shape that PyTorch writes at sizes that show whether time grows with them.
var benchFiles = []struct {
	name  string
	shape tracegen.Shape
	bytes int64
}{
	{"as-is-10MB", tracegen.AsIs, 10e6},
	{"as-is-100MB", tracegen.AsIs, 100e6},
	{"as-is-500MB", tracegen.AsIs, 500e6},
	{"stacks-100MB", tracegen.Stacks, 100e6},
	{"compact-100MB", tracegen.Compact, 100e6},
	{"indented-100MB", tracegen.Indented, 100e6},
	{"names-100MB", tracegen.Names, 100e6},
	{"shuffled-100MB", tracegen.Shuffled, 100e6},
}

// benchFile writes an input into a temporary folder.
func benchFile(b *testing.B, shape tracegen.Shape, size int64) (path string, written int64) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "trace.json")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if err := tracegen.Write(f, tracegen.Options{Shape: shape, Size: size}); err != nil {
		b.Fatal(err)
	}
	written, err = f.Seek(0, io.SeekEnd)
	if err != nil {
		b.Fatal(err)
	}
	return path, written
}

// BenchmarkEndToEnd runs, on one file after the other, the bare token scan of
// jsontext and the whole program: process start, reading, facts, rules, report. Only
// ratios of one run mean anything on a shared machine. peak/input is the program's
// greatest resident memory over the size of its input.
func BenchmarkEndToEnd(b *testing.B) {
	if tables(b) || profiled(b) {
		return
	}
	for _, file := range benchFiles {
		b.Run(file.name, func(b *testing.B) {
			path, size := benchFile(b, file.shape, file.bytes)
			b.Run("jsontext", func(b *testing.B) {
				b.SetBytes(size)
				for b.Loop() {
					if err := scanTokens(path); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("gaprof", func(b *testing.B) {
				b.SetBytes(size)
				var peak int64
				for b.Loop() {
					peak = max(peak, runProgram(b, "analyze", "--format", "json", "-o", os.DevNull, path))
				}
				b.ReportMetric(float64(peak)/float64(size), "peak/input")
			})
		})
	}
}

// tables writes the tables of docs/performance.md where a flag asks for them, and tells
// whether it did; see limits_test.go.
var tables = func(*testing.B) bool { return false }

// profiled writes the profile that builds go by where a flag asks for it; see
// pgo_test.go.
var profiled = func(*testing.B) bool { return false }

// BenchmarkManyFiles analyses the ranks of one run: files of 2 MB, of which ten times
// as many should take ten times as long and little more memory, and of 10 MB.
func BenchmarkManyFiles(b *testing.B) {
	for _, run := range []struct{ ranks, steps int }{{100, 13}, {1000, 13}, {64, 66}} {
		b.Run(fmt.Sprintf("%d-ranks-of-%d-steps", run.ranks, run.steps), func(b *testing.B) {
			dir := b.TempDir()
			writeRanks(b, dir, run.ranks, run.steps)
			info, err := os.Stat(filepath.Join(dir, "rank0000.json"))
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(info.Size() * int64(run.ranks))
			var peak int64
			for b.Loop() {
				peak = max(peak, runProgram(b, "analyze", "-o", os.DevNull, dir))
			}
			b.ReportMetric(float64(peak)/1e6, "peak-MB")
		})
	}
}

// runProgram runs this program in a process of its own and returns its greatest
// resident memory in bytes, 0 where the system does not say, without the pages of the
// program's file: those are shared, and given up for the asking.
func runProgram(b testing.TB, args ...string) int64 {
	b.Helper()
	code, stderr, peak := tryProgram(b, nil, args...)
	if code != exitOK {
		b.Fatalf("exit %d: %s", code, stderr)
	}
	return peak
}

// tryProgram is runProgram for runs that may fail, with more for the environment.
func tryProgram(b testing.TB, env []string, args ...string) (code int, stderr string, peak int64) {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	var said strings.Builder
	cmd := exec.Cmd{
		Path:   self,
		Args:   append([]string{"peak"}, args...),
		Env:    append(os.Environ(), env...),
		Stderr: &said,
	}
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		b.Fatalf("%v: %s", err, said.String())
	}
	stderr, last, _ := strings.Cut(said.String(), peakMark)
	kB, _ := strconv.ParseInt(strings.TrimSpace(last), 10, 64)
	return code, stderr, kB << 10
}

// peak is main, and says on stderr how much memory was resident at most, in kB, without
// that of files. The process asks for itself, because what the system tells its parent
// counts the parent's own memory before it became another program.
func peak() {
	ingest.StartCollector()
	code := run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	fmt.Fprintln(os.Stderr, peakMark, statusOf("VmHWM:")-statusOf("RssFile:"))
	os.Exit(code)
}

// statusOf is a figure of this process in kB, 0 where the system does not say.
func statusOf(name string) int64 {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			kB, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kB
		}
	}
	return 0
}

// peakMark precedes the figure of peak.
const peakMark = "peak memory:"

// scanTokens reads every token of a JSON file and does nothing with it.
func scanTokens(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return scanReader(bufio.NewReaderSize(f, 1<<20))
}

func scanReader(r io.Reader) error {
	dec := jsontext.NewDecoder(r)
	for {
		if _, err := dec.ReadToken(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
