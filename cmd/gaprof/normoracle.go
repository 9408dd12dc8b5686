package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/internal/escape"
	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/reference/cpu"
	"github.com/gaprof/gaprof/trace/sidecar"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// oraclePrecisions are those of an oracle's files, with how far a tensor may be off:
// max|a-b| / max|b|. See the tolerances in the README of the oracle.
var oraclePrecisions = []struct {
	name, dtype string
	tolerance   float64
	of          func(*sidecar.OracleCase) *sidecar.OracleExpected
}{
	{"f64", "float64", 1e-12, func(c *sidecar.OracleCase) *sidecar.OracleExpected { return c.F64 }},
	{"f32", "float32", 2e-5, func(c *sidecar.OracleCase) *sidecar.OracleExpected { return c.F32 }},
}

// oracleCheck is how far one thing of an oracle is off, and where.
type oracleCheck struct {
	what  string
	off   float64
	where string
}

// note keeps the worst.
func (c *oracleCheck) note(where string, off float64) {
	if math.IsNaN(off) {
		off = math.Inf(1)
	}
	if off > c.off || c.where == "" {
		c.off, c.where = off, where
	}
}

// runOracles runs every loop of every case and prints the worst error of each on a line.
// A loop that is off by more than the tolerance is exit 1.
func runOracles(ctx context.Context, s streams, dir string) error {
	cases, err := sidecar.ReadOracle(dir)
	if err != nil {
		return &tracefile.Error{File: dir, Reason: strings.TrimPrefix(strings.TrimPrefix(err.Error(), dir+": "), dir+" "), Hint: "it holds NAME_inputs.json and NAME_expected_f64.json or _f32.json", Err: err}
	}
	wrong, all := 0, 0
	for i := range cases {
		for _, p := range oraclePrecisions {
			e := p.of(&cases[i])
			if e == nil {
				continue
			}
			checks, err := checkOracle(ctx, &cases[i], e, p.dtype)
			if err != nil {
				return err
			}
			for _, c := range checks {
				mark := "ok"
				if all++; !(c.off <= p.tolerance) {
					mark = fmt.Sprintf("WRONG, more than %.0e", p.tolerance)
					wrong++
				}
				fmt.Fprintf(s.out, "%-12s %s  %-36s %.1e  %-5s %s\n", escape.Control(cases[i].Name), p.name, escape.Control(c.what), c.off, mark, escape.Control(c.where))
			}
		}
	}
	fmt.Fprintf(s.out, "%d of %d agree\n", all-wrong, all)
	if wrong > 0 {
		return &codeError{code: exitGate, err: fmt.Errorf("%d of %d loops of %s are off", wrong, all, dir)}
	}
	return nil
}

// checkOracle runs all loops of one case in one precision: the variants with their
// gradients on every rank and the loss that they log, the losses, the clip coefficient,
// and three steps of each optimizer.
func checkOracle(ctx context.Context, c *sidecar.OracleCase, e *sidecar.OracleExpected, dtype string) ([]oracleCheck, error) {
	var list []oracleCheck
	for _, name := range e.VariantNames() {
		check, err := checkVariant(ctx, c, e, name, dtype)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", c.Name, name, err)
		}
		list = append(list, check)
	}
	for _, more := range []func(context.Context, *sidecar.OracleCase, *sidecar.OracleExpected, string) (oracleCheck, error){checkLosses, checkClip} {
		check, err := more(ctx, c, e, dtype)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", c.Name, check.what, err)
		}
		list = append(list, check)
	}
	for _, name := range []string{"adamw", "sgd"} {
		if _, ok := e.Trajectory[name]; !ok {
			continue
		}
		check, err := checkTrajectory(ctx, c, e, name, dtype)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", c.Name, name, err)
		}
		list = append(list, check)
	}
	return list, nil
}

func checkVariant(ctx context.Context, c *sidecar.OracleCase, e *sidecar.OracleExpected, name, dtype string) (oracleCheck, error) {
	check, want := oracleCheck{what: name}, e.Variants[name]
	got, err := reference.RunOracle(ctx, c.Inputs, reference.OracleRun{Variant: name, DType: dtype}, cpu.Backend{})
	if err != nil {
		return check, err
	}
	for rank, list := range got.Gradients[0] {
		check.tensors(fmt.Sprintf("rank %d ", rank), list, want.Grads)
	}
	if logged := want.Logged.Float(); !math.IsNaN(logged) {
		check.note("logged loss", relative(got.Steps[0].Logged, logged))
	}
	return check, nil
}

// tensors notes the error of every tensor. One that is missing is infinitely off.
func (c *oracleCheck) tensors(prefix string, got []reference.Tensor, want map[string]sidecar.Floats) {
	if len(got) != len(want) {
		c.note(fmt.Sprintf("%s%d tensors of %d", prefix, len(got), len(want)), math.Inf(1))
	}
	for _, g := range got {
		w := want[g.Name]
		if len(w) != len(g.Values) {
			c.note(prefix+g.Name+" has another size", math.Inf(1))
			continue
		}
		diff, size := 0.0, 0.0
		for i, v := range g.Values {
			d := math.Abs(v - w[i])
			if math.IsNaN(d) {
				d = math.Inf(1)
			}
			diff, size = max(diff, d), max(size, math.Abs(w[i]))
		}
		if size > 0 {
			diff /= size
		}
		c.note(prefix+g.Name, diff)
	}
}

func relative(got, want float64) float64 {
	if got == want {
		return 0
	}
	return math.Abs(got-want) / math.Abs(want)
}

func checkLosses(ctx context.Context, c *sidecar.OracleCase, e *sidecar.OracleExpected, dtype string) (oracleCheck, error) {
	check := oracleCheck{what: "losses"}
	got, err := reference.RunOracle(ctx, c.Inputs, reference.OracleRun{Variant: "torchtune_2172", DType: dtype}, cpu.Backend{})
	if err != nil {
		return check, err
	}
	step := got.Steps[0]
	check.note("global mean", relative(step.Loss, e.Losses.GlobalMean.Float()))
	for rank, micros := range e.Micro {
		for j, m := range micros {
			where := fmt.Sprintf("rank %d micro-batch %d", rank, j)
			check.note(where, relative(step.Ranks[rank].LossSums[j], m.LossSum.Float()))
			if step.Ranks[rank].Tokens[j] != m.Valid {
				check.note(where+" has other tokens", math.Inf(1))
			}
		}
	}
	return check, nil
}

func checkClip(ctx context.Context, c *sidecar.OracleCase, e *sidecar.OracleExpected, dtype string) (oracleCheck, error) {
	check := oracleCheck{what: "clip"}
	if e.Clip.MaxNorm == 0 {
		check.note("not expected", 0)
		return check, nil
	}
	run := reference.OracleRun{Variant: "torchtune_2172", DType: dtype, Change: []reference.Change{{Option: "clip-grad-norm", Value: number(e.Clip.MaxNorm)}}}
	got, err := reference.RunOracle(ctx, c.Inputs, run, cpu.Backend{})
	if err != nil {
		return check, err
	}
	for _, rank := range got.Steps[0].Ranks {
		check.note(fmt.Sprintf("norm on rank %d", rank.Rank), relative(rank.GradNorm, e.Clip.TotalNorm))
		check.note(fmt.Sprintf("coefficient on rank %d", rank.Rank), relative(rank.ClipCoef, e.Clip.Coef))
	}
	return check, nil
}

func checkTrajectory(ctx context.Context, c *sidecar.OracleCase, e *sidecar.OracleExpected, name, dtype string) (oracleCheck, error) {
	check, o, want := oracleCheck{what: name + " steps"}, e.Optimizers[name], e.Trajectory[name]
	run := reference.OracleRun{Variant: "torchtune_2172", DType: dtype, Steps: o.Steps, Change: []reference.Change{
		{Option: "lr", Value: number(o.LR)}, {Option: "beta1", Value: number(o.Beta1)}, {Option: "beta2", Value: number(o.Beta2)},
		{Option: "eps", Value: number(o.Eps)}, {Option: "weight-decay", Value: number(o.WeightDecay)}, {Option: "optimizer", Value: name}}}
	got, err := reference.RunOracle(ctx, c.Inputs, run, cpu.Backend{})
	if err != nil {
		return check, err
	}
	if len(got.Steps) < len(want.LossBefore) || len(want.GradNorm) < len(want.LossBefore) {
		return check, errors.New("fewer steps than losses")
	}
	for step, loss := range want.LossBefore {
		norm := 0.0
		for _, g := range got.Gradients[step][0] {
			for _, v := range g.Values {
				norm += v * v
			}
		}
		check.note(fmt.Sprintf("loss before step %d", step), relative(got.Steps[step].Loss, loss))
		check.note(fmt.Sprintf("norm of step %d", step), relative(math.Sqrt(norm), want.GradNorm[step]))
	}
	for rank, list := range got.Weights {
		if want.ParamsAfter != nil {
			check.tensors(fmt.Sprintf("rank %d ", rank), list, want.ParamsAfter)
		}
	}
	return check, nil
}

// number writes a number so that it is read back the same.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// runNorm audits a run, or runs the oracle.
func runNorm(ctx context.Context, s streams, paths []string, f normFlags) error {
	if err := f.check(paths); err != nil {
		return err
	}
	if f.oracle != "" {
		return runOracles(ctx, s, f.oracle)
	}
	return auditRun(s, paths, f)
}
