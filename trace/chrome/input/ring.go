package input

import (
	"errors"
	"io"
	"math"
	"sync"

	"github.com/gaprof/gaprof/internal/inflate"
)

// history is how many bytes before the text of a segment stand in front of it: what
// those who fill it may look at.
const history = inflate.History

// ring is a text that is read ahead. A compressed text can be read once, from its
// beginning on. So that workers can read it all the same, a goroutine decompresses it
// into a ring of segments, and workers and reader find there what they need: the text
// from the chunk that the reader deals with to as far as there is room. A chunk is the
// text of a segment, and a worker reads it where it stands. Segment k of the text stands
// in segment k modulo their number.
//
// The reader always gets on. What it has read stands in its window, so where it needs
// more than there is room for, the ring gives up what it keeps for workers: they read
// what they can, and the reader reads the rest. A worker that the reader waits for does
// not wait for room itself.
type ring struct {
	src      io.Reader
	size     int64 // of a segment, in bytes
	segments []segment
	done     sync.WaitGroup

	mu      sync.Mutex // guards what follows
	changed sync.Cond
	lo, hi  int64 // the text from lo to hi is here
	kept    int64 // what stands before is not needed
	base    int64 // the reader needs nothing before
	hold    int64 // nor do workers before this
	awaited int64 // the chunk that the reader waits for
	full    bool  // there is no room
	idle    bool  // workers are to come back
	closed  bool
	ended   bool  // nothing follows hi
	err     error // why it ended
	bug     any   // a panic of the source
}

// errGone says that the text at a place is not here any more, or will not be soon.
var errGone = errors.New("not at hand")

// theReader stands for the number of a chunk where it is not a worker that reads.
const theReader = -1

// newRing starts to read src ahead into n segments of so many bytes.
func newRing(src io.Reader, n int, size int64) *ring {
	g := &ring{src: src, size: size, segments: make([]segment, n), hold: math.MaxInt64, awaited: theReader}
	g.changed.L = &g.mu
	g.done.Go(g.run)
	return g
}

// close ends the reading; nobody reads the source when it returns.
func (g *ring) close() {
	g.mu.Lock()
	g.closed = true
	g.changed.Broadcast()
	g.mu.Unlock()
	g.done.Wait()
}

// run fills segments until the source ends.
func (g *ring) run() {
	var last []byte
	for k := int64(0); g.waitForRoom(k); k++ {
		p := &g.segments[k%int64(len(g.segments))]
		if p.buf == nil {
			p.ring, p.buf = g, make([]byte, history+g.size+Padding)
		}
		text := p.buf[:history+g.size]
		if last != nil {
			copy(text[:history], last[g.size:])
		}
		last = text
		n, bug, err := g.fill(text)
		clear(p.buf[history+n:][:Padding])
		g.mu.Lock()
		g.hi, g.err, g.bug = g.hi+int64(n), err, bug
		g.ended = err != nil
		g.changed.Broadcast()
		g.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// waitForRoom waits until the room of segment k is free, and takes it; ok is false where
// nobody wants it any more.
func (g *ring) waitForRoom(k int64) (ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	lo := (k - int64(len(g.segments)) + 1) * g.size
	p := &g.segments[k%int64(len(g.segments))]
	for !g.closed && (g.kept < lo || p.users > 0) {
		if !g.full {
			g.full = true
			g.changed.Broadcast()
		}
		g.changed.Wait()
	}
	g.full = false
	g.lo = max(g.lo, lo)
	return !g.closed
}

// fill fills the text of a segment, from the source or up to its end.
func (g *ring) fill(buf []byte) (n int, bug any, err error) {
	defer func() {
		if bug = recover(); bug != nil {
			err = io.ErrUnexpectedEOF
		}
	}()
	if f, ok := g.src.(inflate.Filler); ok {
		n, err = f.Fill(buf, history)
		return n, nil, err
	}
	n, err = readFull(g.src, buf[history:])
	return n, nil, err
}

// update changes what the ring is told, and wakes all whom that may concern.
func (g *ring) update(change func()) {
	g.mu.Lock()
	change()
	g.kept = max(g.kept, min(g.base, g.hold))
	g.changed.Broadcast()
	g.mu.Unlock()
}
