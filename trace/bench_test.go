package trace_test

import (
	"fmt"
	"testing"

	"github.com/gaprof/gaprof/trace"
)

// benchRows is how many rows the benchmarks add: what a worker reads of a file at a time.
const benchRows = 100_000

// fillBuilder adds rows as a training trace has them: a few tracks, names and argument
// lists that repeat, correlation ids that do not.
func fillBuilder(b *trace.Builder, rows int) {
	var names [500]trace.StringID
	for i := range names {
		names[i] = b.Intern(fmt.Appendf(nil, "aten::operator_%d", i))
	}
	var tracks [8]trace.TrackID
	for i := range tracks {
		tracks[i] = b.Track(names[0], b.Intern(fmt.Append(nil, i)))
	}
	args := []trace.Arg{
		{Key: trace.KeyStream, Num: 7}, {Key: trace.KeyDevice}, {Key: trace.KeyInputDims, Kind: trace.JSON},
	}
	for i := range rows {
		args[2].Str = names[i%50]
		b.Add(&trace.Row{
			Start: int64(i) * 100, Dur: int64(i%16) * 90, Phase: trace.Complete,
			Name: names[i*7%len(names)], Cat: trace.CatKernel, Track: tracks[i%len(tracks)],
			Corr: int64(i), External: int64(i), Offset: -1, Args: args,
		})
	}
}

// BenchmarkBuild adds rows and builds.
func BenchmarkBuild(b *testing.B) {
	for b.Loop() {
		to := trace.NewBuilder()
		fillBuilder(to, benchRows)
		to.Build()
	}
}

// BenchmarkAppend appends parts of one Builder to another, without building.
func BenchmarkAppend(b *testing.B) {
	const parts = 10
	for b.Loop() {
		to, from := trace.NewBuilder(), trace.NewPartBuilder()
		var p trace.Part
		for range parts {
			fillBuilder(from, benchRows/parts)
			from.Cut(&p)
			to.Append(&p)
		}
	}
}
