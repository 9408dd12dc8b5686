package tracefile

import (
	stdgzip "compress/gzip"
	"io"

	"github.com/klauspost/compress/gzip"
)

// gzipReader reads with klauspost's reader, which takes 0.6 of the time of the
// standard library's but asks for ten bits more than the next symbol has, and so
// stops up to a few symbols before a cut. Where the file can be read again, the
// standard library then says what stands in the last bytes.
type gzipReader struct {
	r     io.Reader
	n     int64 // bytes handed out
	again *io.SectionReader
}

func openGzip(p peeker) (io.Reader, error) {
	r, err := gzip.NewReader(p.Reader)
	if err != nil {
		return nil, err
	}
	g := &gzipReader{r: r}
	if f, ok := p.c.r.(io.ReaderAt); ok && p.c.total > 0 {
		g.again = io.NewSectionReader(f, 0, p.c.total)
	}
	return g, nil
}

func (g *gzipReader) Read(b []byte) (int, error) {
	n, err := g.r.Read(b)
	g.n += int64(n)
	if err == io.ErrUnexpectedEOF && g.again != nil && g.restart() {
		err = nil
	}
	return n, err
}

// restart continues with the standard library's reader at the same place.
func (g *gzipReader) restart() bool {
	r, err := stdgzip.NewReader(g.again)
	g.again = nil
	if err != nil {
		return false
	}
	if _, err = io.CopyN(io.Discard, r, g.n); err != nil {
		return false
	}
	g.r = r
	return true
}
