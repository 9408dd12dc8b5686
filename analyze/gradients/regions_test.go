package gradients

import (
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/text"
)

// rankOf reads a trace of one rank.
func rankOf(t *testing.T, source string) *timeline.Rank {
	t.Helper()
	tr, err := text.Read(strings.NewReader(source), "test")
	if err != nil {
		t.Fatal(err)
	}
	return timeline.New(tr).Ranks[0]
}

// startingAt returns the row of a name that begins at a time.
func startingAt(t *testing.T, x *timeline.Rank, name string, start int64) int32 {
	t.Helper()
	for row := range int32(len(x.Col.Start)) {
		if x.Col.Start[row] == start && x.Name(row) == name {
			return row
		}
	}
	t.Fatalf("no %s at %d", name, start)
	return 0
}

// TestRegions: in which part of a step an operator runs. What a hook runs after the last
// accumulation still belongs to the backward pass, and an optimizer's span holds what its closure
// does to gradients, too.
func TestRegions(t *testing.T) {
	const source = `
1/1 300 +40 user_annotation Optimizer.step#SGD.step
1/1 155 +5 cpu_op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
`
	ops := ""
	times := []string{"99", "100", "149", "150", "156", "199", "200", "249", "250", "299", "300", "319", "320", "339",
		"340", "500"}
	for _, at := range times {
		ops += "1/1 " + at + " +1 cpu_op aten::mul_\n"
	}
	x := rankOf(t, source+ops)
	w := &window{x: x, step: &steps.Step{Update: steps.Interval{Start: 300, End: 340}}, own: 320, backwards: []Backward{
		{Start: 100, Last: 150, End: 160}, {Start: 200, Last: 250, End: 250}}}
	for at, want := range map[int64]region{
		99: {}, 100: {InBackward, 0}, 149: {InBackward, 0}, 150: {BetweenMicroBatches, 0}, 156: {InBackward, 0},
		199: {BetweenMicroBatches, 0}, 200: {InBackward, 1}, 249: {InBackward, 1}, 250: {AfterBackward, 1},
		299: {AfterBackward, 1}, 300: {AfterBackward, 1}, 319: {AfterBackward, 1}, 320: {InOptimizer, 1},
		339: {InOptimizer, 1}, 340: {AfterOptimizer, 1}, 500: {AfterOptimizer, 1},
	} {
		row := startingAt(t, x, "aten::mul_", at)
		if got := w.regionOf(operation{start: at, row: row}); got != want {
			t.Errorf("at %d: %+v, want %+v", at, got, want)
		}
		if got := w.regionOf(operation{start: at, row: row, framework: true}); got.place == BetweenMicroBatches ||
			got.place == AfterBackward {
			t.Errorf("of a hook at %d: %+v", at, got)
		}
	}
}
