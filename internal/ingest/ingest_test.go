package ingest

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/internal/tracegen"
	"github.com/gaprof/gaprof/trace/tracefile"
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

// collected is a Sink that notes what it is given: events of a file, by its index.
type collected struct {
	mu     sync.Mutex
	events map[int]int
	stored map[int]int64
}

func (c *collected) Add(place int, in analyze.Input) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.events == nil {
		c.events, c.stored = make(map[int]int), make(map[int]int64)
	}
	c.events[place] += in.Trace.Len()
	c.stored[place] += in.Bytes
}

// told is a Progress that notes what it is told, by file.
type told struct {
	mu            sync.Mutex
	done, leftOut map[string]int64
}

func newTold() *told { return &told{done: make(map[string]int64), leftOut: make(map[string]int64)} }

func (p *told) Read(file string, done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if done < p.done[file] || total > 0 && done > total {
		panic(fmt.Sprintf("%s: %d bytes of %d after %d", file, done, total, p.done[file]))
	}
	p.done[file] = done
}

func (p *told) LeaveOut(file string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leftOut[file]++
}

// With any limits the sink is given the same, progress ends where the file ends, and what
// cannot be read is named in the order of the files, each once.
func TestRead(t *testing.T) {
	t.Chdir(t.TempDir())
	writeRanks(t, ".", 6, 2)
	must(t, os.WriteFile("bad.json", []byte("no trace"), 0o666))
	files := []string{
		"rank0000.json", "bad.json", "rank0001.json", "never.json", "rank0002.json", "rank0003.json", "rank0004.json",
		"rank0005.json",
	}
	var want string
	for _, l := range []Limits{{Workers: 1, Memory: 1e9}, {Workers: 2, Memory: 1e9}, {Workers: 7, Memory: 60e6}, {}} {
		var sink collected
		progress := newTold()
		r := Read(files, &sink, Options{Limits: l, Progress: progress})
		if r.Traces != 6 || len(r.Failures) != 2 || r.Failures[0].File != "bad.json" ||
			r.Failures[1].File != "never.json" {
			t.Fatalf("%+v: %+v", l, r)
		}
		var failed *tracefile.Error
		for _, f := range r.Failures {
			if !errors.As(f.Err, &failed) || failed.File != f.File || progress.leftOut[f.File] != 1 {
				t.Errorf("%s: %v, left out %d times", f.File, f.Err, progress.leftOut[f.File])
			}
		}
		for i, file := range files {
			info, err := os.Stat(file)
			if err == nil && sink.events[i] > 0 &&
				(sink.stored[i] != info.Size() || progress.done[file] != info.Size()) {
				t.Errorf("%s: %d bytes, read %d of %d", file, sink.stored[i], progress.done[file], info.Size())
			}
		}
		got := fmt.Sprint(sink.events)
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%+v: %s, want %s", l, got, want)
		}
	}
}

// A sink that panics is a bug of this program, which is raised with the file at hand where
// somebody catches it.
func TestPanicOfSink(t *testing.T) {
	t.Chdir(t.TempDir())
	writeRanks(t, ".", 1, 1)
	defer func() {
		if bug := fmt.Sprint(recover()); !strings.Contains(bug, "planted, while reading rank0000.json") {
			t.Errorf("%.200s", bug)
		}
	}()
	Read([]string{"rank0000.json"}, explosive{}, Options{})
}

type explosive struct{}

func (explosive) Add(int, analyze.Input) { panic("planted") }

// ReadFile reads one file within the limits, and says what it would need.
func TestReadFile(t *testing.T) {
	t.Chdir(t.TempDir())
	spaces(t, "bomb.json.gz", 200<<20)
	traces, err := ReadFile("bomb.json.gz", Options{Limits: Limits{Memory: 300e6}})
	if err != nil || len(traces) != 1 || traces[0].Len() != 1 {
		t.Errorf("%d traces, error %v", len(traces), err)
	}
	var large *TooLarge
	_, err = ReadFile("bomb.json.gz", Options{Limits: Limits{Memory: 64e6}})
	if !errors.As(err, &large) || large.File != "bomb.json.gz" ||
		!strings.HasPrefix(large.Reason, "has more than ") ||
		!strings.HasSuffix(large.Reason, "; the limit is 64.0 MB") {
		t.Errorf("error %v", err)
	}
	f, err := os.Create("large.json")
	must(t, err)
	must(t, f.Truncate(100e6))
	must(t, f.Close())
	if _, err = ReadFile("large.json", Options{Limits: Limits{Memory: 50e6}}); !errors.As(err, &large) ||
		large.Reason != "needs about 82.0 MB of memory for 100.0 MB of text; the limit is 50.0 MB" {
		t.Errorf("error %v", err)
	}
	var failed *tracefile.Error
	if _, err := ReadFile("never.json", Options{}); !errors.As(err, &failed) {
		t.Errorf("error %v", err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
