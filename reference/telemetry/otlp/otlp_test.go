package otlp

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	metricsv1 "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
)

// bodies returns a server's address and the bodies of the requests that it gets.
func bodies(t *testing.T) (url string, got func() []byte) {
	var last []byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			t.Error(err)
		}
		last = body
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []byte { return last }
}

// equal compares two messages as the published definitions read them.
func equal(t *testing.T, got, want []byte, a, b proto.Message) {
	t.Helper()
	if err := proto.Unmarshal(got, a); err != nil {
		t.Fatalf("%v in %x", err, got)
	}
	if err := proto.Unmarshal(want, b); err != nil {
		t.Fatal(err)
	}
	if len(want) == 0 || !proto.Equal(a, b) {
		t.Errorf("got\n%s\nwant\n%s", prototext.Format(a), prototext.Format(b))
	}
	if unknown := a.ProtoReflect().GetUnknown(); len(unknown) > 0 {
		t.Errorf("unknown fields %x", unknown)
	}
}

var at = time.Unix(1_700_000_000, 123_456_789)

// attributes are values of every type.
var attributes = []attribute.KeyValue{
	attribute.String("text", "ü"), attribute.String("no text", ""), attribute.Bool("yes", true),
	attribute.Bool("no", false), attribute.Int("many", 1<<40), attribute.Int("below", -1), attribute.Int("zero", 0),
	attribute.Float64("real", -0.5), attribute.Float64("nothing", 0),
	attribute.StringSlice("texts", []string{"a", ""}),
	attribute.BoolSlice("bools", []bool{true, false}), attribute.Int64Slice("whole", []int64{0, -3}),
	attribute.Float64Slice("reals", []float64{0, 2.5}), attribute.StringSlice("none", nil),
}

func someResource(name string) *resource.Resource {
	return resource.NewWithAttributes("https://schema/"+name, attribute.String("service.name", name))
}

func spanContext(id byte, remote bool) trace.SpanContext {
	state, err := trace.ParseTraceState("vendor=x")
	if err != nil {
		panic(err)
	}
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1, id}, SpanID: trace.SpanID{2, id},
		TraceFlags: trace.FlagsSampled, TraceState: state, Remote: remote})
}

// someSpans are spans with everything that a span may have, and one with nothing.
func someSpans() []sdktrace.ReadOnlySpan {
	scope := instrumentation.Scope{Name: "scope", Version: "1", SchemaURL: "https://schema",
		Attributes: attribute.NewSet(attributes[:3]...)}
	full := tracetest.SpanStub{
		Name: "full", SpanContext: spanContext(1, false),
		Parent: spanContext(2, true), SpanKind: trace.SpanKindConsumer,
		StartTime: at, EndTime: at.Add(time.Second), Attributes: attributes,
		Events: []sdktrace.Event{{Name: "event", Time: at, Attributes: attributes[:2], DroppedAttributeCount: 3}},
		Links: []sdktrace.Link{{SpanContext: spanContext(3, true), Attributes: attributes[2:4],
			DroppedAttributeCount: 4}, {SpanContext: spanContext(4, false)}},
		Status:            sdktrace.Status{Code: codes.Error, Description: "failed"},
		DroppedAttributes: 5, DroppedEvents: 6, DroppedLinks: 7,
		Resource: someResource("one"), InstrumentationScope: scope,
	}
	kinds := tracetest.SpanStubs{full, {Name: "bare", Resource: someResource("one")}}
	for _, kind := range []trace.SpanKind{0, trace.SpanKindInternal, trace.SpanKindServer, trace.SpanKindClient,
		trace.SpanKindProducer} {
		kinds = append(kinds, tracetest.SpanStub{SpanContext: spanContext(byte(kind), false), SpanKind: kind,
			StartTime: at, EndTime: at, Status: sdktrace.Status{Code: codes.Ok}, Resource: someResource("one"),
			InstrumentationScope: scope})
	}
	return kinds.Snapshots()
}

// TestSpansAsTheOthers: the exporter of the OpenTelemetry project sends the same.
func TestSpansAsTheOthers(t *testing.T) {
	url, got := bodies(t)
	official, err := otlptracehttp.New(context.Background(), otlptracehttp.WithEndpointURL(url))
	if err != nil {
		t.Fatal(err)
	}
	if err := official.ExportSpans(context.Background(), someSpans()); err != nil {
		t.Fatal(err)
	}
	equal(t, spansRequest(someSpans()), got(), new(tracev1.ExportTraceServiceRequest),
		new(tracev1.ExportTraceServiceRequest))
}

// TestSpansOfResources: spans are grouped by resource and scope, in the order of the first.
func TestSpansOfResources(t *testing.T) {
	a, b := instrumentation.Scope{Name: "a"}, instrumentation.Scope{Name: "b"}
	one, two := someResource("one"), someResource("two")
	list := tracetest.SpanStubs{
		{Name: "1", Resource: one, InstrumentationScope: a}, {Name: "2", Resource: two, InstrumentationScope: a},
		{Name: "3", Resource: one, InstrumentationScope: b}, {Name: "4", Resource: one, InstrumentationScope: a},
	}.Snapshots()
	var m tracev1.ExportTraceServiceRequest
	if err := proto.Unmarshal(spansRequest(list), &m); err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, r := range m.ResourceSpans {
		text += " " + r.Resource.Attributes[0].Value.GetStringValue()
		for _, s := range r.ScopeSpans {
			text += " " + s.Scope.Name
			for _, span := range s.Spans {
				text += span.Name
			}
		}
	}
	if want := " one a14 b3 two a2"; text != want {
		t.Errorf("%s, want %s", text, want)
	}
}

// someMetrics are metrics with all kinds of points.
func someMetrics() *metricdata.ResourceMetrics {
	set := attribute.NewSet(attributes...)
	exemplars := []metricdata.Exemplar[float64]{{Time: at, Value: 2, SpanID: []byte{1, 2}, TraceID: []byte{3},
		FilteredAttributes: attributes[:1]}}
	whole := []metricdata.DataPoint[int64]{{Attributes: set, StartTime: at, Time: at.Add(1), Value: -7,
		Exemplars: []metricdata.Exemplar[int64]{{Time: at, Value: 3}}}, {Time: at}}
	real := []metricdata.DataPoint[float64]{{Attributes: set, Time: at, Value: 0.25, Exemplars: exemplars}, {}}
	bins := []metricdata.HistogramDataPoint[float64]{{Attributes: set, StartTime: at, Time: at, Count: 3, Sum: 4.5,
		Bounds: []float64{0, 1}, BucketCounts: []uint64{1, 0, 2}, Min: metricdata.NewExtrema(0.0),
		Max: metricdata.NewExtrema(3.0), Exemplars: exemplars}, {}}
	growing := []metricdata.ExponentialHistogramDataPoint[int64]{{Attributes: set, StartTime: at, Time: at, Count: 3,
		Sum: 4, Scale: -2, ZeroCount: 1, ZeroThreshold: 0.5, Min: metricdata.NewExtrema[int64](1),
		PositiveBucket: metricdata.ExponentialBucket{Offset: -3, Counts: []uint64{1, 300}},
		NegativeBucket: metricdata.ExponentialBucket{Offset: 4, Counts: []uint64{0}}}}
	metrics := []metricdata.Metrics{
		{Name: "gauge", Description: "about", Unit: "s", Data: metricdata.Gauge[int64]{DataPoints: whole}},
		{Name: "real gauge", Data: metricdata.Gauge[float64]{DataPoints: real}},
		{Name: "sum", Data: metricdata.Sum[int64]{DataPoints: whole, IsMonotonic: true,
			Temporality: metricdata.CumulativeTemporality}},
		{Name: "real sum", Data: metricdata.Sum[float64]{DataPoints: real, Temporality: metricdata.DeltaTemporality}},
		{Name: "histogram", Data: metricdata.Histogram[float64]{DataPoints: bins,
			Temporality: metricdata.CumulativeTemporality}},
		{Name: "whole histogram", Data: metricdata.Histogram[int64]{Temporality: metricdata.DeltaTemporality,
			DataPoints: []metricdata.HistogramDataPoint[int64]{{Sum: 2, Max: metricdata.NewExtrema[int64](2)}}}},
		{Name: "exponential", Data: metricdata.ExponentialHistogram[int64]{DataPoints: growing,
			Temporality: metricdata.DeltaTemporality}},
		{Name: "real exponential", Data: metricdata.ExponentialHistogram[float64]{
			Temporality: metricdata.CumulativeTemporality}},
	}
	return &metricdata.ResourceMetrics{Resource: someResource("one"), ScopeMetrics: []metricdata.ScopeMetrics{
		{Scope: instrumentation.Scope{Name: "scope", Version: "2", SchemaURL: "https://s"}, Metrics: metrics}, {}}}
}

// TestMetricsAsTheOthers: the exporter of the OpenTelemetry project sends the same.
func TestMetricsAsTheOthers(t *testing.T) {
	url, got := bodies(t)
	official, err := otlpmetrichttp.New(context.Background(), otlpmetrichttp.WithEndpointURL(url))
	if err != nil {
		t.Fatal(err)
	}
	if err := official.Export(context.Background(), someMetrics()); err != nil {
		t.Fatal(err)
	}
	equal(t, metricsRequest(someMetrics()), got(), new(metricsv1.ExportMetricsServiceRequest),
		new(metricsv1.ExportMetricsServiceRequest))
}
