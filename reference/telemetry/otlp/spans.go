package otlp

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Spans is an exporter of spans.
type Spans struct{ client *client }

// NewSpans returns an exporter as the environment asks for it. userAgent names the program.
func NewSpans(userAgent string) (*Spans, error) {
	c, err := newClient("TRACES", userAgent)
	return &Spans{c}, err
}

// ExportSpans sends spans.
func (e *Spans) ExportSpans(ctx context.Context, list []sdktrace.ReadOnlySpan) error {
	if len(list) == 0 {
		return nil
	}
	return e.client.send(ctx, spansRequest(list))
}

// Shutdown ends the exporter.
func (e *Spans) Shutdown(context.Context) error { return e.client.close() }

// scoped are the spans of one scope.
type scoped struct {
	scope instrumentation.Scope
	spans []sdktrace.ReadOnlySpan
}

// spansRequest writes an ExportTraceServiceRequest: spans by resource and scope, each in the
// order in which it comes first.
func spansRequest(list []sdktrace.ReadOnlySpan) message {
	var order []attribute.Distinct
	groups := make(map[attribute.Distinct][]scoped)
	for _, s := range list {
		key := s.Resource().Equivalent()
		if _, ok := groups[key]; !ok {
			order = append(order, key)
		}
		groups[key] = place(groups[key], s)
	}
	var m message
	for _, key := range order {
		of := groups[key]
		about := of[0].spans[0].Resource()
		m.add(1, func(m *message) {
			m.resource(1, about)
			for _, s := range of {
				m.add(2, s.write)
			}
			m.text(3, about.SchemaURL())
		})
	}
	return m
}

// place puts a span among those of its scope.
func place(list []scoped, s sdktrace.ReadOnlySpan) []scoped {
	scope := s.InstrumentationScope()
	for i := range list {
		if list[i].scope == scope {
			list[i].spans = append(list[i].spans, s)
			return list
		}
	}
	return append(list, scoped{scope, []sdktrace.ReadOnlySpan{s}})
}

// write writes ScopeSpans.
func (s scoped) write(m *message) {
	if s.scope != (instrumentation.Scope{}) {
		m.scope(1, s.scope)
	}
	for _, one := range s.spans {
		m.add(2, func(m *message) { m.span(one) })
	}
	m.text(3, s.scope.SchemaURL)
}

// kinds are the numbers of the kinds of spans.
var kinds = map[trace.SpanKind]uint64{trace.SpanKindInternal: 1, trace.SpanKindServer: 2, trace.SpanKindClient: 3,
	trace.SpanKindProducer: 4, trace.SpanKindConsumer: 5}

// span writes a Span.
func (m *message) span(s sdktrace.ReadOnlySpan) {
	at := s.SpanContext()
	trace, id := at.TraceID(), at.SpanID()
	m.bytes(1, trace[:])
	m.bytes(2, id[:])
	m.text(3, at.TraceState().String())
	if parent := s.Parent().SpanID(); parent.IsValid() {
		m.bytes(4, parent[:])
	}
	m.text(5, s.Name())
	m.uint(6, kinds[s.SpanKind()])
	m.when(7, s.StartTime())
	m.when(8, s.EndTime())
	m.attributes(9, s.Attributes())
	m.count(10, s.DroppedAttributes())
	for _, e := range s.Events() {
		m.add(11, func(m *message) { m.event(e) })
	}
	m.count(12, s.DroppedEvents())
	for _, l := range s.Links() {
		m.add(13, func(m *message) { m.link(l) })
	}
	m.count(14, s.DroppedLinks())
	m.add(15, func(m *message) { m.status(s.Status()) })
	m.fixed32(16, flags(at.TraceFlags(), s.Parent()))
}

// event writes a Span.Event.
func (m *message) event(e sdktrace.Event) {
	m.when(1, e.Time)
	m.text(2, e.Name)
	m.attributes(3, e.Attributes)
	m.count(4, e.DroppedAttributeCount)
}

// link writes a Span.Link.
func (m *message) link(l sdktrace.Link) {
	to := l.SpanContext
	trace, id := to.TraceID(), to.SpanID()
	m.bytes(1, trace[:])
	m.bytes(2, id[:])
	m.attributes(4, l.Attributes)
	m.count(5, l.DroppedAttributeCount)
	m.fixed32(6, flags(to.TraceFlags(), to))
}

// statusCodes are the numbers of the codes of a Status.
var statusCodes = map[codes.Code]uint64{codes.Ok: 1, codes.Error: 2}

// status writes a Status.
func (m *message) status(s sdktrace.Status) {
	m.text(2, s.Description)
	m.uint(3, statusCodes[s.Code])
}

// flags are those of the trace, and whether the parent is known to be remote.
func flags(f trace.TraceFlags, parent trace.SpanContext) uint32 {
	const known, remote = 0x100, 0x200
	bits := uint32(f) | known
	if parent.IsRemote() {
		bits |= remote
	}
	return bits
}
