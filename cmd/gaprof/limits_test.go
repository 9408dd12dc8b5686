//go:build linux || darwin

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gaprof/gaprof/internal/inflate"
	"github.com/gaprof/gaprof/internal/tracegen"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// The tables of docs/performance.md, by one command:
//
//	go test ./cmd/gaprof -run '^$' -bench EndToEnd -table - -timeout 2h
//
// Each figure is the median of several runs. What is compared takes turns on one file, so
// that a noisy machine is noisy for all.
var (
	tableFile = flag.String("table", "",
		"with -bench EndToEnd: write the tables of docs/performance.md to this file, - for stdout")
	tableRuns = flag.Int("runs", 5, "with -table: runs that a median is taken of")
	tableSize = flag.Int64("largest", 0,
		"with -table: the largest file in bytes; 0 for 2 GB where the disk has room for it, else 500 MB")
)

func init() {
	tables = func(b *testing.B) bool {
		if *tableFile != "" {
			printTables(b)
		}
		return *tableFile != ""
	}
}

// inputs are the files of the table: every shape at one size, the shape that PyTorch
// writes at several, to see whether time grows with them, and compressed.
var inputs = []struct {
	name   string
	shape  tracegen.Shape
	bytes  int64
	packed bool
}{
	{"as-is, 10 MB", tracegen.AsIs, 10e6, false},
	{"as-is, 100 MB", tracegen.AsIs, 100e6, false},
	{"as-is, 500 MB", tracegen.AsIs, 500e6, false},
	{"as-is, 2 GB", tracegen.AsIs, 2e9, false},
	{"as-is, 100 MB, .json.gz", tracegen.AsIs, 100e6, true},
	{"stacks, 100 MB", tracegen.Stacks, 100e6, false},
	{"compact, 100 MB", tracegen.Compact, 100e6, false},
	{"indented, 100 MB", tracegen.Indented, 100e6, false},
	{"names (100,000 distinct), 100 MB", tracegen.Names, 100e6, false},
	{"shuffled keys in 1 % of events, 100 MB", tracegen.Shuffled, 100e6, false},
}

// printTables writes both tables.
func printTables(b *testing.B) {
	var out strings.Builder
	fmt.Fprintf(&out, "Medians of %d runs that take turns, on %d cores.\n\n", *tableRuns, runtime.GOMAXPROCS(0))
	programTable(b, &out)
	out.WriteString("\n")
	limitTable(b, &out)
	if *tableFile == "-" {
		fmt.Print(out.String())
		return
	}
	must(b, os.WriteFile(*tableFile, []byte(out.String()), 0o666))
}

// medians runs all measures one after the other, several times, and returns the median
// seconds of each. A measure returns how long it took.
func medians(runs int, measures ...func() time.Duration) []float64 {
	took := make([][]time.Duration, len(measures))
	for range runs {
		for i, measure := range measures {
			took[i] = append(took[i], measure())
		}
	}
	list := make([]float64, len(measures))
	for i := range took {
		slices.Sort(took[i])
		list[i] = took[i][len(took[i])/2].Seconds()
	}
	return list
}

// timed is a measure of what f does, after the memory of the one before was given back.
func timed(b *testing.B, f func() error) func() time.Duration {
	return func() time.Duration {
		runtime.GC()
		start := time.Now()
		must(b, f())
		return time.Since(start)
	}
}

// onOneCore is f with one core for the whole process.
func onOneCore(f func() error) func() error {
	return func() error {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		return f()
	}
}

// programTable compares the whole program, in a process of its own, and reading alone
// with the bare token scan, on one core each and on all.
func programTable(b *testing.B, out *strings.Builder) {
	fmt.Fprintf(out,
		"| file | jsontext MB/s | gaprof MB/s | ratio | gaprof on one core | ratio | reading on one core | ratio | "+
			"all cores : one | peak/input |\n|---|%s\n", strings.Repeat("---:|", 9))
	largest := *tableSize
	if largest == 0 {
		if largest = 2e9; room(os.TempDir()) < 3e9 {
			largest = 500e6
		}
	}
	for _, in := range inputs {
		if in.bytes > largest {
			fmt.Fprintf(out, "| %s | not run: -largest %d | | | | | | | | |\n", in.name, largest)
			continue
		}
		path, text := benchFile(b, in.shape, in.bytes)
		if in.packed {
			path = pack(b, path)
		}
		programRow(b, out, in.name, text, []string{path})
		must(b, os.Remove(path))
	}
	recordedRows(b, out, largest)
}

// recordedRows are those of real recordings.
func recordedRows(b *testing.B, out *strings.Builder, largest int64) {
	ranks, _ := filepath.Glob("../../../shared/traces/gpu/normuon-rank[0-7].json.gz")
	if len(ranks) == 0 {
		out.WriteString("| recorded by PyTorch | not run: ../shared is not here | | | | | | | | |\n")
		return
	}
	for _, MB := range []int{100, 500} {
		name := fmt.Sprintf("recorded by PyTorch, %d MB", MB)
		if int64(MB)*1e6 > largest {
			fmt.Fprintf(out, "| %s | not run: -largest %d | | | | | | | | |\n", name, largest)
			continue
		}
		path, text := recordedFile(b, MB/10)
		if path == "" {
			fmt.Fprintf(out, "| %s | not run: its source is not in ../shared | | | | | | | | |\n", name)
			continue
		}
		programRow(b, out, name, text, []string{path})
		path = pack(b, path)
		programRow(b, out, name+", .json.gz", text, []string{path})
		must(b, os.Remove(path))
	}
	text := int64(0)
	for _, path := range ranks {
		r, done := unpacked(b, path)
		n, err := io.Copy(io.Discard, r)
		must(b, err)
		done()
		text += n
	}
	programRow(b, out, fmt.Sprintf("%d ranks of normuon, .json.gz", len(ranks)), text, ranks)
}

// room is how many bytes are free where a folder is, 0 unknown.
func room(dir string) int64 {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return 0
	}
	return int64(s.Bavail) * int64(s.Bsize)
}

// programRow measures the files of one run together; MB are of text.
func programRow(b *testing.B, out *strings.Builder, name string, text int64, paths []string) {
	peak := int64(0)
	program := func(env ...string) func() time.Duration {
		return timed(b, func() error {
			code, stderr, resident := tryProgram(b, env,
				append([]string{"analyze", "--format", "json", "-o", os.DevNull}, paths...)...)
			if code != exitOK {
				return fmt.Errorf("exit %d: %s", code, stderr)
			}
			if len(env) == 0 {
				peak = max(peak, resident)
			}
			return nil
		})
	}
	scan := func() error {
		for _, path := range paths {
			r, done := unpacked(b, path)
			if err := scanReader(r); err != nil {
				return err
			}
			done()
		}
		return nil
	}
	read := func() error {
		for _, path := range paths {
			if _, err := tracefile.Read(path, tracefile.Options{}); err != nil {
				return err
			}
		}
		return nil
	}
	s := medians(runsFor(text), timed(b, onOneCore(scan)), program(), program("GOMAXPROCS=1"),
		timed(b, onOneCore(read)))
	speed := func(i int) float64 { return float64(text) / 1e6 / s[i] }
	fmt.Fprintf(out, "| %s | %.0f | %.0f | %.2f | %.0f | %.2f | %.0f | %.2f | %.2f | %.2f |\n", name,
		speed(0), speed(1), s[0]/s[1], speed(2), s[0]/s[2], speed(3), s[0]/s[3], s[2]/s[1], float64(peak)/float64(text))
}

// runsFor is fewer runs for what takes long.
func runsFor(bytes int64) int {
	if bytes >= 1e9 {
		return min(*tableRuns, 3)
	}
	return *tableRuns
}

// unpacked is the text of a file, by the standard library.
func unpacked(b *testing.B, path string) (r io.Reader, done func()) {
	b.Helper()
	f, err := os.Open(path)
	must(b, err)
	r = bufio.NewReaderSize(f, 1<<20)
	if strings.HasSuffix(path, ".gz") {
		r, err = gzip.NewReader(r)
		must(b, err)
	}
	return r, func() { f.Close() }
}

// pack compresses a file and removes it.
func pack(b *testing.B, path string) string {
	b.Helper()
	text, err := os.Open(path)
	must(b, err)
	defer text.Close()
	packed, err := os.Create(path + ".gz")
	must(b, err)
	z := gzip.NewWriter(packed)
	_, err = io.Copy(z, text)
	must(b, errors.Join(err, z.Close(), packed.Close(), os.Remove(path)))
	return path + ".gz"
}

// sink keeps the compiler from leaving out what is measured.
var sink uint64

// limitTable is what the machine can do at most with the bytes of the file of 100 MB: no
// reader of it can be faster.
func limitTable(b *testing.B, out *strings.Builder) {
	path, size := benchFile(b, tracegen.AsIs, 100e6)
	text, err := os.ReadFile(path)
	must(b, err)
	words := make([]uint64, len(text)/8)
	for i := range words {
		words[i] = uint64(i)
	}
	packed := pack(b, path)
	gz, err := os.ReadFile(packed)
	must(b, err)
	must(b, os.WriteFile(path, text, 0o666))
	limits := []struct {
		what string
		f    func() error
	}{
		{"sum over []uint64", func() error { sink += sum(words); return nil }},
		{"bytes.IndexByte of an absent byte", func() error { sink += uint64(bytes.IndexByte(text, 0)); return nil }},
		{"bytes.IndexByte from quote to quote", func() error { sink += quotes(text); return nil }},
		{"first touch of fresh memory, a byte a page", func() error { return touch(len(text)) }},
		{"pread into a buffer of 1 MB", func() error { return pread(path, 1<<20) }},
		{"os.ReadFile", func() error { data, err := os.ReadFile(path); sink += uint64(len(data)); return err }},
		{"gunzip, compress/gzip", func() error { return discard(gzip.NewReader(bytes.NewReader(gz))) }},
		{"gunzip, internal/inflate", func() error { return fillAll(bytes.NewReader(gz)) }},
		{"token scan, jsontext", func() error { return scanReader(bytes.NewReader(text)) }},
	}
	measures := make([]func() time.Duration, len(limits))
	for i := range limits {
		measures[i] = timed(b, onOneCore(limits[i].f))
	}
	fmt.Fprintf(out, "| on one core, as-is, 100 MB | MB/s |\n|---|---:|\n")
	for i, s := range medians(*tableRuns, measures...) {
		fmt.Fprintf(out, "| %s | %.0f |\n", limits[i].what, float64(size)/1e6/s)
	}
}

func sum(words []uint64) (n uint64) {
	for _, w := range words {
		n += w
	}
	return n
}

func quotes(text []byte) (n uint64) {
	for {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			return n
		}
		text, n = text[i+1:], n+1
	}
}

// touch writes to every page of memory that the system has just given.
func touch(size int) error {
	memory, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return err
	}
	for i := 0; i < len(memory); i += os.Getpagesize() {
		memory[i] = 1
	}
	return syscall.Munmap(memory)
}

func pread(path string, size int) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	buf := make([]byte, size)
	for at := int64(0); ; {
		n, err := f.ReadAt(buf, at)
		if at += int64(n); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// fillAll decompresses as readers of traces do: behind what the buffer already holds.
func fillAll(gz io.Reader) error {
	r, buf := inflate.NewReader(gz), make([]byte, inflate.History+1<<20)
	for from := 0; ; {
		n, err := r.Fill(buf, from)
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		kept := min(from+n, inflate.History)
		from = copy(buf, buf[from+n-kept:from+n])
	}
}

func discard(r io.Reader, err error) error {
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	return err
}
