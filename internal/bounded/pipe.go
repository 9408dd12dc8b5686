package bounded

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// How long a pipe may be silent, and how long it may take in all.
var (
	silence = 5 * time.Second
	longest = 60 * time.Second
)

// pause is how often a pipe without a writer is looked at again.
const pause = 10 * time.Millisecond

// pipe reads what somebody writes into a pipe while it is read, and gives up on who does
// not write.
type pipe struct {
	name string
	from interface {
		io.Reader
		SetReadDeadline(time.Time) error
	}
	end  time.Time // of patience
	read int64
}

func newPipe(name string, f *os.File) *pipe {
	return &pipe{name: name, from: f, end: time.Now().Add(longest)}
}

// Read waits for bytes. A pipe that nobody has opened to write yet gives none, as one that
// its writer has closed: before the first byte it is looked at again and again.
func (p *pipe) Read(buf []byte) (int, error) {
	until := time.Now().Add(silence)
	if until.After(p.end) {
		until = p.end
	}
	_ = p.from.SetReadDeadline(until) // where it cannot be set there is no waiting either
	for {
		n, err := p.from.Read(buf)
		p.read += int64(n)
		early := err == io.EOF && p.read == 0
		switch {
		case early && time.Now().Before(until):
			time.Sleep(pause)
			continue
		case early || errors.Is(err, os.ErrDeadlineExceeded):
			return n, p.silent()
		}
		return n, err
	}
}

func (p *pipe) silent() error {
	reason := fmt.Sprintf("is a pipe into which nothing was written for %v", silence)
	if !time.Now().Before(p.end) {
		reason = fmt.Sprintf("is a pipe whose writer took more than %v", longest)
	}
	return &Error{File: p.name, Offset: p.read, Reason: reason, Hint: "write to a file first, and pass that"}
}
