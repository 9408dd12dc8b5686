package tracefile

import (
	"fmt"
	"io"
	"runtime"
)

// Source is the text of one file as a format reads it: from its beginning on, once, and
// at any place wherever the file has that. It belongs to the reader of the format for as
// long as that reads.
type Source struct {
	io.Reader // the text from its beginning on

	File   string // its name, for messages
	Length int64  // bytes of text: exact where At is there, else a guess; 0: unknown
	Alone  bool   // the other cores have work: one goroutine is to read

	stored  io.Reader // the file as it is stored
	size    int64     // bytes of it; 0: unknown, and it is no regular file
	counter *counter  // of it
	packed  bool      // Reader decompresses
	growing *growing  // Reader, where Length is not exact
	ahead   *ahead
	input   *input // what Reader reads
}

// newSource returns the source of the text in, which comes from the file behind c.
func newSource(file string, in *input, c *counter, o Options) *Source {
	s := &Source{
		Reader: in, File: file, Length: in.sizeHint(c.r, c.total), Alone: o.Alone,
		stored: c.r, size: c.total, counter: c, packed: in.layers != "", input: in,
	}
	if s.packed || s.size == 0 {
		s.growing = newGrowing(file, in, c, o.Grow)
		s.Reader = s.growing
	}
	if s.packed && s.Cores() > 1 && s.file() == nil {
		s.ahead = startAhead(in)
		s.growing.r = s.ahead
	}
	return s
}

// Cores is how many goroutines may read it at a time.
func (s *Source) Cores() int {
	if s.Alone {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}

// file is the file as it is stored, at any place; nil where it is a stream.
func (s *Source) file() io.ReaderAt {
	if at, ok := s.stored.(io.ReaderAt); ok && s.size > 0 {
		return at
	}
	return nil
}

// At gives the text at any place, to several goroutines at a time, and its length in
// bytes. It is nil where the file has no such access, because it is compressed or a
// stream. What is read here counts as progress; the Reader keeps its place.
func (s *Source) At() (io.ReaderAt, int64) {
	file := s.file()
	if s.packed || file == nil {
		return nil, 0
	}
	return s.counter.at(file), s.size
}

// Mapped gives the text of At in memory. It is nil where that is not possible, and where
// the file is too small to be worth it. Whoever uses it must be ready for a fault.
func (s *Source) Mapped() Mapped {
	if s.packed || s.file() == nil {
		return nil
	}
	return mapFile(s.file(), s.size, s.counter)
}

// Again is a function that gives the text once more from its beginning; the Reader of
// before must not be used any more then. It is nil where At is available, and for a stream,
// which cannot be read again.
func (s *Source) Again() func() (io.Reader, error) {
	if !s.packed || s.file() == nil {
		return nil
	}
	return func() (io.Reader, error) {
		return s.growing.again(io.NewSectionReader(s.counter.at(s.file()), 0, s.size))
	}
}

// refused is the error that ended reading because there is no memory for more.
func (s *Source) refused() error {
	if s.growing == nil {
		return nil
	}
	return s.growing.err
}

func (s *Source) close() {
	if s.ahead != nil {
		s.ahead.Close() // its goroutine may still read
		return
	}
	s.input.free()
}

// growing reports the length of a text while it is read, and ends where a small file has
// too much of it.
type growing struct {
	file    string
	r       io.Reader
	n       int64
	grow    func(text int64, density float64) error
	density float64  // of the format
	stored  *counter // of the file; nil where that is not compressed
	free    int64    // bytes of text that even a small file may have
	err     error
}

func newGrowing(file string, in *input, c *counter, grow func(int64, float64) error) *growing {
	g := &growing{file: file, r: in, grow: grow, free: freeText}
	if in.layers != "" {
		g.stored = c
	}
	return g
}

// A text may be mostInflated times as large as the file that it is compressed in, where it
// is large at all. Traces and reports are maxRatio times as large; what is more is made to
// fill the memory or the time of whoever reads it.
const (
	mostInflated = 400
	freeOther    = 32 << 20 // bytes of what is no trace
)

// freeText is how many bytes of text a trace may have however small its file is.
var freeText = int64(256 << 20)

// tell calls grow with the length so far, and returns the error that ends reading.
func (g *growing) tell() error {
	if g.err != nil {
		return g.err
	}
	if g.stored != nil && g.n > g.free && g.n/mostInflated > g.stored.read() {
		g.err = &Error{File: g.file, Reason: fmt.Sprintf(
			"compressed byte %d: has %d bytes of text up to here, more than %d times as much as is stored",
			g.stored.read(), g.n, mostInflated), Hint: "unpack it first if it is meant to be so"}
	} else if g.grow != nil {
		g.err = g.grow(g.n, g.density)
	}
	return g.err
}

func (g *growing) Read(p []byte) (n int, err error) {
	if err = g.tell(); err == nil {
		n, err = g.r.Read(p)
		g.n += int64(n)
	}
	return n, err
}

// Fill is that of input.
func (g *growing) Fill(buf []byte, from int) (n int, err error) {
	if err = g.tell(); err == nil {
		n, err = fillFrom(g.r, buf, from, 0)
		g.n += int64(n)
	}
	return n, err
}

// again goes back to the beginning of the text in file.
func (g *growing) again(file io.Reader) (io.Reader, error) {
	c := &counter{r: file}
	in, err := unpack(c)
	g.r, g.n, g.stored = in, 0, c
	return g, err
}
