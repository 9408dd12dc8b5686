package main

import (
	"context"

	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/reference/telemetry"
)

// startTelemetry starts what the OTEL_* variables ask for; nil if they ask for nothing.
func startTelemetry(ctx context.Context, o reference.Options) (*telemetry.Session, error) {
	accumulation, err := o.Accumulation()
	if err != nil {
		return nil, trainError(err)
	}
	if o, err = o.Effective(); err != nil {
		return nil, trainError(err)
	}
	session, err := telemetry.Start(ctx, telemetry.Run{Version: version, Model: o.Model, Backend: o.Target.Name,
		WorldSize: o.WorldSize, Accumulation: accumulation,
		Normalization: o.Normalization, Optimizer: o.Optimizer, ReduceScatter: o.ReduceScatter})
	if err != nil {
		return nil, usage("unset the variable, or name what there is", "%v", err)
	}
	return session, nil
}

// tellSteps returns a callback that passes each step to telemetry and progress.
func tellSteps(session *telemetry.Session, bar *trainProgress) func(reference.StepResult) {
	return func(s reference.StepResult) {
		session.Step(telemetry.Step{Tokens: s.Tokens, Loss: s.Loss, GradNorm: s.Ranks[0].GradNorm,
			Duration: s.Duration})
		bar.step(s)
	}
}
