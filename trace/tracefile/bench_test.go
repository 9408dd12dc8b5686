package tracefile

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/gaprof/gaprof/internal/tracegen"
)

const benchSize = 32 << 20

// BenchmarkRead reads files as users have them, from the disk to columns. Bytes
// are those of the text, so that the lines can be compared.
func BenchmarkRead(b *testing.B) {
	var text, gz, zst bytes.Buffer
	if err := tracegen.Write(&text, tracegen.Options{Size: benchSize, Seed: 1}); err != nil {
		b.Fatal(err)
	}
	z := gzip.NewWriter(&gz)
	z.Write(text.Bytes())
	z.Close()
	s, _ := zstd.NewWriter(&zst)
	s.Write(text.Bytes())
	s.Close()
	for name, data := range map[string][]byte{"plain": text.Bytes(), "gzip": gz.Bytes(), "zstd": zst.Bytes()} {
		b.Run(name, func(b *testing.B) { benchFile(b, data, int64(text.Len())) })
	}
}

func benchFile(b *testing.B, data []byte, size int64) {
	path := filepath.Join(b.TempDir(), "trace")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	b.ReportAllocs()
	events := 0
	for b.Loop() {
		traces, err := Read(path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		events = traces[0].Len()
	}
	b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
