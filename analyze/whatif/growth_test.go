package whatif

import (
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/tracegen"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome"
)

// syntheticTrace is a trace of at least so many events.
func syntheticTrace(tb testing.TB, events int) *trace.Trace {
	tb.Helper()
	from, to := io.Pipe()
	go func() {
		to.CloseWithError(tracegen.Write(to, tracegen.Options{Size: int64(events) * 330, Seed: 1}))
	}()
	traces, err := chrome.Read(from, chrome.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return traces[0]
}

// BenchmarkGrowth is graph, replay and one edit of traces of 30,000, 300,000 and 3 million events. What is
// linear takes as many ns an event at all sizes: growth is their ratio to that of the size before.
func BenchmarkGrowth(b *testing.B) {
	before := 0.0
	for _, events := range []int{30_000, 300_000, 3_000_000} {
		b.Run(fmt.Sprint(events), func(b *testing.B) {
			t := syntheticTrace(b, events)
			x := timeline.New(t)
			of := facts.Compute(x)
			uses, err := Parse([]string{"free-collective"})
			if err != nil {
				b.Fatal(err)
			}
			runtime.GC()
			for b.Loop() {
				if _, err := Together([]*Rank{Of(x.Ranks[0], of[0])}, nil).Predict(uses); err != nil {
					b.Fatal(err)
				}
			}
			each := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(t.Len())
			b.ReportMetric(each, "ns/event")
			if before > 0 {
				b.ReportMetric(each/before, "growth")
			}
			before = each
		})
	}
}
