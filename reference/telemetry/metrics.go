package telemetry

import (
	"context"
	"errors"
	"math"
	"time"

	"go.opentelemetry.io/otel/metric"
)

// meters are the instruments of a run.
type meters struct {
	steps, tokens metric.Int64Counter
	loss, norm    metric.Float64Gauge
	rate          metric.Float64Gauge
	duration      metric.Float64Histogram
}

// bounds are the bucket boundaries for step durations, in seconds.
var bounds = []float64{.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60}

func newMeters(m metric.Meter) (*meters, error) {
	i := new(meters)
	var errs [6]error
	about := metric.WithDescription
	i.steps, errs[0] = m.Int64Counter("dl.train.steps",
		metric.WithUnit("{step}"), about("optimizer steps that are over"))
	i.tokens, errs[1] = m.Int64Counter("dl.train.tokens",
		metric.WithUnit("{token}"), about("valid tokens of all ranks"))
	i.loss, errs[2] = m.Float64Gauge("dl.train.loss", about("mean loss of the last step's tokens"))
	i.norm, errs[3] = m.Float64Gauge("dl.train.grad_norm",
		about("norm of the last step's gradients before clipping"))
	i.rate, errs[4] = m.Float64Gauge("dl.train.tokens_per_second",
		metric.WithUnit("{token}/s"), about("valid tokens of the last step by its duration"))
	i.duration, errs[5] = m.Float64Histogram("dl.train.step.duration",
		metric.WithUnit("s"), about("from the end of one step to the end of the next"),
		metric.WithExplicitBucketBoundaries(bounds...))
	return i, errors.Join(errs[:]...)
}

// Step is a completed step of all ranks.
type Step struct {
	Tokens   int64         // valid tokens of all ranks
	Loss     float64       // mean over them, in nats
	GradNorm float64       // before clipping; NaN if it is not computed
	Duration time.Duration // since the end of the previous step; 0 records no rate
}

// Step records a step. It must not be called concurrently.
func (s *Session) Step(step Step) {
	if s == nil || s.meters == nil {
		return
	}
	ctx := context.Background()
	s.meters.steps.Add(ctx, 1)
	s.meters.tokens.Add(ctx, step.Tokens)
	s.meters.loss.Record(ctx, step.Loss)
	if !math.IsNaN(step.GradNorm) {
		s.meters.norm.Record(ctx, step.GradNorm)
	}
	s.meters.duration.Record(ctx, step.Duration.Seconds())
	if step.Duration > 0 {
		s.meters.rate.Record(ctx, float64(step.Tokens)/step.Duration.Seconds())
	}
}
