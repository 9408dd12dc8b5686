package input

// segment is a buffer of a ring: history, then text, then padding. Its users are
// counted under the ring's lock; while there are any its text stays as it is.
type segment struct {
	ring  *ring
	buf   []byte
	users int // who look at its text
}

// read copies text from pos on for the worker that reads a chunk, or for the reader, and
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
		case g.ended:
			return 0, g.whyEnded(chunk)
		case chunk != theReader && g.givesUp(chunk):
			return 0, errGone
		case chunk == theReader && g.full && g.kept < pos:
			g.kept = pos
			g.changed.Broadcast()
		}
		g.changed.Wait()
	}
}

// whyEnded is the error of the source. A panic of it is raised in the reader, where
// somebody catches it.
func (g *ring) whyEnded(chunk int64) error {
	if g.bug != nil && chunk == theReader {
		panic(g.bug)
	}
	return g.err
}

// givesUp reports whether the worker that has a chunk must not wait for more: it is to
// come back, or there is no room for more while the reader waits for it.
func (g *ring) givesUp(chunk int64) bool { return g.idle || g.full && chunk == g.awaited }

// copy copies what the segment that holds pos has of the text from there on. Nobody else
// is held up meanwhile.
func (g *ring) copy(p []byte, pos int64) int {
	from, n := g.pin(pos / g.size)
	g.mu.Unlock()
	copied := copy(p, from.buf[history+pos%g.size:history+n])
	g.mu.Lock()
	g.unpin(from)
	return copied
}

// pin keeps the text of segment k, which is n bytes, where it is.
func (g *ring) pin(k int64) (s *segment, n int64) {
	s = &g.segments[k%int64(len(g.segments))]
	s.users++
	return s, min(g.hi-k*g.size, g.size)
}

func (g *ring) unpin(s *segment) {
	if s.users--; s.users == 0 && g.full {
		g.changed.Broadcast()
	}
}

// lend lends a worker the segment that holds a chunk, of which n bytes are text, and waits
// until it is there; nil where it will not be.
func (g *ring) lend(chunk int64) (s *segment, n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for first := chunk * g.size; ; g.changed.Wait() {
		switch {
		case first < g.lo || g.closed || g.idle:
			return nil, 0
		case first < g.hi:
			s, n := g.pin(chunk)
			return s, int(n)
		case g.ended || g.full && chunk == g.awaited:
			return nil, 0
		}
	}
}

// release takes back a segment that was lent.
func (s *segment) release(int) {
	g := s.ring
	g.mu.Lock()
	g.unpin(s)
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
