package otlp

import (
	"context"
	"fmt"
	"os"
	"strings"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// Metrics is an exporter of metrics.
type Metrics struct {
	client      *client
	temporality metric.TemporalitySelector
	aggregation metric.AggregationSelector
}

// NewMetrics returns an exporter as the environment asks for it. userAgent names the
// program.
func NewMetrics(userAgent string) (*Metrics, error) {
	c, err := newClient("METRICS", userAgent)
	if err != nil {
		return nil, err
	}
	e := &Metrics{client: c}
	if e.temporality, err = chosen("TEMPORALITY_PREFERENCE", temporalities); err != nil {
		return nil, err
	}
	e.aggregation, err = chosen("DEFAULT_HISTOGRAM_AGGREGATION", aggregations)
	return e, err
}

// temporalities are the values of OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE.
var temporalities = map[string]metric.TemporalitySelector{
	"":           metric.CumulativeTemporalitySelector,
	"cumulative": metric.CumulativeTemporalitySelector,
	"delta":      metric.DeltaTemporalitySelector,
	"lowmemory":  metric.LowMemoryTemporalitySelector,
}

// aggregations are the values of OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION.
var aggregations = map[string]metric.AggregationSelector{
	"":                                   metric.DefaultAggregationSelector,
	"explicit_bucket_histogram":          metric.DefaultAggregationSelector,
	"base2_exponential_bucket_histogram": exponential,
}

// exponential makes histograms exponential, with the sizes of the specification.
func exponential(kind metric.InstrumentKind) metric.Aggregation {
	if kind == metric.InstrumentKindHistogram {
		return metric.AggregationBase2ExponentialHistogram{MaxSize: 160, MaxScale: 20}
	}
	return metric.DefaultAggregationSelector(kind)
}

// chosen is the value that a variable for metrics names.
func chosen[T any](name string, table map[string]T) (T, error) {
	name = prefix + "METRICS_" + name
	text := strings.TrimSpace(os.Getenv(name))
	value, ok := table[strings.ToLower(text)]
	if !ok {
		return value, fmt.Errorf("%s=%s: not a value of the specification", name, text)
	}
	return value, nil
}

// Temporality says whether an instrument tells sums or what was added.
func (e *Metrics) Temporality(kind metric.InstrumentKind) metricdata.Temporality {
	return e.temporality(kind)
}

// Aggregation says what an instrument's measurements become.
func (e *Metrics) Aggregation(kind metric.InstrumentKind) metric.Aggregation {
	return e.aggregation(kind)
}

// Export sends metrics.
func (e *Metrics) Export(ctx context.Context, r *metricdata.ResourceMetrics) error {
	return e.client.send(ctx, metricsRequest(r))
}

// ForceFlush has nothing to do: nothing is kept.
func (e *Metrics) ForceFlush(context.Context) error { return nil }

// Shutdown ends the exporter.
func (e *Metrics) Shutdown(context.Context) error { return e.client.close() }

// metricsRequest writes an ExportMetricsServiceRequest.
func metricsRequest(r *metricdata.ResourceMetrics) message {
	var m message
	m.add(1, func(m *message) {
		m.resource(1, r.Resource)
		for _, s := range r.ScopeMetrics {
			m.add(2, func(m *message) { m.scopeMetrics(s) })
		}
		m.text(3, r.Resource.SchemaURL())
	})
	return m
}

// scopeMetrics writes ScopeMetrics.
func (m *message) scopeMetrics(s metricdata.ScopeMetrics) {
	m.scope(1, s.Scope)
	for _, one := range s.Metrics {
		m.add(2, func(m *message) { m.metric(one) })
	}
	m.text(3, s.Scope.SchemaURL)
}

// metric writes a Metric. Summaries do not exist in the SDK; bridges make them.
func (m *message) metric(one metricdata.Metrics) {
	m.text(1, one.Name)
	m.text(2, one.Description)
	m.text(3, one.Unit)
	switch d := one.Data.(type) {
	case metricdata.Gauge[int64]:
		m.add(5, func(m *message) { points(m, d.DataPoints) })
	case metricdata.Gauge[float64]:
		m.add(5, func(m *message) { points(m, d.DataPoints) })
	case metricdata.Sum[int64]:
		m.add(7, func(m *message) { sum(m, d) })
	case metricdata.Sum[float64]:
		m.add(7, func(m *message) { sum(m, d) })
	case metricdata.Histogram[int64]:
		m.add(9, func(m *message) { histogram(m, d) })
	case metricdata.Histogram[float64]:
		m.add(9, func(m *message) { histogram(m, d) })
	case metricdata.ExponentialHistogram[int64]:
		m.add(10, func(m *message) { exponentials(m, d) })
	case metricdata.ExponentialHistogram[float64]:
		m.add(10, func(m *message) { exponentials(m, d) })
	}
}
