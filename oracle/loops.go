package oracle

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Precision is the type of numbers that a file of an oracle was computed in.
type Precision struct {
	Name      string  // in the name of the file: f64, f32
	DType     string  // as trainers call it
	Tolerance float64 // how far a tensor may be off, max|a-b| / max|b|: what adding up in another order does
}

// Precisions are those of an oracle's files, the most precise first.
func Precisions() []Precision {
	return []Precision{{"f64", "float64", 1e-12}, {"f32", "float32", 2e-5}}
}

// Expected is what the loops give in a precision; nil where the case has no such file.
func (c *Case) Expected(p Precision) *Expected {
	if p.Name == "f64" {
		return c.F64
	}
	return c.F32
}

// right is the variant whose gradients are the right ones: losses, clipping and
// trajectories are those of it.
const right = "torchtune_2172"

// Setting gives an option of the trainer a value.
type Setting struct{ Option, Value string }

// Loop is a run that an oracle expects something of.
type Loop struct {
	What     string    // names the loop to the user
	Variant  string    // the loop to run
	Steps    int       // on the same data; 0 is 1
	Settings []Setting // options of the trainer, in addition to those of every run
	check    func(*Check, *Outcome) error
}

// Check compares the outcome of the run with what is expected of it. An outcome with too
// few steps or ranks to be compared is an error.
func (l *Loop) Check(got *Outcome) (Check, error) {
	c := Check{What: l.What}
	if l.check == nil {
		c.note("not expected", 0)
		return c, nil
	}
	steps := max(1, l.Steps)
	if len(got.Steps) < steps || len(got.Gradients) < steps {
		return c, fmt.Errorf("%d steps of %d", min(len(got.Steps), len(got.Gradients)), steps)
	}
	for step, ranks := range got.Gradients {
		if len(ranks) == 0 {
			return c, fmt.Errorf("no rank has gradients of step %d", step)
		}
	}
	err := l.check(&c, got)
	return c, err
}

// Runs reports whether there is anything to run: of some loops an oracle expects nothing.
func (l *Loop) Runs() bool { return l.check != nil }

// Loops lists what a case expects in one precision: the gradients of every variant on
// every rank and the loss that it logs, the losses, the clip coefficient, and some steps
// of each optimizer.
func (e *Expected) Loops() []Loop {
	var list []Loop
	for _, name := range e.VariantNames() {
		list = append(list, e.variantLoop(name))
	}
	list = append(list, Loop{What: "losses", Variant: right, check: e.checkLosses}, e.clipLoop())
	for _, name := range []string{"adamw", "sgd"} {
		if _, ok := e.Trajectory[name]; ok {
			list = append(list, e.trajectoryLoop(name))
		}
	}
	return list
}

func (e *Expected) variantLoop(name string) Loop {
	want := e.Variants[name]
	return Loop{What: name, Variant: name, check: func(c *Check, got *Outcome) error {
		for rank, list := range got.Gradients[0] {
			c.tensors(fmt.Sprintf("rank %d ", rank), list, want.Grads)
		}
		if logged := want.Logged.Float(); !math.IsNaN(logged) {
			c.number("logged loss", got.Steps[0].Logged, logged)
		}
		return nil
	}}
}

func (e *Expected) checkLosses(c *Check, got *Outcome) error {
	step := got.Steps[0]
	c.number("global mean", step.Loss, e.Losses.GlobalMean.Float())
	if len(step.Ranks) < len(e.Micro) {
		return fmt.Errorf("%d ranks of %d", len(step.Ranks), len(e.Micro))
	}
	for rank, micros := range e.Micro {
		seen := step.Ranks[rank]
		if len(seen.LossSums) < len(micros) || len(seen.Tokens) < len(micros) {
			return fmt.Errorf("rank %d has fewer micro-batches than %d", rank, len(micros))
		}
		for j, m := range micros {
			where := fmt.Sprintf("rank %d micro-batch %d", rank, j)
			c.number(where, seen.LossSums[j], m.LossSum.Float())
			if seen.Tokens[j] != m.Valid {
				c.note(where+" has other tokens", math.Inf(1))
			}
		}
	}
	return nil
}

func (e *Expected) clipLoop() Loop {
	l := Loop{What: "clip", Variant: right, Settings: []Setting{{"clip-grad-norm", number(e.Clip.MaxNorm)}}}
	if e.Clip.MaxNorm == 0 {
		return l
	}
	l.check = func(c *Check, got *Outcome) error {
		for rank, r := range got.Steps[0].Ranks {
			c.number(fmt.Sprintf("norm on rank %d", rank), r.GradNorm, e.Clip.TotalNorm)
			c.number(fmt.Sprintf("coefficient on rank %d", rank), r.ClipCoef, e.Clip.Coef)
		}
		return nil
	}
	return l
}

func (e *Expected) trajectoryLoop(name string) Loop {
	o, want := e.Optimizers[name], e.Trajectory[name]
	settings := []Setting{{"lr", number(o.LR)}, {"beta1", number(o.Beta1)}, {"beta2", number(o.Beta2)},
		{"eps", number(o.Eps)}, {"weight-decay", number(o.WeightDecay)}, {"optimizer", name}}
	return Loop{What: name + " steps", Variant: right, Steps: o.Steps, Settings: settings, check: want.check}
}

// check compares losses and norms step by step, and the weights at the end.
func (want *Trajectory) check(c *Check, got *Outcome) error {
	if len(got.Steps) < len(want.LossBefore) || len(want.GradNorm) < len(want.LossBefore) {
		return errors.New("fewer steps than losses")
	}
	for step, loss := range want.LossBefore {
		c.number(fmt.Sprintf("loss before step %d", step), got.Steps[step].Loss, loss)
		c.number(fmt.Sprintf("norm of step %d", step), norm(got.Gradients[step][0]), want.GradNorm[step])
	}
	if want.ParamsAfter == nil {
		return nil
	}
	for rank, list := range got.Weights {
		c.tensors(fmt.Sprintf("rank %d ", rank), list, want.ParamsAfter)
	}
	return nil
}

// number writes a number so that it is read back the same.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
