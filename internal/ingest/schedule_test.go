package ingest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// testScheduler is a scheduler of some files, and its sink.
func testScheduler(l Limits, files ...string) (*scheduler, []*job, *collected) {
	sink := new(collected)
	s := newScheduler(sink, Options{Limits: l})
	return s, s.jobs(files), sink
}

// A file that goes away before it is read is an error of that file alone.
func TestVanishedFile(t *testing.T) {
	t.Chdir(t.TempDir())
	writeRanks(t, ".", 3, 1)
	files := []string{"rank0000.json", "rank0001.json", "rank0002.json", "never.json"}
	s, jobs, sink := testScheduler(Limits{Workers: 2, Memory: 1e9}, files...)
	os.Remove(files[1])
	s.read(jobs)
	for i, j := range jobs {
		gone := i == 1 || i == 3
		if gone != (j.err != nil) || gone && !strings.HasSuffix(j.err.Error(), files[i]+": no such file or directory") {
			t.Errorf("%s: error %v", j.file, j.err)
		}
	}
	if len(sink.events) != 2 || sink.events[0] == 0 || sink.events[2] == 0 {
		t.Errorf("events of the files: %v", sink.events)
	}
}

// A file that outgrows what the others leave it is read again when they are done.
func TestOutgrownIsReadAgain(t *testing.T) {
	t.Chdir(t.TempDir())
	spaces(t, "large.json.gz", 20<<20)
	spaces(t, "as-large.json.gz", 20<<20) // so that neither is given all workers
	s, jobs, _ := testScheduler(Limits{Workers: 2, Memory: ownMemory + needOf(32<<20, 0.5)}, "large.json.gz",
		"as-large.json.gz")
	other := needOf(10<<20, 0.5)
	if !s.budget.take(1, other) {
		t.Fatal("no room")
	}
	s.start(jobs[0])
	s.readers.Wait()
	if len(s.again) != 1 || jobs[0].err != nil || jobs[0].traces != 0 {
		t.Fatalf("%d to be read again, error %v", len(s.again), jobs[0].err)
	}
	s.budget.give(1, other, 0)
	s.read(nil)
	if jobs[0].err != nil || jobs[0].traces != 1 {
		t.Errorf("%d traces, error %v", jobs[0].traces, jobs[0].err)
	}
	if want := s.budget.limit - ownMemory - s.budget.kept(); s.budget.left() != want || s.budget.workers != 2 {
		t.Errorf("%d bytes and %d workers are left, want %d", s.budget.left(), s.budget.workers, want)
	}
}

// Traces are kept for replays where all of them together take a small part of the memory.
func TestLean(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.json")
	for _, c := range []struct {
		text   int
		files  int
		memory int64
		lean   bool
	}{
		{1e5, 1, LeastMemory, false},
		{1e5, 24, LeastMemory, false},
		{1e6, 24, LeastMemory, true},
		{1e6, 24, 1e9, false},
		{30e6, 1, LeastMemory, true},
	} {
		text := `{"traceEvents": []}` + strings.Repeat(" ", c.text)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		s := newScheduler(nil, Options{Limits: Limits{Workers: 2, Memory: c.memory}})
		if s.jobs(slices.Repeat([]string{file}, c.files)); s.lean != c.lean {
			t.Errorf("%+v: lean is %v", c, s.lean)
		}
	}
}
