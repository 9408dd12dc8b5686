package tracefile

import "io"

const (
	aheadSize  = 256 << 10 // of one window, bytes
	aheadCount = 4         // windows that go round
)

// ahead reads from a slow reader in a goroutine, a few windows ahead of its user.
// Windows go round between two channels, so that nothing is allocated on the way.
type ahead struct {
	full chan window
	free chan []byte
	stop chan struct{}
	cur  window
	rest []byte
}

// window is a filled buffer; err follows after its bytes.
type window struct {
	buf   []byte
	n     int
	err   error
	panic any // of the reader, to be raised where somebody catches it
}

func startAhead(r io.Reader) *ahead {
	a := &ahead{full: make(chan window, aheadCount), free: make(chan []byte, aheadCount), stop: make(chan struct{})}
	for range aheadCount {
		a.free <- make([]byte, aheadSize)
	}
	go a.run(r)
	return a
}

func (a *ahead) run(r io.Reader) {
	for {
		select {
		case <-a.stop:
			return
		case buf := <-a.free:
			w := fill(r, buf)
			a.full <- w // there are as many places as windows
			if w.err != nil {
				return
			}
		}
	}
}

// fill reads until buf is full or the input ends.
func fill(r io.Reader, buf []byte) (w window) {
	w.buf = buf
	defer func() {
		if w.panic = recover(); w.panic != nil {
			w.err = io.ErrUnexpectedEOF
		}
	}()
	for empty := 0; w.n < len(buf) && w.err == nil; {
		var n int
		n, w.err = r.Read(buf[w.n:])
		w.n += n
		if empty++; n > 0 {
			empty = 0
		}
		if empty > 100 && w.err == nil {
			w.err = io.ErrNoProgress
		}
	}
	return w
}

// Read returns what is ready and waits where nothing is.
func (a *ahead) Read(p []byte) (int, error) {
	for len(a.rest) == 0 {
		if a.cur.panic != nil {
			panic(a.cur.panic)
		}
		if a.cur.err != nil {
			return 0, a.cur.err
		}
		if a.cur.buf != nil {
			a.free <- a.cur.buf
		}
		a.cur = <-a.full
		a.rest = a.cur.buf[:a.cur.n]
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// Close stops the goroutine after the window at hand.
func (a *ahead) Close() { close(a.stop) }
