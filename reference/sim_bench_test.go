package reference_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/reference/sim"
)

// gpt2 are the options of GPT-2 124M in bfloat16.
func gpt2(tb testing.TB, world int, changes ...string) reference.Options {
	tb.Helper()
	o := reference.Defaults()
	o.WorldSize, o.GlobalBatchSize, o.LocalBatchSize = world, -1, 16
	for _, c := range append([]string{"layers=12", "width=768", "heads=12", "sequence-length=1024", "vocabulary=50304",
		"dtype=bfloat16", "max-steps=3"}, changes...) {
		name, value, _ := strings.Cut(c, "=")
		if err := o.Set(name, value); err != nil {
			tb.Fatal(err)
		}
	}
	return o
}

// simulate runs options on a simulated machine.
func simulate(tb testing.TB, o reference.Options, preset, figures string,
	c reference.Callbacks) (reference.Result, sim.Stats) {
	tb.Helper()
	var stats sim.Stats
	m, err := sim.Lookup(preset)
	if err == nil && figures != "" {
		err = m.Set(figures)
	}
	if err != nil {
		tb.Fatal(err)
	}
	b := sim.Backend{Machine: m, Seed: o.Seed, Stats: &stats}
	o.Target = b.Traits()
	text, err := reference.NewText(o)
	if err != nil {
		tb.Fatal(err)
	}
	result, err := reference.Run(tb.Context(), o, b, text, c)
	if err != nil {
		tb.Fatal(err)
	}
	return result, stats
}

// BenchmarkSimulated is what a simulation takes of GPT-2 124M, when only its figures are wanted:
// ranks that are equal, and ranks that are not, with the nodes of their graph and its memory.
func BenchmarkSimulated(b *testing.B) {
	for _, c := range []struct {
		ranks   int
		figures string
		options []string
	}{
		{1, "", nil}, {8, "", nil}, {1024, "", nil},
		{8, "jitter=2%", nil}, {64, "jitter=2%", []string{"max-steps=12"}},
	} {
		b.Run(fmt.Sprint(c.ranks, "/", c.figures), func(b *testing.B) {
			o := gpt2(b, c.ranks, c.options...)
			b.ReportAllocs()
			var stats sim.Stats
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				_, stats = simulate(b, o, "h100", c.figures, reference.Callbacks{})
			}
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(stats.Nodes), "nodes")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(stats.Nodes), "ns/node")
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(b.N)/float64(stats.Ranks)/1e6, "MB/rank")
		})
	}
}
