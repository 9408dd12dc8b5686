package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/gaprof/gaprof/internal/escape"
	"github.com/gaprof/gaprof/internal/units"
)

// progress tells on stderr how much of the input has been read: one line that is
// rewritten on a terminal, a line a file and now and then one between with
// --progress plain. It is an ingest.Progress; a nil *progress is silent. It may be used
// by several readers at a time.
type progress struct {
	mu    sync.Mutex
	w     io.Writer
	plain bool
	now   func() time.Time
	start time.Time
	shown time.Time // when the last line was written
	files map[string]*fileProgress
	left  int // files that are not read to the end
	dirty bool
}

// fileProgress is how much of a file has been read, in bytes as stored.
type fileProgress struct {
	done, total int64
	finished    bool
}

// startProgress returns nil where nobody wants to see it.
func startProgress(w io.Writer, f inputFlags, files []string) *progress {
	plain := f.progress == "plain"
	if f.quiet || f.progress == "off" || !plain && !isTerminal(w) {
		return nil
	}
	p := &progress{w: w, plain: plain, now: time.Now, files: make(map[string]*fileProgress), left: len(files)}
	p.start = p.now()
	p.shown = p.start
	for _, file := range files {
		p.files[file] = new(fileProgress)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			p.files[file].total = info.Size()
		}
	}
	return p
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// Read notes how much of a file has been read, and shows it now and then.
func (p *progress) Read(file string, done, total int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.files[file]
	if f == nil || f.finished {
		return
	}
	f.done, f.total = done, total
	if total > 0 && done >= total {
		f.finished = true
		p.left--
		p.fileDone(file, f)
		return
	}
	p.tick(file)
}

// LeaveOut notes that nothing more will be read of a file.
func (p *progress) LeaveOut(file string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.files[file]; f != nil && !f.finished {
		f.finished = true
		f.done = f.total
		p.left--
	}
}

func (p *progress) fileDone(file string, f *fileProgress) {
	if p.plain {
		fmt.Fprintf(p.w, "gaprof: read %s, %s (%d of %d)\n", escape.Control(file), units.Bytes(f.done), len(p.files)-p.left, len(p.files))
		p.shown = p.now()
		return
	}
	p.tick(file)
}

// tick shows a line when the last one is old enough.
func (p *progress) tick(file string) {
	every := 100 * time.Millisecond
	if p.plain {
		every = 5 * time.Second
	}
	now := p.now()
	if now.Sub(p.shown) < every {
		return
	}
	p.shown = now
	line := "reading " + escape.Control(file) + ": " + p.state(now)
	if p.plain {
		fmt.Fprintf(p.w, "gaprof: %s\n", line)
		return
	}
	p.dirty = true
	fmt.Fprintf(p.w, "\r\x1b[K%s", line)
}

// state is the part of the line that counts: bytes, files and time left, of all
// files together.
func (p *progress) state(now time.Time) string {
	var done, total int64
	known := true
	for _, f := range p.files {
		done, total = done+f.done, total+f.total
		known = known && f.total > 0
	}
	s := units.Bytes(done)
	if known {
		s += " of " + units.Bytes(total)
	}
	if len(p.files) > 1 {
		s += fmt.Sprintf(", %d of %d files", len(p.files)-p.left, len(p.files))
	}
	if known && 0 < done && done < total {
		left := time.Duration(float64(now.Sub(p.start)) * float64(total-done) / float64(done))
		s += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	return s
}

// done takes the line off the terminal.
func (p *progress) done() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dirty {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	p.dirty = false
}
