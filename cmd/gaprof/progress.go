package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/gaprof/gaprof/internal/escape"
	"github.com/gaprof/gaprof/internal/units"
)

// progress shows on stderr how much of the input has been read, with --progress plain
// as one line for each file and some in between. It is an ingest.Progress, and safe for
// concurrent use; a nil *progress is silent.
type progress struct {
	mu    sync.Mutex
	line  statusLine
	files map[string]*fileProgress
	left  int // files that have not been read to the end
}

// fileProgress is how much of a file has been read, in bytes as stored.
type fileProgress struct {
	done, total int64
	finished    bool
}

// startProgress returns nil where no progress is to be shown.
func startProgress(w io.Writer, f inputFlags, files []string) *progress {
	line, wanted := newStatusLine(w, f.quiet, f.progress)
	if !wanted {
		return nil
	}
	line.shown = line.start // nothing is shown for what takes no time
	p := &progress{line: line, files: make(map[string]*fileProgress), left: len(files)}
	for _, file := range files {
		p.files[file] = new(fileProgress)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			p.files[file].total = info.Size()
		}
	}
	return p
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
	if !p.line.plain {
		p.tick(file)
		return
	}
	p.line.show(fmt.Sprintf("read %s, %s (%d of %d)",
		escape.Control(file), units.Bytes(f.done), len(p.files)-p.left, len(p.files)))
}

// tick shows a line once the last one is old enough.
func (p *progress) tick(file string) {
	if p.line.due() {
		p.line.show("reading " + escape.Control(file) + ": " + p.state())
	}
}

// state is the part of the line that counts: bytes, files and time left, of all
// files together.
func (p *progress) state() string {
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
		s += p.line.left(done, total)
	}
	return s
}

// done removes the line from the terminal.
func (p *progress) done() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line.clear()
}
