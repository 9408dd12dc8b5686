package reference_test

import (
	"fmt"
	"testing"

	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/reference/cpu"
)

// BenchmarkTrain reports valid and padded tokens per second of a gpt of two layers, by
// width and ranks: one micro-batch of 4 x 256 a rank and step.
func BenchmarkTrain(b *testing.B) {
	for _, width := range []int{64, 512} {
		for _, ranks := range []int{1, 2} {
			b.Run(fmt.Sprintf("d=%d/ranks=%d", width, ranks), func(b *testing.B) {
				o := reference.Defaults()
				o.Width, o.Heads, o.SequenceLength, o.WorldSize, o.GlobalBatchSize = width, width/64, 256, ranks, -1
				o.MaxSteps = b.N
				text, err := reference.NewText(o)
				if err != nil {
					b.Fatal(err)
				}
				b.ResetTimer()
				result, err := reference.Run(b.Context(), o, cpu.Backend{}, text, reference.Callbacks{})
				if err != nil {
					b.Fatal(err)
				}
				seconds := result.Duration.Seconds()
				b.ReportMetric(float64(result.Tokens)/seconds, "tokens/s")
				b.ReportMetric(float64(result.Steps*ranks*o.LocalBatchSize*o.SequenceLength)/seconds, "positions/s")
			})
		}
	}
}
