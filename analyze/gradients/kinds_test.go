package gradients

import (
	"fmt"
	"testing"
)

// ops are n operations alike.
func ops(n int, o operation) []operation {
	list := make([]operation, n)
	for i := range list {
		list[i] = o
	}
	return list
}

// TestKindOfRun: what a run does, by its operations, its place and what precedes it.
func TestKindOfRun(t *testing.T) {
	after, during := region{place: AfterBackward}, region{place: InBackward}
	two := ops(2, operation{})
	for _, test := range []struct {
		name string
		run  run
		want PassKind
	}{
		{"zeros", run{family: zeroFill, region: after, operations: two}, ZeroPass},
		{"norms", run{family: norm, region: during, operations: two}, NormPass},
		{"copies", run{family: copyInto, region: during, operations: two}, CopyPass},
		{"unscaling", run{family: unscale, region: during, operations: two}, UnscalePass},
		{"limits of elements", run{family: limitEach, region: during, operations: two}, ClipPass},
		{"products", run{family: multiply, region: after, operations: two}, ScalePass},
		{"products in backward", run{family: multiply, region: during, operations: two}, DividePass},
		{"after norms", run{family: multiply, region: after, afterNorm: true, operations: two}, ClipPass},
		{"each after its reduction", run{family: multiply, region: after, operations: ops(2,
			operation{averaged: true})}, DividePass},
		{"one after a reduction", run{family: multiply, region: after, operations: ops(1, operation{averaged: true})},
			ScalePass},
		{"each before a reduce-scatter", run{family: multiply, region: after, scattered: true, afterNorm: true,
			operations: two}, DividePass},
		{"after all reductions", run{family: multiply, region: after, averages: true, operations: two}, DividePass},
		{"and norms", run{family: multiply, region: after, averages: true, afterNorm: true, operations: two}, ClipPass},
	} {
		if got := passKind(&test.run); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestPlausible: which runs are passes over gradients, and not over weights, averages or moments.
func TestPlausible(t *testing.T) {
	m := &matcher{}
	at := func(place Place) region { return region{place: place} }
	decays := ops(2, operation{factor: "0.999"})
	for _, test := range []struct {
		name string
		run  run
		kind PassKind
		want bool
	}{
		{"before backward", run{region: at(""), operations: ops(2, operation{})}, ScalePass, false},
		{"after backward", run{region: at(AfterBackward), family: multiply, operations: ops(2,
			operation{tensor: true})}, ScalePass, true},
		{"after the update", run{region: at(AfterOptimizer), operations: ops(2, operation{})}, ScalePass, false},
		{"zeros after the update", run{region: at(AfterOptimizer), family: zeroFill, operations: ops(2, operation{})},
			ZeroPass, true},
		{"in the optimizer", run{region: at(InOptimizer), operations: ops(2, operation{})}, ScalePass, false},
		{"unscaling in the optimizer", run{region: at(InOptimizer), family: unscale, operations: ops(2, operation{})},
			UnscalePass, true},
		{"clipping in the optimizer", run{region: at(InOptimizer), limited: true, operations: ops(2, operation{})},
			ClipPass, true},
		{"what may be clipping in it", run{region: at(InOptimizer), operations: ops(2, operation{})}, ClipPass, false},
		{"copies of the program", run{region: at(AfterBackward), family: copyInto, operations: ops(2, operation{})},
			CopyPass, false},
		{"copies of DDP", run{region: at(AfterBackward), family: copyInto, operations: ops(2,
			operation{framework: true})}, CopyPass, true},
		{"a division", run{region: at(InBackward), family: multiply, updates: 2, operations: ops(2, operation{})},
			DividePass, true},
		{"decay of weights", run{region: at(AfterBackward), family: multiply, operations: decays}, ScalePass, false},
		{"averages", run{region: at(AfterBackward), family: multiply, updates: 1, operations: ops(2,
			operation{tensor: true})}, ScalePass, false},
		{"hardly averages", run{region: at(AfterBackward), family: multiply, updates: 1, operations: ops(3,
			operation{tensor: true})}, ScalePass, true},
		{"products by a count", run{region: at(AfterBackward), family: product, counted: true, operations: ops(2,
			operation{})}, ScalePass, true},
		{"products by no count", run{region: at(AfterBackward), family: product, operations: ops(2, operation{})},
			ScalePass, false},
		{"products that clip", run{region: at(AfterBackward), family: product, operations: ops(1,
			operation{tensor: true})}, ClipPass, true},
		{"products by numbers", run{region: at(AfterBackward), family: product, operations: ops(1, operation{})},
			ClipPass, false},
		{"products between", run{region: at(BetweenMicroBatches), family: product, operations: ops(1,
			operation{tensor: true})}, ClipPass, false},
		{"limits", run{region: at(AfterBackward), family: limitEach, operations: ops(1, operation{})}, ClipPass, true},
		{"limits between", run{region: at(BetweenMicroBatches), family: limitEach, operations: ops(1, operation{})},
			ClipPass, true},
		{"limits in backward", run{region: at(InBackward), family: limitEach, operations: ops(1, operation{})},
			ClipPass, false},
	} {
		if got := m.plausible(&test.run, test.kind); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

// TestTraffic: how often each pass moves the bytes of the gradients.
func TestTraffic(t *testing.T) {
	want := map[PassKind]int64{ScalePass: 2, ClipPass: 2, UnscalePass: 2, DividePass: 2, CopyPass: 2, CastPass: 2,
		ZeroPass: 1, NormPass: 1}
	if fmt.Sprint(traffic) != fmt.Sprint(want) {
		t.Error(traffic)
	}
}

// TestAlike: operations of one run are by the same hand, and multiply by the same kind of thing.
func TestAlike(t *testing.T) {
	all := []operation{{}, {framework: true}, {tensor: true}, {averaged: true}, {divides: true}, {whole: true}}
	for i := range all {
		for k := range all {
			if got := all[i].alike(&all[k]); got != (i == k) {
				t.Errorf("%d and %d: %v", i, k, got)
			}
		}
	}
}

// TestShards: flat buffers are those of one rank or spread over all.
func TestShards(t *testing.T) {
	for _, test := range []struct{ ranks, flat, numel, want int64 }{
		{1, 25, 100, 1}, {4, 25, 100, 4}, {4, 23, 100, 4}, {4, 22, 100, 1}, {4, 89, 100, 4}, {4, 90, 100, 1}, {4, 100,
			100, 1}, {4, 0, 100, 1},
		{0, 25, 100, 1}, {2, 50, 100, 2},
	} {
		m := &matcher{ranks: test.ranks}
		if got := m.shards(test.flat, test.numel); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
}
