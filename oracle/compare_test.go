package oracle

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// known is a case of one rank, one micro-batch and one weight of two numbers.
func known() *Expected {
	return &Expected{
		Variants: map[string]Variant{"summed": {Grads: map[string]Floats{"w": {4, -2}}, Logged: Number{true, 8}}},
		Micro:    [][]MicroBatch{{{Valid: 3, LossSum: Number{true, 6}}}},
		Losses:   Losses{GlobalMean: Number{true, 2}},
		Clip:     Clip{MaxNorm: 1, TotalNorm: 5, Coef: 0.2},
		Trajectory: map[string]Trajectory{"sgd": {LossBefore: Floats{2, 1}, GradNorm: Floats{5, 13},
			ParamsAfter: map[string]Floats{"w": {1, 0}}}},
		Optimizers: map[string]Optimizer{"sgd": {LR: 0.1, Steps: 2}},
	}
}

// outcomes are what a right trainer gives for each of its loops.
func outcomes() map[string]*Outcome {
	one := func(values ...float64) []Tensor { return []Tensor{{"w", values}} }
	ranks := []Rank{{LossSums: []float64{6}, Tokens: []int64{3}, GradNorm: 5, ClipCoef: 0.2}}
	step := Step{Loss: 2, Logged: 8, Ranks: ranks}
	first := func(values ...float64) *Outcome {
		return &Outcome{Steps: []Step{step}, Gradients: [][][]Tensor{{one(values...)}}}
	}
	return map[string]*Outcome{
		"summed": first(4, -2),
		"losses": first(3, 4),
		"clip":   first(3, 4),
		"sgd steps": {Steps: []Step{step, {Loss: 1}}, Gradients: [][][]Tensor{{one(3, 4)}, {one(5, 12)}},
			Weights: [][]Tensor{one(1, 0)}},
	}
}

// verdicts checks all loops and says of each what is off.
func verdicts(e *Expected, got map[string]*Outcome) map[string]string {
	list := make(map[string]string)
	for _, l := range e.Loops() {
		c, err := l.Check(got[l.What])
		switch {
		case err != nil:
			list[l.What] = err.Error()
		case !c.Within(1e-12):
			list[l.What] = fmt.Sprintf("%.3g %s", c.Off, c.Where)
		}
	}
	return list
}

// Every number that an oracle expects is compared: one that is changed is found, and
// nothing else is.
func TestCheck(t *testing.T) {
	if wrong := verdicts(known(), outcomes()); len(wrong) != 0 {
		t.Fatalf("a right trainer is wrong: %v", wrong)
	}
	for _, test := range []struct {
		loop, name string
		change     func(*Outcome)
		want       string
	}{
		{"summed", "a gradient", func(o *Outcome) { o.Gradients[0][0][0].Values[1] = -3 }, "0.25 rank 0 w"},
		{
			"summed",
			"a gradient that is no number",
			func(o *Outcome) { o.Gradients[0][0][0].Values[0] = math.NaN() },
			"+Inf rank 0 w",
		},
		{"summed", "a gradient too few", func(o *Outcome) { o.Gradients[0][0] = nil }, "+Inf rank 0 0 tensors of 1"},
		{
			"summed",
			"a short gradient",
			func(o *Outcome) { o.Gradients[0][0][0].Values = []float64{4} },
			"+Inf rank 0 w has another size",
		},
		{"summed", "the logged loss", func(o *Outcome) { o.Steps[0].Logged = 4 }, "0.5 logged loss"},
		{"summed", "no step", func(o *Outcome) { o.Steps = nil }, "0 steps of 1"},
		{"summed", "no rank", func(o *Outcome) { o.Gradients[0] = nil }, "no rank has gradients of step 0"},
		{"losses", "the mean", func(o *Outcome) { o.Steps[0].Loss = 3 }, "0.5 global mean"},
		{"losses", "a sum", func(o *Outcome) { o.Steps[0].Ranks[0].LossSums[0] = 9 }, "0.5 rank 0 micro-batch 0"},
		{
			"losses",
			"a count",
			func(o *Outcome) { o.Steps[0].Ranks[0].Tokens[0] = 4 },
			"+Inf rank 0 micro-batch 0 has other tokens",
		},
		{"losses", "a rank too few", func(o *Outcome) { o.Steps[0].Ranks = nil }, "0 ranks of 1"},
		{
			"losses",
			"no micro-batch",
			func(o *Outcome) { o.Steps[0].Ranks[0].Tokens = nil },
			"rank 0 has fewer micro-batches than 1",
		},
		{"clip", "the norm", func(o *Outcome) { o.Steps[0].Ranks[0].GradNorm = 10 }, "1 norm on rank 0"},
		{"clip", "the coefficient", func(o *Outcome) { o.Steps[0].Ranks[0].ClipCoef = 0.4 }, "1 coefficient on rank 0"},
		{"sgd steps", "a later loss", func(o *Outcome) { o.Steps[1].Loss = 2 }, "1 loss before step 1"},
		{
			"sgd steps",
			"a later gradient",
			func(o *Outcome) { o.Gradients[1][0][0].Values[0] = 0 },
			"0.0769 norm of step 1",
		},
		{"sgd steps", "a weight", func(o *Outcome) { o.Weights[0][0].Values[0] = 2 }, "1 rank 0 w"},
		{"sgd steps", "a step too few", func(o *Outcome) { o.Steps = o.Steps[:1] }, "1 steps of 2"},
	} {
		t.Run(test.loop+"/"+test.name, func(t *testing.T) {
			got := outcomes()
			test.change(got[test.loop])
			wrong := verdicts(known(), got)
			if len(wrong) != 1 || wrong[test.loop] != test.want {
				t.Errorf("%q, want %q of %s alone", wrong, test.want, test.loop)
			}
		})
	}
}

// The loops are run with what the oracle says.
func TestLoops(t *testing.T) {
	e := known()
	var got []string
	for _, l := range e.Loops() {
		got = append(got, fmt.Sprint(l.What, l.Variant, l.Steps, l.Settings, l.Runs()))
	}
	const want = `summed summed 0 [] true
losses torchtune_2172 0 [] true
clip torchtune_2172 0 [{clip-grad-norm 1}] true
sgd steps torchtune_2172 2 [{lr 0.1} {beta1 0} {beta2 0} {eps 0} {weight-decay 0} {optimizer sgd}] true`
	if text := strings.Join(got, "\n"); strings.ReplaceAll(text, " ", "") != strings.ReplaceAll(want, " ", "") {
		t.Errorf("%s\nwant\n%s", text, want)
	}
	e.Clip = Clip{}
	for _, l := range e.Loops() {
		if l.What != "clip" {
			continue
		}
		if c, err := l.Check(nil); err != nil || l.Runs() || !c.Within(0) || c.Where != "not expected" {
			t.Errorf("nothing is expected of clipping: %+v %v", c, err)
		}
	}
}
