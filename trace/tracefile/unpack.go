package tracefile

import (
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

// input is the text of a file after its compression has been taken off.
type input struct {
	peeker
	layers string // what was taken off: "", "gzip", "zstd", "gzip in gzip"
	brief  bool   // only the beginning is wanted: nothing runs ahead
	close  []func()
}

// Close stops the decompression; the file itself stays open.
func (in *input) Close() {
	for _, f := range in.close {
		f()
	}
}

// compressions are told by their first bytes.
var compressions = []struct {
	kind, magic string
	open        func(p peeker) (io.Reader, error)
}{
	{"gzip", "\x1f\x8b", openGzip},
	{"zstd", "\x28\xb5\x2f\xfd", openZstd},
}

// maxZstdWindow is what the zstd program accepts without being asked to.
const maxZstdWindow = 128 << 20

func openZstd(p peeker) (io.Reader, error) {
	return zstd.NewReader(p.Reader, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow))
}

// maxLayers bounds how often a file may be compressed: by its writer, and once
// more by whoever stored it.
const maxLayers = 2

// unpack takes compression off the file behind c.
func unpack(c *counter) (*input, error) { return unpackInto(&input{peeker: newPeeker(c)}) }

// unpackHead does so for a look at the beginning.
func unpackHead(c *counter) (*input, error) {
	return unpackInto(&input{peeker: newPeeker(c), brief: true})
}

func unpackInto(in *input) (*input, error) {
	for layer := 0; ; layer++ {
		kind, open := in.compression()
		if open == nil {
			return in, nil
		}
		if layer == maxLayers {
			in.Close()
			return nil, errors.New("is compressed more than twice")
		}
		in.push(kind, open)
	}
}

// compression tells how the text is compressed at this layer.
func (in *input) compression() (kind string, open func(peeker) (io.Reader, error)) {
	for _, k := range compressions {
		if head, _ := in.Peek(len(k.magic)); string(head) == k.magic {
			return k.kind, k.open
		}
	}
	return "", nil
}

// push takes one layer off. Decompression runs ahead in a goroutine of its own,
// which takes a quarter off the time for a gzip file where there is a second core.
func (in *input) push(kind string, open func(peeker) (io.Reader, error)) {
	compressed := in.peeker
	r, err := open(compressed)
	if err != nil {
		r = failing{err}
	}
	r = &watched{r: r, kind: kind, compressed: compressed}
	if !in.brief {
		a := startAhead(r)
		in.close = append([]func(){a.Close}, in.close...)
		r = a
	}
	in.peeker = newPeeker(&counter{r: r})
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
	var inner *damage
	if err != nil && err != io.EOF && !errors.As(err, &inner) {
		err = &damage{w.kind, w.compressed.offset(), err}
	}
	return n, err
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
