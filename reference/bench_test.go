//go:build unix

package reference_test

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/reference/cpu"
)

// BenchmarkTrain reports valid and padded tokens per second of a gpt of two layers, by
// width and ranks: one micro-batch of 4 x 256 a rank and step. The time on processors is
// that of steps alone: a run of two steps is taken off.
func BenchmarkTrain(b *testing.B) {
	for _, width := range []int{64, 512} {
		for _, ranks := range []int{1, 2} {
			b.Run(fmt.Sprintf("d=%d/ranks=%d", width, ranks), func(b *testing.B) {
				o := reference.Defaults()
				o.Width, o.Heads, o.SequenceLength, o.WorldSize, o.GlobalBatchSize = width, width/64, 256, ranks, -1
				_, start := steps(b, o, 2)
				b.ResetTimer()
				result, used := steps(b, o, b.N+2)
				seconds := result.Duration.Seconds()
				positions := ranks * o.LocalBatchSize * o.SequenceLength
				b.ReportMetric(float64(result.Tokens)/seconds, "tokens/s")
				b.ReportMetric(float64(result.Steps*positions)/seconds, "positions/s")
				b.ReportMetric(float64(b.N*positions)/(used-start), "positions/cpu-s")
			})
		}
	}
}

// steps returns what n of them take of processors, in seconds.
func steps(b *testing.B, o reference.Options, n int) (result reference.Result, used float64) {
	o.MaxSteps = n
	text, err := reference.NewText(o)
	if err != nil {
		b.Fatal(err)
	}
	before := processors(b)
	result, err = reference.Run(b.Context(), o, cpu.Backend{}, text, reference.Callbacks{})
	if err != nil {
		b.Fatal(err)
	}
	return result, processors(b) - before
}

// processors is the time that this process has spent on them, in seconds.
func processors(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
