package inflate

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"testing"

	klauspost "github.com/klauspost/compress/gzip"
)

// benchmark runs read over a trace of 32 MB, or over the gzip file that the
// environment names. Compare lines of one run only: machines differ and are shared.
func benchmark(b *testing.B, read func(src io.Reader) (int64, error)) {
	packed := pack(6, trace(32<<20))
	if name := os.Getenv("GAPROF_GZIP"); name != "" {
		var err error
		if packed, err = os.ReadFile(name); err != nil {
			b.Fatal(err)
		}
	}
	size := int64(0)
	for b.Loop() {
		n, err := read(bytes.NewReader(packed))
		if err != nil {
			b.Fatal(err)
		}
		size = n
	}
	b.SetBytes(size)
}

func BenchmarkFill(b *testing.B) {
	buf := make([]byte, History+1<<20)
	benchmark(b, func(src io.Reader) (size int64, err error) {
		r, from := NewReader(src), 0
		for {
			n, err := r.Fill(buf, from)
			if size += int64(n); err == io.EOF {
				return size, nil
			} else if err != nil {
				return size, err
			}
			from = copy(buf, buf[from+n-History:from+n])
		}
	})
}

func BenchmarkStandard(b *testing.B) {
	benchmark(b, func(src io.Reader) (int64, error) {
		z, err := gzip.NewReader(src)
		if err != nil {
			return 0, err
		}
		return io.Copy(io.Discard, z)
	})
}

func BenchmarkKlauspost(b *testing.B) {
	benchmark(b, func(src io.Reader) (int64, error) {
		z, err := klauspost.NewReader(src)
		if err != nil {
			return 0, err
		}
		return io.Copy(io.Discard, z)
	})
}
