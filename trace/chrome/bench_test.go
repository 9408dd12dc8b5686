package chrome

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gaprof/gaprof/internal/tracegen"
)

const benchSize = 32 << 20

// generated returns a synthetic trace of about size bytes.
func generated(tb testing.TB, shape tracegen.Shape, size int64) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := tracegen.Write(&b, tracegen.Options{Shape: shape, Size: size, Seed: 1}); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// BenchmarkRead reads whole traces, from bytes to columns. Compare it with
// BenchmarkJSONText of the same run: machines differ and are shared.
func BenchmarkRead(b *testing.B) {
	for _, shape := range tracegen.Shapes() {
		b.Run(string(shape), func(b *testing.B) {
			data := generated(b, shape, benchSize)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			events := 0
			for b.Loop() {
				traces, err := Read(bytes.NewReader(data), Options{SizeHint: int64(len(data))})
				if err != nil {
					b.Fatal(err)
				}
				events = traces[0].Len()
			}
			b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// BenchmarkJSONText scans the tokens of the same traces and does nothing with
// them: the yardstick.
func BenchmarkJSONText(b *testing.B) {
	for _, shape := range tracegen.Shapes() {
		b.Run(string(shape), func(b *testing.B) {
			data := generated(b, shape, benchSize)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if err := scanTokens(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func scanTokens(data []byte) error {
	dec := jsontext.NewDecoder(bytes.NewReader(data))
	for {
		if _, err := dec.ReadToken(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// BenchmarkReadTeam reads a large trace with its bytes at hand at any place; compare
// -cpu 1 and more.
func BenchmarkReadTeam(b *testing.B) {
	data := generated(b, tracegen.AsIs, 4*benchSize)
	size := int64(len(data))
	b.SetBytes(size)
	for b.Loop() {
		o := Options{SizeHint: size, At: bytes.NewReader(data), Size: size}
		if _, err := Read(bytes.NewReader(data), o); err != nil {
			b.Fatal(err)
		}
	}
}
