package reference_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/reference/cpu"
)

// Full sharding and recomputed activations give the gradients of data parallelism, to the last
// digits: with every number of ranks, replicas and micro-batches, and with every normalization.
func TestShardingAgrees(t *testing.T) {
	ways := []string{
		"sharding=full", "sharding=full sync=every-micro-batch", "sharding=full reshard-after-forward=false",
		"sharding=full backward=step activation-checkpoint=full", "activation-checkpoint=full",
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
		}
	}
	return most
}
