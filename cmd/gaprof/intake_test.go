package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/internal/tracegen"
)

// writeRanks writes the traces of a run into a folder.
func writeRanks(t testing.TB, dir string, ranks, steps int) {
	t.Helper()
	for rank := range ranks {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("rank%04d.json", rank)))
		if err != nil {
			t.Fatal(err)
		}
		if err := tracegen.Write(f, tracegen.Options{Rank: rank, WorldSize: ranks, Steps: steps}); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
}

// However many readers there are, and whatever the limit, the report is the same.
func TestParallelReport(t *testing.T) {
	t.Chdir(t.TempDir())
	writeRanks(t, ".", 24, 2)
	_, want, _ := runWith("", "analyze", "-j", "1", "--format", "json", ".")
	if !strings.Contains(want, `"rank": 23`) {
		t.Fatalf("report %.200s", want)
	}
	for _, args := range [][]string{{"-j", "2"}, {"-j", "7"}, {"-j", "300"}, {"-j", "4", "--mem-limit", "60MB"}, {}} {
		code, got, errs := runWith("", append([]string{"analyze", "--format", "json", "."}, args...)...)
		if code != exitOK || errs != "" || got != want {
			t.Errorf("%v: exit %d, %q, %d bytes, want %d", args, code, errs, len(got), len(want))
		}
	}
}

// Messages come in the order of the files, however these were read.
func TestOrderOfMessages(t *testing.T) {
	t.Chdir(t.TempDir())
	writeRanks(t, ".", 3, 1)
	var files, want []string
	for i := range 30 {
		name := fmt.Sprintf("bad%02d.json", i)
		os.WriteFile(name, []byte(strings.Repeat(" ", (30-i)*10_000)+"no trace"), 0o666)
		files = append(files, name)
		want = append(want, "gaprof: "+name)
		if i%10 == 5 {
			files = append(files, fmt.Sprintf("rank%04d.json", i/10))
		}
	}
	code, _, errs := runWith("", append([]string{"analyze", "-j", "8"}, files...)...)
	var got []string
	for line := range strings.Lines(errs) {
		if !strings.Contains(line, "hint") {
			name, rest, _ := strings.Cut(strings.TrimPrefix(line, "gaprof: "), ":")
			got = append(got, "gaprof: "+name)
			if !strings.HasSuffix(rest, "; left out\n") {
				t.Errorf("%q", line)
			}
		}
	}
	if code != exitOK || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("exit %d, messages\n%s", code, errs)
	}
	code, out, errs := runWith("", append([]string{"analyze", "--strict"}, files...)...)
	if code != exitInput || out != "" || strings.Contains(errs, "left out") {
		t.Errorf("--strict: exit %d, %q", code, errs)
	}
}

// spaces writes a compressed trace whose text is mostly blanks: it is far larger than
// its file lets one think.
func spaces(t *testing.T, path string, text int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	io.WriteString(z,
		`{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 2}`)
	for blank := strings.Repeat(" ", 1<<20); text > 0; text -= len(blank) {
		io.WriteString(z, blank)
	}
	io.WriteString(z, "]}")
	if z.Close() != nil || f.Close() != nil {
		t.Fatal("cannot write")
	}
}

// What turns out too large while it is read is given up with its name, and the others
// are analysed.
func TestOutgrown(t *testing.T) {
	t.Chdir(t.TempDir())
	writeRanks(t, ".", 2, 1)
	spaces(t, "bomb.json.gz", 200<<20)
	code, _, errs := runWith("", "analyze", "-j", "2", "--mem-limit", "64MB", ".")
	if code != exitOK || !strings.HasPrefix(errs, "gaprof: bomb.json.gz: has more than ") ||
		!strings.Contains(errs, "the limit is 64.0 MB; left out\ngaprof: hint: raise --mem-limit") {
		t.Errorf("exit %d, %q", code, errs)
	}
	code, _, errs = runWith("", "analyze", "--mem-limit", "64MB", "bomb.json.gz")
	if code != exitInput || !strings.Contains(errs, "gaprof: hint: raise --mem-limit") {
		t.Errorf("alone: exit %d, %q", code, errs)
	}
	if code, _, errs := runWith("", "analyze", "--mem-limit", "300MB", "bomb.json.gz"); code != exitOK {
		t.Errorf("with room: exit %d, %q", code, errs)
	}
}

// The limit holds for the whole process, for one large file and for many small ones.
func TestMemoryLimitHolds(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP: writes 100 MB")
	}
	t.Chdir(t.TempDir())
	f, err := os.Create("large.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := tracegen.Write(f, tracegen.Options{Size: 40e6}); err != nil {
		t.Fatal(err)
	}
	f.Close()
	code, out, errs := runWith("", "analyze", "--mem-limit", "50MB", "large.json")
	want := "gaprof: large.json: needs about 52.1 MB of memory for 40.1 MB of text; the limit is 50.0 MB\n"
	if code != exitInput || out != "" || !strings.HasPrefix(errs, want) {
		t.Errorf("exit %d, %q", code, errs)
	}
	peak := runProgram(t, "analyze", "--mem-limit", "60MB", "-o", os.DevNull, "large.json")
	if peak == 0 {
		t.Skip("SKIP: this system does not say how much memory was resident")
	}
	if peak > 60e6 {
		t.Errorf("a large file: %.1f MB", float64(peak)/1e6)
	}
	os.Mkdir("many", 0o777)
	writeRanks(t, "many", 200, 2)
	if peak := runProgram(t, "analyze", "-j", "8", "--mem-limit", "60MB", "-o", os.DevNull, "many"); peak > 60e6 {
		t.Errorf("200 files: %.1f MB", float64(peak)/1e6)
	}
}

// Where the system gives few file handles, readers wait instead of leaving files out.
func TestFewHandles(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skipf("SKIP: %v", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	writeRanks(t, ".", 40, 1)
	if err := os.Symlink(self, "gaprof"); err != nil {
		t.Skipf("SKIP: %v", err)
	}
	out, err := exec.Command(shell, "-c",
		"ulimit -n 16 && exec ./gaprof analyze -j 40 --format json .").CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"rank": 39`) || strings.Contains(string(out), "left out") {
		t.Errorf("%v: %.500s", err, out)
	}
}
