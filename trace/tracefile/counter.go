package tracefile

import (
	"bufio"
	"io"
	"math"
	"sync"
)

// counter counts what is read from a file and reports it.
type counter struct {
	r        io.Reader
	mu       sync.Mutex
	n, total int64
	progress func(done, total int64)
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.add(int64(n), math.MaxInt64)
	return n, err
}

// add counts n bytes, but up to limit in all.
func (c *counter) add(n, limit int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n = max(c.n, min(c.n+n, limit))
	if c.progress != nil {
		c.progress(c.n, c.total)
	}
}

// read is how many bytes were read so far.
func (c *counter) read() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// at returns r, of whose reading c is told as well. What is read at any place may be
// read more than once; it never counts for more than the whole.
func (c *counter) at(r io.ReaderAt) io.ReaderAt { return counterAt{r, c} }

type counterAt struct {
	io.ReaderAt
	c *counter
}

func (a counterAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := a.ReaderAt.ReadAt(p, off)
	a.c.add(int64(n), a.c.total)
	return n, err
}

// peeker is a buffered reader that knows how far it has been read.
type peeker struct {
	*bufio.Reader
	c *counter
}

// peekers are buffers of files that were read.
var peekers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 64<<10) }}

func newPeeker(c *counter) peeker {
	r := peekers.Get().(*bufio.Reader)
	r.Reset(c)
	return peeker{r, c}
}

// free gives the buffer of p back. Nobody may read from p afterwards.
func (p peeker) free() {
	p.Reset(nil)
	peekers.Put(p.Reader)
}

// offset is the number of bytes taken from p.
func (p peeker) offset() int64 { return p.c.n - int64(p.Buffered()) }
