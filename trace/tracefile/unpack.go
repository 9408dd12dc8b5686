package tracefile

import (
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/gaprof/gaprof/internal/inflate"
)

// input is the decompressed text of a file.
type input struct {
	peeker
	layers string // what was taken off: "", "gzip", "zstd", "gzip in gzip"
}

// Fill reads into buf[from:] until that is full. Before from are the last 32 KiB of
// the text so far, or all of it, so that what decompresses needs no window of its own.
func (in *input) Fill(buf []byte, from int) (n int, err error) {
	n = min(in.Buffered(), len(buf)-from) // what was peeked at
	if _, err = io.ReadFull(in.Reader, buf[from:from+n]); err != nil {
		return 0, err
	}
	return fillFrom(in.c.r, buf, from+n, n)
}

// fillFrom reads from r into buf[from:] until that is full or r ends, and returns the
// number of bytes, with n before them.
func fillFrom(r io.Reader, buf []byte, from, n int) (int, error) {
	if f, ok := r.(inflate.Filler); ok {
		m, err := f.Fill(buf, from)
		return n + m, err
	}
	w := fill(r, buf[from:])
	if w.panic != nil {
		panic(w.panic)
	}
	return n + w.n, w.err
}

// compressions are recognised by their first bytes.
var compressions = []struct {
	kind, magic string
	open        func(r io.Reader) (io.Reader, error)
}{
	{"gzip", "\x1f\x8b", openGzip},
	{"zstd", "\x28\xb5\x2f\xfd", openZstd},
}

// maxZstdWindow is what the zstd program accepts without being asked to.
const maxZstdWindow = 128 << 20

func openZstd(r io.Reader) (io.Reader, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow))
}

// maxLayers bounds how often a file may be compressed: by its writer, and once
// more by whoever stored it.
const maxLayers = 2

// unpack decompresses the file behind c, whatever layers of compression it has.
func unpack(c *counter) (*input, error) {
	in := &input{peeker: newPeeker(c)}
	for layer := 0; ; layer++ {
		kind, open := in.compression()
		if open == nil {
			return in, nil
		}
		if layer == maxLayers {
			return nil, errors.New("is compressed more than twice")
		}
		in.push(kind, open)
	}
}

// compression tells how the text is compressed at this layer.
func (in *input) compression() (kind string, open func(io.Reader) (io.Reader, error)) {
	for _, k := range compressions {
		if head, _ := in.Peek(len(k.magic)); string(head) == k.magic {
			return k.kind, k.open
		}
	}
	return "", nil
}

// push decompresses one layer.
func (in *input) push(kind string, open func(io.Reader) (io.Reader, error)) {
	compressed := in.peeker
	r, err := open(compressed.Reader)
	if err != nil {
		r = failing{err}
	}
	in.peeker = newPeeker(&counter{r: &watched{r: r, kind: kind, compressed: compressed}})
	if in.layers != "" {
		kind += " in " + in.layers
	}
	in.layers = kind
}

// failing is a stream whose first bytes are damaged already.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// watched gives the errors of a decompressor their place.
type watched struct {
	r          io.Reader
	kind       string
	compressed peeker
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	return n, w.damage(err)
}

func (w *watched) Fill(buf []byte, from int) (int, error) {
	n, err := fillFrom(w.r, buf, from, 0)
	return n, w.damage(err)
}

// damage is err with its place, where it has none yet.
func (w *watched) damage(err error) error {
	var inner *damage
	var gzip *inflate.Error
	switch {
	case err == nil || err == io.EOF || errors.As(err, &inner):
		return err
	case errors.As(err, &gzip):
		return &damage{w.kind, gzip.Offset, gzip.Err}
	}
	return &damage{w.kind, w.compressed.offset(), err}
}

// sizeHint guesses the length of the text from the file behind it, which has size
// bytes.
func (in *input) sizeHint(file io.Reader, size int64) int64 {
	if in.layers == "" {
		return size
	}
	if f, ok := file.(io.ReaderAt); ok {
		return textSize(in.layers, f, size)
	}
	return size * typicalRatio
}
