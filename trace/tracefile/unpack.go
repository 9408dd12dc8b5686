package tracefile

import (
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/gaprof/gaprof/internal/inflate"
)

// input is the decompressed text of a file.
type input struct {
	peeker
	layers string   // what was taken off: "", "gzip", "zstd", "gzip in gzip"
	below  []peeker // of the layers that were taken off
}

// free gives back what reading took. Nobody may read from in afterwards.
func (in *input) free() {
	for _, p := range append(in.below, in.peeker) {
		p.free()
	}
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

// compression is a format that texts are compressed in.
type compression struct {
	kind, magic string
	open        func(r io.Reader) (io.Reader, error)
}

// compressions are recognised by their first bytes.
var compressions = []compression{
	{"gzip", "\x1f\x8b", openGzip},
	{"zstd", "\x28\xb5\x2f\xfd", openZstd},
}

// maxZstdWindow is what the zstd program accepts without being asked to.
const maxZstdWindow = 128 << 20

func openZstd(r io.Reader) (io.Reader, error) {
	f := &fed{r: r}
	z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow))
	if err != nil {
		return nil, err
	}
	return &fruitful{z, f}, nil
}

// mostBarren is how many bytes of a compressed stream may give no text, as of package
// inflate: frames may be empty or skipped, and a stream may be an endless row of such.
const mostBarren = 16 << 20

// fed is what a decompressor is fed with. It ends where that gives no text for too long.
type fed struct {
	r     io.Reader
	since int64 // bytes since there was text
}

func (f *fed) Read(p []byte) (int, error) {
	if f.since > mostBarren {
		return 0, fmt.Errorf("%d MB of it hold no text at all", mostBarren>>20)
	}
	n, err := f.r.Read(p)
	f.since += int64(n)
	return n, err
}

// fruitful tells what feeds a decompressor that there is text.
type fruitful struct {
	r    io.Reader
	feed *fed
}

// Read gives little at a time, so that much text is not taken for none.
func (f *fruitful) Read(p []byte) (int, error) {
	n, err := f.r.Read(p[:min(len(p), mostBarren/2)])
	if n > 0 {
		f.feed.since = 0
	}
	return n, err
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
	in.below = append(in.below, compressed)
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
