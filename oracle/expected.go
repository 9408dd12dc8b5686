package oracle

import (
	"maps"
	"slices"
)

// Expected is what all loops over one case give in one precision.
type Expected struct {
	Head
	Variants   map[string]Variant    `json:"variants"`   // by the name of the loop
	Micro      [][]MicroBatch        `json:"micro"`      // by rank and micro-batch
	Losses     Losses                `json:"losses"`     // of the first step
	Clip       Clip                  `json:"clip"`       // zero where nothing is expected of clipping
	Trajectory map[string]Trajectory `json:"trajectory"` // by optimizer: adamw, sgd
	Optimizers map[string]Optimizer  `json:"optimizers"` // settings of those of Trajectory
}

// VariantNames lists the names of the variants in alphabetical order.
func (e *Expected) VariantNames() []string { return slices.Sorted(maps.Keys(e.Variants)) }

// MicroBatch is what one micro-batch gives by itself.
type MicroBatch struct {
	Valid    int64             `json:"n_valid"`    // targets that count
	Preshift int64             `json:"n_preshift"` // labels that would count without the shift
	LossSum  Number            `json:"loss_sum"`   // over valid targets
	LossMean Number            `json:"loss_mean"`  // NaN without valid targets
	GradL2   Number            `json:"grad_l2"`    // norm of Grads
	Grads    map[string]Floats `json:"grads"`      // of the summed loss, by parameter; in f64 only
}

// Variant is the gradient that every rank holds before the optimizer step of one loop.
type Variant struct {
	// Coeff is the weight of the gradient of each micro-batch's summed loss, by rank and
	// micro-batch.
	Coeff    [][]float64       `json:"coeff"`
	GradL2   float64           `json:"grad_l2"`          // norm of Grads
	Logged   Number            `json:"loop_logged_loss"` // NaN: not logged, or logged as NaN
	Grads    map[string]Floats `json:"grads"`            // by parameter; Read fills in those of multiples
	Versus   Deviation         `json:"vs_correct"`       // how Grads differ from the right ones
	Multiple *Multiple         `json:"multiple_of"`      // nil where the file holds Grads itself
}

// Deviation is how a gradient differs from the right one. The figures are those that
// normalization.Deviation defines.
type Deviation struct {
	Reference string  `json:"reference"`  // the variant that is right
	NormRatio float64 `json:"norm_ratio"` // 1 where both are equally long
	Cosine    float64 `json:"cosine"`     // -1..1
	MaxRel    float64 `json:"max_rel"`    // largest error of an element over the largest right element
	RelL2     float64 `json:"rel_l2"`     // norm of the error over that of the right gradient
	AdamW     float64 `json:"adamw_first_update_rel_l2"`
}

// Multiple says that a gradient is Factor times that of another variant.
type Multiple struct {
	Variant string  `json:"variant"` // its name; the file holds its Grads
	Factor  float64 `json:"factor"`
}

// Losses are the ways to average the losses of one step; NaN is not known.
type Losses struct {
	GlobalMean       Number `json:"global_mean"`   // sum of losses / all tokens: the one that is followed
	PerRankMean      Floats `json:"per_rank_mean"` // by rank
	MeanOfRankMeans  Number `json:"mean_of_rank_means"`
	SumOfRankMeans   Number `json:"sum_of_rank_means"`
	MeanOfMicroMeans Number `json:"mean_of_micro_means_skip_empty"` // over micro-batches with tokens
}

// Clip is clip_grad_norm_ on the right gradient. MaxNorm 0 means that nothing is expected.
type Clip struct {
	MaxNorm   float64 `json:"max_norm"`   // to which longer gradients are shortened
	TotalNorm float64 `json:"total_norm"` // of the gradient before it is clipped
	Coef      float64 `json:"coef"`       // that the gradient is multiplied by
}

// Trajectory is some steps of an optimizer on the same data with the right gradient.
type Trajectory struct {
	LossBefore  Floats            `json:"loss_before_step"` // by step
	GradNorm    Floats            `json:"grad_norm"`        // by step
	ParamsAfter map[string]Floats `json:"params_after"`     // of f64 and AdamW only, nil otherwise
}

// Optimizer is the settings of an optimizer of Trajectory.
type Optimizer struct {
	LR          float64 `json:"lr"`           // learning rate
	Beta1       float64 `json:"beta1"`        // of Adam's first moment; 0 of SGD
	Beta2       float64 `json:"beta2"`        // of Adam's second moment; 0 of SGD
	Eps         float64 `json:"eps"`          // of Adam's denominator; 0 of SGD
	WeightDecay float64 `json:"weight_decay"` // 0 none
	Steps       int     `json:"steps"`        // that the trajectory has
}
