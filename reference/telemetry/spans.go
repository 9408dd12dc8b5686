package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// rankStack holds the open spans of a dispatch thread, innermost last.
type rankStack struct{ open []context.Context }

// numbered maps names of spans to the attribute for their number; the default is dl.step.
var numbered = map[string]attribute.Key{
	"train.step":  "dl.step",
	"micro_batch": "dl.micro_batch",
	"forward":     "dl.micro_batch",
}

// Span opens a span: train.step, micro_batch, forward, backward, reduce_scatter or
// optimizer. number is the micro-batch for micro_batch and forward, else the step. The
// function it returns ends the span. Ranks may call it concurrently, but each of them
// from one goroutine only.
func (s *Session) Span(rank int, name string, number int) (end func()) {
	if s == nil || s.tracer == nil {
		return func() {}
	}
	stack := &s.ranks[rank]
	parent := context.Background()
	if n := len(stack.open); n > 0 {
		parent = stack.open[n-1]
	}
	key, ok := numbered[name]
	if !ok {
		key = "dl.step"
	}
	ctx, span := s.tracer.Start(parent, name, trace.WithAttributes(attribute.Int("dl.rank", rank), key.Int(number)))
	stack.open = append(stack.open, ctx)
	return func() {
		span.End()
		stack.open = stack.open[:len(stack.open)-1]
	}
}
