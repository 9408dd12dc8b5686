package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// rankStack is the open spans of one rank's dispatch thread, the innermost last.
type rankStack struct{ open []context.Context }

// numbered says what the number of a span is.
var numbered = map[string]attribute.Key{
	"train.step":  "dl.step",
	"micro_batch": "dl.micro_batch",
	"forward":     "dl.micro_batch",
}

// Span opens a part of the program: train.step, micro_batch, forward, backward,
// reduce_scatter or optimizer. number is the micro-batch of micro_batch and forward, else
// the step. The function returned ends it. Each rank calls it from one goroutine.
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
