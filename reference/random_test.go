package reference_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/reference/cpu"
)

// choices do not change what the global mean of a step is, each alone and together.
var choices = [][]string{
	{"", "scale=pass", "scale=foreach", "scale=loss", "scale=optimizer", "scale=clip", "scale=skip"},
	{"", "loss-reduction=sum"},
	{"", "grad-reduction=sum"},
	{"", "backward=step"},
	{"", "sync=every-micro-batch"},
	{"", "grad-sync=reduce-then-accumulate"},
	{"", "reduce-scatter=step", "reduce-scatter=hook"},
	{"", "step-order=reverse", "step-order=explicit"},
	{"", "gradient-as-bucket-view=false"},
	{"bucket-bytes=0", "bucket-bytes=3000", "bucket-bytes=1000000"},
	{"", "clip-grad-norm=1e9"},
	{"", "optimizer-in-backward=true"},
	{"", "activation-checkpoint=full"},
	{"", "sharding=full", "sharding=full reshard-after-forward=false", "sharding=full replicas=2",
		"sharding=full sync=every-micro-batch replicas=2 replica-sync=last"},
}

// Random options over random tokens: what is not refused gives the weights that the
// plain way gives.
func TestRandomWaysAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	run := 0
	for range 400 {
		world, micros := 1+rng.IntN(4), 1+rng.IntN(3)
		var ranks []string
		for range world {
			var counts []string
			for range micros {
				counts = append(counts, fmt.Sprint(max(0, rng.IntN(56)-10)))
			}
			ranks = append(ranks, strings.Join(counts, ","))
		}
		common := []string{fmt.Sprintf("world-size=%d", world), "token-counts=" + strings.Join(ranks, "/"),
			[]string{"model=mlp", "model=gpt"}[rng.IntN(2)],
			[]string{"optimizer=adamw", "optimizer=sgd"}[rng.IntN(2)]}
		way := slices.Clone(common)
		for _, choice := range choices {
			if rng.IntN(2) == 0 {
				way = append(way, strings.Fields(choice[rng.IntN(len(choice))])...)
			}
		}
		o := small(t, way...)
		if o.Validate() != nil {
			continue
		}
		run++
		want, got := train(t, small(t, common...), nil, cpu.Backend{Poison: true}), train(t, o, nil, cpu.Backend{})
		for rank := range world {
			if off := apart(got.weights[rank], want.weights[0]); !(off < 1e-8) {
				t.Errorf("%s: weights of rank %d are off by %.2g", strings.Join(way, " "), rank, off)
			}
		}
	}
	if run < 60 {
		t.Errorf("%d combinations are allowed", run)
	}
	t.Logf("%d combinations", run)
}
