package report

// Normalization is what is known of how gradients are normalized. Tokens, Step and Ratio
// are of the first complete step for which every rank has token counts.
type Normalization struct {
	// Mode is global, per_rank, micro_mean, sum or unknown, or a fault of a loop: last_micro_batch,
	// last_micro_mean, re_reduced, re_reduced_mean, scaled_every_micro, pre_shift_count.
	Mode     string `json:"mode"`
	Factor   string `json:"factor"`   // that multiplies all of it: 1, 1/R, A ...; "" unknown
	Basis    string `json:"basis"`    // what mode and factor rest on: gradients, loss log, trace, declared, unknown
	Declared string `json:"declared"` // by the user, "" not

	// Tokens are counts by rank, in the order of Source.Ranks, and micro-batch; empty without
	// counts.
	Tokens [][]int64    `json:"tokens"`
	Step   *int         `json:"step"`               // an Index of Steps, null without Tokens
	Ratio  *WeightRatio `json:"token_weight_ratio"` // null where mode, factor or counts are not known

	// UnknownSteps are complete steps, among those that were chosen, of which nothing says what a
	// token counts, as where a log ends early; Ratio says nothing of them.
	UnknownSteps int `json:"unknown_steps"`

	Evidence string `json:"evidence"` // where the counts come from, and what the mode rests on
}

// WeightRatio is the least and the greatest weight of a token relative to 1/N, the weight
// that is right: 1 where every token counts as it should.
type WeightRatio struct {
	Min float64 `json:"min"`
	Max float64 `json:"max"`
}
