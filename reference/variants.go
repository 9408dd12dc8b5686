package reference

import "slices"

// variant is a training loop of the oracle, as the options that reproduce it.
type variant struct {
	name     string
	settings []setting
	first    bool // the loop sees only the first micro-batch of each rank
}

// Unless stated otherwise, loops under DDP reduce in every micro-batch. That is correct
// for a mean over ranks, which is idempotent.
var (
	everyBatch = setting{"sync", "every-micro-batch"}
	lastBatch  = setting{"sync", "last"}
	summed     = setting{"loss-reduction", "sum"}
	overRanks  = setting{"grad-reduction", "sum"}
	inPass     = setting{"scale", "pass"}
	inLoss     = setting{"scale", "loss"}
	microMean  = setting{"normalization", "micro-mean"}
	perRank    = setting{"normalization", "per-rank"}
	once       = setting{"backward", "step"}
)

// variants holds the loops of the oracle. Those with a fault that no option can express
// are the plants of the same name.
var variants = []variant{
	{"torchtune_2172", []setting{inPass, everyBatch}, false},
	{"torchtune_1917_draft_no_sync_world", []setting{inPass, lastBatch}, false},
	{"sum_reduce_no_sync", []setting{inPass, lastBatch, overRanks}, false},
	{"nathan_az_fixed", []setting{inLoss, everyBatch}, false},
	{"titan_2206", []setting{inLoss, everyBatch, summed, overRanks, {"grad-sync", "reduce-then-accumulate"}}, false},
	{"tnt_1049_world", []setting{inPass, lastBatch, summed}, false},
	{"torchtune_1917_merged", []setting{{"plant", "torchtune_1917_merged"}}, false},
	{"torchtune_2543", []setting{{"plant", "torchtune_2543"}}, false},
	{"tnt_1049_literal", []setting{{"plant", "tnt_1049_literal"}}, false},
	{"torchtune_2172_preshift_count", []setting{{"plant", "torchtune_2172_preshift_count"}}, false},
	{"per_rank_mean", []setting{perRank, inLoss, once}, false},
	{"per_rank_sum", []setting{perRank, inLoss, once, overRanks}, false},
	{"micro_mean_of_means", []setting{microMean, everyBatch}, false},
	{"micro_mean_of_means_no_sync", []setting{microMean, lastBatch}, false},
	{"micro_mean_no_rescale", []setting{{"plant", "micro_mean_no_rescale"}}, false},
	{"tnt_pre1049", []setting{{"plant", "tnt_pre1049"}}, false},
	{"unnormalized_sum", []setting{{"normalization", "sum"}, summed, overRanks, lastBatch}, false},
	{"ddp_sum_hook_sync_every_microbatch", []setting{{"plant", "ddp_sum_hook_sync_every_microbatch"}}, false},
	{"nathan_az_literal", []setting{{"plant", "nathan_az_literal"}}, false},
	{"zero_grad_each_microbatch", []setting{{"plant", "zero_grad_each_microbatch"}}, false},
	{"scale_each_microbatch_ema", []setting{{"plant", "scale_each_microbatch_ema"}}, false},
	{"accum1_scaled", []setting{inPass}, true},
	{"accum1_loss_prescaled", []setting{inLoss}, true},
	{"accum1_skip_naive_distributed", []setting{{"plant", "accum1_skip_naive_distributed"}}, true},
}

// Variants returns the names of the oracle's loops that RunOracle can run.
func Variants() []string {
	names := make([]string, len(variants))
	for i, v := range variants {
		names[i] = v.name
	}
	return names
}

func findVariant(name string) (variant, bool) {
	i := slices.IndexFunc(variants, func(v variant) bool { return v.name == name })
	if i < 0 {
		return variant{}, false
	}
	return variants[i], true
}
