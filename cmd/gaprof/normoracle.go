package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/gaprof/gaprof/internal/escape"
	"github.com/gaprof/gaprof/oracle"
	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/reference/cpu"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// runOracles runs every loop of every case and prints the worst error of each on a line.
// A loop that is off by more than the tolerance is exit 1.
func runOracles(ctx context.Context, s streams, dir string) error {
	cases, err := oracle.Read(dir)
	if err != nil {
		return &tracefile.Error{
			File:   dir,
			Reason: strings.TrimPrefix(strings.TrimPrefix(err.Error(), dir+": "), dir+" "),
			Hint:   "it holds NAME_inputs.json and NAME_expected_f64.json or _f32.json",
			Err:    err,
		}
	}
	wrong, all := 0, 0
	for i := range cases {
		for _, p := range oracle.Precisions() {
			checks, err := checkCase(ctx, &cases[i], p)
			if err != nil {
				return err
			}
			for _, c := range checks {
				mark := "ok"
				if all++; !c.Within(p.Tolerance) {
					mark = fmt.Sprintf("WRONG, more than %.0e", p.Tolerance)
					wrong++
				}
				fmt.Fprintf(s.out, "%-12s %s  %-36s %.1e  %-5s %s\n", escape.Control(cases[i].Name), p.Name,
					escape.Control(c.What), c.Off, mark, escape.Control(c.Where))
			}
		}
	}
	fmt.Fprintf(s.out, "%d of %d agree\n", all-wrong, all)
	if wrong > 0 {
		return &codeError{code: exitGate, err: fmt.Errorf("%d of %d loops of %s are off", wrong, all, dir)}
	}
	return nil
}

// checkCase runs all loops of one case in one precision; none where it has no file of it.
func checkCase(ctx context.Context, c *oracle.Case, p oracle.Precision) ([]oracle.Check, error) {
	expected := c.Expected(p)
	if expected == nil {
		return nil, nil
	}
	var checks []oracle.Check
	for _, loop := range expected.Loops() {
		check, err := runLoop(ctx, c.Inputs, loop, p.DType)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", c.Name, loop.What, err)
		}
		checks = append(checks, check)
	}
	return checks, nil
}

// runLoop runs one loop on the reference trainer and judges what came of it.
func runLoop(ctx context.Context, in *oracle.Inputs, loop oracle.Loop, dtype string) (oracle.Check, error) {
	if !loop.Runs() {
		return loop.Check(nil)
	}
	run := reference.OracleRun{Variant: loop.Variant, DType: dtype, Steps: loop.Steps}
	for _, s := range loop.Settings {
		run.Change = append(run.Change, reference.Change(s))
	}
	got, err := reference.RunOracle(ctx, in, run, cpu.Backend{})
	if err != nil {
		return oracle.Check{}, err
	}
	return loop.Check(outcomeOf(got))
}

// outcomeOf is the result of a run in the terms of the oracle, which knows no trainer.
// Values are shared, not copied.
func outcomeOf(r *reference.OracleResult) *oracle.Outcome {
	o := &oracle.Outcome{Weights: tensorsOf(r.Weights)}
	for _, ranks := range r.Gradients {
		o.Gradients = append(o.Gradients, tensorsOf(ranks))
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		step := oracle.Step{Loss: s.Loss, Logged: s.Logged}
		for _, rank := range s.Ranks {
			step.Ranks = append(step.Ranks, oracle.Rank{
				LossSums: rank.LossSums, Tokens: rank.Tokens, GradNorm: rank.GradNorm, ClipCoef: rank.ClipCoef})
		}
		o.Steps = append(o.Steps, step)
	}
	return o
}

func tensorsOf(ranks [][]reference.Tensor) [][]oracle.Tensor {
	lists := make([][]oracle.Tensor, len(ranks))
	for rank, list := range ranks {
		for _, t := range list {
			lists[rank] = append(lists[rank], oracle.Tensor{Name: t.Name, Values: t.Values})
		}
	}
	return lists
}
