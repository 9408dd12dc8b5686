package reference_test

import (
	"math"
	"testing"

	"github.com/gaprof/gaprof/oracle"
	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/reference/cpu"
)

// casted is an oracle of our own: other ranks, other counts, micro-batches without a
// token, rows whose first label counts before the shift.
func casted(t *testing.T, model string) (in *oracle.Inputs, micro [][][]reference.Tensor) {
	t.Helper()
	o := small(t, "model="+model, "world-size=3", "token-counts=5,0,11/0,0,0/31,2,1", "lr=0", "weight-decay=0",
		"max-steps=1")
	text, err := reference.NewText(o)
	if err != nil {
		t.Fatal(err)
	}
	weights := train(t, o, nil, cpu.Backend{}).weights[0]
	in = &oracle.Inputs{Weights: make(map[string]oracle.Floats)}
	in.Model, in.WorldSize, in.Accumulation = map[string]string{"gpt": "transformer", "mlp": "mlp"}[model], 3, 3
	in.Config = oracle.Config{V: text.Vocabulary(), D: o.Width, H: o.Heads, L: o.Layers, F: 4 * o.Width,
		T: o.SequenceLength, B: o.LocalBatchSize,
		LNEps: 1e-5, Gelu: "tanh", IgnoreIndex: -100}
	for _, w := range weights {
		in.Weights[w.Name] = w.Values
	}
	for rank := range 3 {
		var batches []oracle.Batch
		var gradients [][]reference.Tensor
		for j := range 3 {
			b := text.Batch(rank, j)
			batches = append(batches, oracle.Batch{Tokens: rows(b.Tokens, o), Labels: rows(b.Labels, o),
				Targets: rows(b.Targets, o)})
			alone := small(t, "model="+model, "world-size=1", "global-batch-size=-1", "normalization=sum",
				"loss-reduction=sum", "max-steps=1")
			alone.Weights = make(map[string][]float64)
			for _, w := range weights {
				alone.Weights[w.Name] = w.Values
			}
			one := train(t, alone, reference.Batches{Words: text.Vocabulary(), Ranks: [][]reference.Batch{{b}}},
				cpu.Backend{})
			gradients = append(gradients, one.gradients[[2]int{0, 0}])
		}
		in.Data, micro = append(in.Data, batches), append(micro, gradients)
	}
	return in, micro
}

func rows(list []int64, o reference.Options) [][]int {
	out := make([][]int, o.LocalBatchSize)
	for i, v := range list {
		out[i/o.SequenceLength] = append(out[i/o.SequenceLength], int(v))
	}
	return out
}

// tally counts what a row of labels or targets says.
func tally(list [][]int) float64 {
	n := 0.0
	for _, row := range list {
		for _, v := range row {
			if v != -100 {
				n++
			}
		}
	}
	return n
}

// coefficient is the closed form of a loop, the weight of the gradient of the summed
// loss of micro-batch j of rank r: the table in the oracle's description.
func coefficient(in *oracle.Inputs, variant string, r, j int) float64 {
	ranks, a := float64(in.WorldSize), float64(in.Accumulation)
	n, pre, first := 0.0, 0.0, 0.0
	for _, data := range in.Data {
		for _, b := range data {
			n, pre = n+tally(b.Targets), pre+tally(b.Labels)
		}
		first += tally(data[0].Targets)
	}
	own, ofRank := tally(in.Data[r][j].Targets), 0.0
	for _, b := range in.Data[r] {
		ofRank += tally(b.Targets)
	}
	if own == 0 {
		return 0 // there is no gradient
	}
	only := func(when bool, c float64) float64 {
		if when {
			return c
		}
		return 0
	}
	switch variant {
	case "torchtune_1917_merged", "torchtune_2543", "tnt_1049_literal":
		return 1 / (n * ranks)
	case "torchtune_2172_preshift_count":
		return tally(in.Data[r][j].Labels) / own / pre
	case "per_rank_mean":
		return 1 / (ranks * ofRank)
	case "per_rank_sum":
		return 1 / ofRank
	case "micro_mean_of_means", "micro_mean_of_means_no_sync":
		return 1 / (ranks * a * own)
	case "micro_mean_no_rescale":
		return 1 / (ranks * own)
	case "tnt_pre1049":
		return 1 / (ranks * a)
	case "unnormalized_sum":
		return 1
	case "ddp_sum_hook_sync_every_microbatch":
		return math.Pow(ranks, a-1-float64(j)) / n
	case "nathan_az_literal", "zero_grad_each_microbatch":
		return only(j == in.Accumulation-1, 1/n)
	case "scale_each_microbatch_ema":
		return math.Pow(a, float64(j)-a) / n
	case "accum1_scaled", "accum1_loss_prescaled":
		return only(j == 0, 1/first)
	case "accum1_skip_naive_distributed":
		return only(j == 0, 1/(ranks*own))
	}
	return 1 / n
}

// logged is the closed form of what a loop logs as its loss, from the losses of its
// micro-batches; ok is false for the loops of which the oracle knows none.
func logged(in *oracle.Inputs, variant string, ranks []reference.RankStep) (want float64, ok bool) {
	var sum, n, pre, byPre, means, first, ofFirst float64
	for r, data := range in.Data {
		for j, b := range data[:len(ranks[r].LossSums)] {
			own, counted, l := tally(b.Targets), tally(b.Labels), ranks[r].LossSums[j]
			sum, n, pre = sum+l, n+own, pre+counted
			if own > 0 {
				byPre, means = byPre+l/own*counted, means+l/own
			}
			if r == 0 {
				first, ofFirst = first+l, ofFirst+own
			}
		}
	}
	world, a := float64(in.WorldSize), float64(in.Accumulation)
	switch variant {
	case "torchtune_2172_preshift_count":
		return byPre / pre, true
	case "per_rank_mean", "per_rank_sum":
		return first / ofFirst, true
	case "micro_mean_of_means", "micro_mean_of_means_no_sync":
		return means / (world * a), true
	case "micro_mean_no_rescale":
		return means / world, true
	case "tnt_pre1049":
		return sum / (world * a), true
	case "unnormalized_sum", "scale_each_microbatch_ema", "zero_grad_each_microbatch", "accum1_scaled",
		"accum1_loss_prescaled", "accum1_skip_naive_distributed":
		return 0, false
	}
	return sum / n, true
}

// Every loop against its closed form, where ranks and micro-batches are empty too.
func TestClosedForms(t *testing.T) {
	for _, model := range []string{"gpt", "mlp"} {
		in, micro := casted(t, model)
		for _, variant := range reference.Variants() {
			t.Run(model+"/"+variant, func(t *testing.T) {
				result, err := reference.RunOracle(t.Context(), in,
					reference.OracleRun{Variant: variant, DType: "float64"}, cpu.Backend{Poison: true})
				if err != nil {
					t.Fatal(err)
				}
				want := make(map[string]oracle.Floats)
				for r := range micro {
					for j, list := range micro[r] {
						by := coefficient(in, variant, r, j)
						for _, g := range list {
							if want[g.Name] == nil {
								want[g.Name] = make(oracle.Floats, len(g.Values))
							}
							for i, v := range g.Values {
								want[g.Name][i] += by * v
							}
						}
					}
				}
				step := result.Steps[0]
				if want, ok := logged(in, variant, step.Ranks); ok && !near(step.Logged, want, 1e-12) {
					t.Errorf("logs %v, the loop would log %v", step.Logged, want)
				}
				for rank, list := range result.Gradients[0] {
					if name, off := worst(list, want); !(off < 1e-12) {
						t.Errorf("rank %d: %s is off by %.2g", rank, name, off)
					}
				}
			})
		}
	}
}

// What the trainer cannot run is said, not guessed.
func TestOracleRefused(t *testing.T) {
	in, _ := casted(t, "mlp")
	if _, err := reference.RunOracle(t.Context(), in, reference.OracleRun{Variant: "unheard_of", DType: "float64"},
		cpu.Backend{}); err == nil {
		t.Error("an unknown loop")
	}
	tied := *in
	tied.Config.TiedHead = true
	if _, err := reference.RunOracle(t.Context(), &tied, reference.OracleRun{Variant: "torchtune_2172",
		DType: "float64"}, cpu.Backend{}); err == nil {
		t.Error("a tied head")
	}
	delete(in.Weights, "fc1.bias")
	if _, err := reference.RunOracle(t.Context(), in, reference.OracleRun{Variant: "torchtune_2172",
		DType: "float64"}, cpu.Backend{}); err == nil {
		t.Error("weights that are missing")
	}
}
