package reference_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/reference/cpu"
	"github.com/gaprof/gaprof/reference/sim"
)

// Full sharding and recomputed activations give the gradients of data parallelism, to the last
// digits: with every number of ranks, replicas and micro-batches, and with every normalization.
func TestShardingAgrees(t *testing.T) {
	ways := []string{
		"sharding=full", "sharding=full sync=every-micro-batch", "sharding=full reshard-after-forward=false",
		"sharding=full backward=step activation-checkpoint=full", "activation-checkpoint=full",
		"sharding=full layers=3 activation-checkpoint=selective",
		"sharding=full activation-checkpoint=full sync=every-micro-batch grad-reduction=sum",
		"sharding=full activation-checkpoint=full scale=pass clip-grad-norm=1e9",
		"reduce-scatter=hook activation-checkpoint=full backward=step",
	}
	n := 0
	for _, world := range []int{1, 2, 4} {
		for _, accumulation := range []int{1, 2, 4} {
			for _, normalization := range []string{"global", "per-rank", "micro-mean", "sum"} {
				size := []string{fmt.Sprintf("world-size=%d", world), "max-steps=1", "sequence-length=12", "layers=2",
					fmt.Sprintf("global-batch-size=%d", 2*world*accumulation), "normalization=" + normalization}
				want := train(t, small(t, size...), nil, cpu.Backend{Poison: true})
				for replicas := 1; replicas <= world; replicas *= 2 {
					n++
					shardingAgrees(t, want, append(size, fmt.Sprintf("replicas=%d", replicas)), ways[n%3:])
				}
			}
		}
	}
}

// shardingAgrees tries every third of several ways to shard.
func shardingAgrees(t *testing.T, want *trained, size, ways []string) {
	for i := 0; i < len(ways); i += 3 {
		o := small(t, append(strings.Fields(ways[i]), size...)...)
		if o.Replicas > 1 && o.Sync == "every-micro-batch" && o.GlobalBatchSize > 4*o.WorldSize {
			o.ReplicaSync = "last"
		}
		switch {
		case o.Sharding == "" && o.Replicas > 1, o.ReduceScatter != "" && o.WorldSize == 1,
			o.Scale == "pass" && o.Normalization != "global":
			continue
		case o.Normalization != "global" && o.GradReduction == "sum":
			o.GradReduction = "mean" // which is what the other normalizations are compared with
		}
		got := train(t, o, nil, cpu.Backend{Poison: true})
		if off := furthest(got, want, o.WorldSize); !(off < 1e-12) {
			t.Errorf("%s %v: off by %.2g", ways[i], size, off)
		}
	}
}

// furthest is how far weights and gradients of a run are from those of another one.
func furthest(got, want *trained, world int) float64 {
	most := 0.0
	for rank := range world {
		most = math.Max(most, apart(got.weights[rank], want.weights[rank]))
		for step := range got.steps {
			key := [2]int{rank, step}
			most = math.Max(most, apart(got.gradients[key], want.gradients[key]))
			most = math.Max(most, math.Abs(got.steps[step].Loss-want.steps[step].Loss))
			if want := want.steps[step].Optimized; !math.IsNaN(want) {
				most = math.Max(most, math.Abs(got.steps[step].Optimized-want))
			}
		}
	}
	return most
}

// The optimizer gets the same gradients where they are divided first, or their norms reduced one
// by one.
func TestFaultsOfShards(t *testing.T) {
	want := train(t, small(t, "layers=2", "clip-grad-norm=0.05"), nil, cpu.Backend{Poison: true})
	for _, options := range []string{"plant=GS004 replicas=2", "plant=GS004", "plant=CL002", "plant=AC004"} {
		o := small(t, append(strings.Fields(options), "sharding=full", "layers=2", "clip-grad-norm=0.05")...)
		got := train(t, o, nil, cpu.Backend{Poison: true})
		if off := furthest(got, want, 2); !(off < 1e-12) {
			t.Errorf("%s: off by %.2g", options, off)
		}
	}
}

// Every fault runs with full sharding and checkpoints, or is refused.
func TestFaultsAreRunOrRefused(t *testing.T) {
	run := 0
	for _, plant := range reference.Plants() {
		for _, more := range []string{"", "world-size=4 replicas=2", "sync=every-micro-batch"} {
			o := small(t, append(strings.Fields(more), "plant="+plant, "sharding=full", "layers=2",
				"activation-checkpoint=full")...)
			if o.Validate() != nil || strings.HasPrefix(plant, "ID") || strings.HasPrefix(plant, "ST") {
				continue // those sleep
			}
			run++
			train(t, o, nil, cpu.Backend{Poison: true})
		}
	}
	if run < 40 {
		t.Errorf("%d faults are run", run)
	}
}

// Where tensors have no contents the same is launched, gathered, reduced and held at most. One rank
// stands for all.
func TestShardingOfShapes(t *testing.T) {
	machine, err := sim.Lookup("h100x2")
	if err != nil {
		t.Fatal(err)
	}
	for _, options := range []string{
		"sharding=full", "sharding=full reshard-after-forward=false clip-grad-norm=1", "activation-checkpoint=full",
		"sharding=full world-size=4 replicas=2 sync=every-micro-batch replica-sync=last activation-checkpoint=full",
		"sharding=full world-size=2 replicas=2 backward=step", "sharding=full world-size=1",
	} {
		o := small(t, append(strings.Fields(options), "layers=2", "dtype=float32")...)
		real, shapes := record(t, o)[0], recordOn(t, sim.Backend{Machine: machine}, o)[0]
		most, left := real.peak()
		mostOf, leftOf := shapes.peak()
		got, want := shapes.collectives(1), real.collectives(1)
		if len(shapes.devices) != len(real.devices) || got != want || mostOf != most || leftOf != left {
			t.Errorf("%s: %d operations, %s, %d and %d bytes, want %d, %s, %d and %d", options,
				len(shapes.devices), got, mostOf, leftOf, len(real.devices), want, most, left)
		}
	}
}
