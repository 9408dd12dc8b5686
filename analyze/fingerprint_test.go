package analyze

import (
	"fmt"
	"testing"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/steps"
)

// trains is a rank that trains some parameters with some optimizers, each with its accumulation.
func trains(classes []gradients.ParamClass, optimizers ...gradients.OptimizerStep) *facts.Rank {
	r := &facts.Rank{}
	for _, c := range classes {
		r.Params.Count += c.Count
		r.Params.Numel += c.Numel * int64(c.Count)
	}
	r.Params.Classes = classes
	r.StepSource = steps.FromOptimizer
	for _, o := range optimizers {
		r.Optimizers = append(r.Optimizers, gradients.Optimizer{Name: o.Name})
	}
	r.Steps = append(r.Steps, facts.Step{PerOptimizer: optimizers})
	return r
}

// Two runs are of one model where they train as many parameters of the same shapes and types
// with the same optimizers, in whichever order a trace shows them.
func TestFingerprintOfModels(t *testing.T) {
	class := func(rows int64, dtype string, n int) gradients.ParamClass {
		return gradients.ParamClass{Dims: []int64{rows, 4}, Numel: 4 * rows, Dtype: dtype, Count: n}
	}
	adam := gradients.OptimizerStep{Name: "Adam", Accumulation: 2}
	sgd := gradients.OptimizerStep{Name: "SGD", Accumulation: 4}
	unsure := gradients.OptimizerStep{Name: "Adam", Accumulation: facts.Unknown}
	type classes = []gradients.ParamClass
	both := classes{class(8, "float", 3), class(16, "float", 1)}
	of := fingerprintOf(trains(both, adam))
	for _, test := range []struct {
		name         string
		r            *facts.Rank
		same         bool
		accumulation string
	}{
		{"again", trains(both, adam), true, "[2]"},
		{"in another order", trains(classes{both[1], both[0]}, adam), true, "[2]"},
		{"another shape", trains(classes{both[0], class(17, "float", 1)}, adam), false, "[2]"},
		{"another type", trains(classes{both[0], class(16, "c10::BFloat16", 1)}, adam), false, "[2]"},
		{"one more", trains(classes{class(8, "float", 4), both[1]}, adam), false, "[2]"},
		{"another optimizer", trains(both, sgd), false, "[4]"},
		{"two optimizers", trains(both, adam, sgd), false, "[2 4]"},
		{"accumulation that is not known", trains(both, unsure), true, "[]"},
		{"of one of two optimizers", trains(both, unsure, sgd), false, "[]"},
	} {
		got := fingerprintOf(test.r)
		if (got.Model == of.Model) != test.same || fmt.Sprint(got.Accumulation) != test.accumulation {
			t.Errorf("%s: %+v beside %+v", test.name, got, of)
		}
	}
	withoutSteps := trains(both, adam)
	withoutSteps.Steps = nil
	for name, r := range map[string]*facts.Rank{
		"without a step": withoutSteps, "without shapes": trains(nil, adam),
	} {
		if got := fingerprintOf(r); got.Model != "unknown" || len(got.Accumulation) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
