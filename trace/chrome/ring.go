package chrome

import (
	"errors"
	"io"
	"math"
	"runtime"
	"sync"

	"github.com/gaprof/gaprof/internal/inflate"
)

// A compressed text can be read once, from its beginning on. So that a team can read it
// all the same, a goroutine decompresses it into a ring of panes, and hands and reader
// find there what they need: the text from the chunk that the reader deals with to as
// far as there is room. A chunk is the text of a pane, and a hand reads it where it
// stands.
//
// The reader always gets on. What it has read stands in its window, so where it needs
// more than there is room for, the ring gives up what it keeps for hands: they read
// what they can, and the reader reads the rest. A hand that the reader waits for does
// not wait for room itself.

const (
	paneSize = 1 << 20         // bytes
	history  = inflate.History // bytes before the text of a pane: what those who fill it may look at
	spare    = 3               // panes besides one for each hand

	ringHands = 4 // at most: more have nothing to do, as one goroutine decompresses for all
)

// ring is a text that is read ahead. Pane k of the text stands in pane k modulo their
// number.
type ring struct {
	src   io.Reader
	size  int64 // of a pane
	panes []pane
	done  sync.WaitGroup

	mu      sync.Mutex
	changed sync.Cond
	lo, hi  int64 // the text from lo to hi is here
	kept    int64 // what stands before is not needed
	base    int64 // the reader needs nothing before
	hold    int64 // nor do hands before this
	awaited int64 // the chunk that the reader waits for
	full    bool  // there is no room
	idle    bool  // hands are to come back
	closed  bool
	ended   bool  // nothing follows hi
	err     error // why it ended
	bug     any   // a panic of the source
}

// pane is a buffer: history, then text, then padding.
type pane struct {
	ring  *ring
	buf   []byte
	users int // who look at its text
}

// errGone says that the text at a place is not here any more, or will not be soon.
var errGone = errors.New("not at hand")

// theReader stands for the number of a chunk where it is not a hand that reads.
const theReader = -1

// newRing starts to read src ahead into n panes of so many bytes.
func newRing(src io.Reader, n int, size int64) *ring {
	g := &ring{src: src, size: size, panes: make([]pane, n), hold: math.MaxInt64, awaited: theReader}
	g.changed.L = &g.mu
	g.done.Go(g.run)
	return g
}

// readAhead lets the input be read ahead, where that is worth it, and returns what ends
// that.
func (d *reader) readAhead() (end func()) {
	hands, size := min(runtime.GOMAXPROCS(0), ringHands), int64(paneSize)
	if d.opts.chunk > 0 {
		hands, size = max(hands, 2), d.opts.chunk // a test
	}
	if d.opts.Again == nil || hands < 2 {
		return func() {}
	}
	d.ring = newRing(d.src, hands+spare, size)
	d.src = io.NewSectionReader(view{d.ring, theReader}, 0, math.MaxInt64)
	return func() {
		if d.ring != nil {
			d.ring.close()
		}
	}
}

// again goes on at pos, which may lie before all that is at hand.
func (d *reader) again(pos int64) {
	if d.ring == nil {
		d.open(d.opts.At, pos)
		return
	}
	d.ring.close()
	d.ring = nil
	src, err := d.opts.Again()
	if err == nil {
		_, err = io.CopyN(io.Discard, src, pos)
	}
	d.src, d.base, d.n, d.eof, d.err = src, pos, 0, err != nil, err
	d.fill()
}

// close ends the reading; nobody reads the source when it returns.
func (g *ring) close() {
	g.mu.Lock()
	g.closed = true
	g.changed.Broadcast()
	g.mu.Unlock()
	g.done.Wait()
}

// run fills panes until the source ends.
func (g *ring) run() {
	var last []byte
	for k := int64(0); g.waitForRoom(k); k++ {
		p := &g.panes[k%int64(len(g.panes))]
		if p.buf == nil {
			p.ring, p.buf = g, make([]byte, history+g.size+padding)
		}
		text := p.buf[:history+g.size]
		if last != nil {
			copy(text[:history], last[g.size:])
		}
		last = text
		n, bug, err := g.fill(text)
		clear(p.buf[history+n:][:padding])
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

// waitForRoom waits until the room of pane k is free, and takes it; ok is false where
// nobody wants it any more.
func (g *ring) waitForRoom(k int64) (ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	lo := (k - int64(len(g.panes)) + 1) * g.size
	p := &g.panes[k%int64(len(g.panes))]
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

// fill fills the text of a pane, from the source or up to its end.
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

// readFull reads until p is full or the input ends.
func readFull(r io.Reader, p []byte) (n int, err error) {
	for empty := 0; n < len(p) && err == nil; {
		var got int
		got, err = r.Read(p[n:])
		n += got
		if empty++; got > 0 {
			empty = 0
		}
		if err == nil && empty > 100 {
			err = io.ErrNoProgress
		}
	}
	return n, err
}

// read copies text from pos on for the hand that reads a chunk, or for the reader, and
// waits until there is some.
func (g *ring) read(p []byte, pos, chunk int64) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		switch {
		case pos < g.lo || g.closed:
			return 0, errGone
		case pos < g.hi:
			return g.copy(p, pos), nil
		case g.ended && g.bug != nil && chunk == theReader:
			panic(g.bug)
		case g.ended:
			return 0, g.err
		case chunk != theReader && (g.idle || g.full && chunk == g.awaited):
			return 0, errGone
		case chunk == theReader && g.full && g.kept < pos:
			g.kept = pos
			g.changed.Broadcast()
		}
		g.changed.Wait()
	}
}

// copy copies what the pane that holds pos has of the text from there on. Nobody else
// is held up meanwhile.
func (g *ring) copy(p []byte, pos int64) int {
	from, n := g.pin(pos / g.size)
	g.mu.Unlock()
	copied := copy(p, from.buf[history+pos%g.size:history+n])
	g.mu.Lock()
	g.unpin(from)
	return copied
}

// pin keeps the text of pane k, which is n bytes, where it is.
func (g *ring) pin(k int64) (p *pane, n int64) {
	p = &g.panes[k%int64(len(g.panes))]
	p.users++
	return p, min(g.hi-k*g.size, g.size)
}

func (g *ring) unpin(p *pane) {
	if p.users--; p.users == 0 && g.full {
		g.changed.Broadcast()
	}
}

// lend lends a hand the pane that holds a chunk, of which n bytes are text, and waits
// until it is there; nil where it will not be.
func (g *ring) lend(chunk int64) (p *pane, n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for first := chunk * g.size; ; g.changed.Wait() {
		switch {
		case first < g.lo || g.closed || g.idle:
			return nil, 0
		case first < g.hi:
			p, n := g.pin(chunk)
			return p, int(n)
		case g.ended || g.full && chunk == g.awaited:
			return nil, 0
		}
	}
}

// release takes back a pane that was lent.
func (p *pane) release() {
	g := p.ring
	g.mu.Lock()
	g.unpin(p)
	g.mu.Unlock()
}

// update changes what the ring is told, and wakes all whom that may concern.
func (g *ring) update(change func()) {
	g.mu.Lock()
	change()
	g.kept = max(g.kept, min(g.base, g.hold))
	g.changed.Broadcast()
	g.mu.Unlock()
}

// view is the text of a ring as those see it who read a chunk.
type view struct {
	ring  *ring
	chunk int64
}

// ReadAt waits for the text that it is asked for.
func (v view) ReadAt(p []byte, pos int64) (n int, err error) {
	for n < len(p) && err == nil {
		var got int
		got, err = v.ring.read(p[n:], pos+int64(n), v.chunk)
		n += got
	}
	return n, err
}

// endsBefore tells whether nothing of the text stands at pos or behind it.
func (g *ring) endsBefore(pos int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ended && g.hi <= pos
}

// hands is how many can be given work from the ring.
func (g *ring) hands() int { return len(g.panes) - spare }
