package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// statusLine shows progress on stderr: one line that is rewritten on a
// terminal, or with --progress plain a line of its own now and then. It is not safe for
// concurrent use: its users hold a lock.
type statusLine struct {
	w     io.Writer
	plain bool
	now   func() time.Time
	start time.Time
	shown time.Time // when the last line was written; zero: none was
	dirty bool      // the terminal shows a line of it
}

// newStatusLine returns false where none is to be shown. how is the value of --progress.
func newStatusLine(w io.Writer, quiet bool, how string) (statusLine, bool) {
	plain := how == "plain"
	if quiet || how == "off" || !plain && !isTerminal(w) {
		return statusLine{}, false
	}
	return statusLine{w: w, plain: plain, now: time.Now, start: time.Now()}, true
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// due reports whether the last line is old enough for another.
func (l *statusLine) due() bool {
	every := 100 * time.Millisecond
	if l.plain {
		every = 5 * time.Second
	}
	return l.now().Sub(l.shown) >= every
}

// spent is the time since the start.
func (l *statusLine) spent() time.Duration { return l.now().Sub(l.start) }

// left is ", 3s left" of something of which done of total are done.
func (l *statusLine) left(done, total int64) string {
	left := time.Duration(float64(l.spent()) * float64(total-done) / float64(done))
	return fmt.Sprintf(", %s left", left.Round(time.Second))
}

// show writes a line, or rewrites it.
func (l *statusLine) show(text string) {
	l.shown = l.now()
	if l.plain {
		fmt.Fprintf(l.w, "gaprof: %s\n", text)
		return
	}
	l.dirty = true
	if columns, _ := sizeOf(l.w); columns > 1 { // a line that is broken cannot be taken back
		if runes := []rune(text); len(runes) >= columns {
			text = string(runes[:columns-2]) + "…"
		}
	}
	fmt.Fprintf(l.w, "\r\x1b[K%s", text)
}

// clear removes the line from the terminal.
func (l *statusLine) clear() {
	if l.dirty {
		fmt.Fprint(l.w, "\r\x1b[K")
	}
	l.dirty = false
}
