package otlp

import (
	"encoding/binary"
	"math"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

type number interface{ int64 | float64 }

// temporalityCode is the number of a temporality.
func temporalityCode(t metricdata.Temporality) uint64 {
	switch t {
	case metricdata.DeltaTemporality:
		return 1
	case metricdata.CumulativeTemporality:
		return 2
	}
	return 0
}

// sum writes a Sum.
func sum[N number](m *message, s metricdata.Sum[N]) {
	points(m, s.DataPoints)
	m.uint(2, temporalityCode(s.Temporality))
	m.uint(3, bit(s.IsMonotonic))
}

// points writes a list of NumberDataPoint.
func points[N number](m *message, list []metricdata.DataPoint[N]) {
	for _, p := range list {
		m.add(1, func(m *message) {
			m.when(2, p.StartTime)
			m.when(3, p.Time)
			value(m, 6, 4, p.Value)
			exemplars(m, 5, p.Exemplars)
			m.attributes(7, p.Attributes.ToSlice())
		})
	}
}

// value writes a number in the field for its type.
func value[N number](m *message, whole, real uint64, n N) {
	switch v := any(n).(type) {
	case int64:
		m.mustFixed64(whole, uint64(v))
	case float64:
		m.mustDouble(real, v)
	}
}

// histogram writes a Histogram.
func histogram[N number](m *message, h metricdata.Histogram[N]) {
	for _, p := range h.DataPoints {
		m.add(1, func(m *message) {
			m.when(2, p.StartTime)
			m.when(3, p.Time)
			m.fixed64(4, p.Count)
			m.mustDouble(5, float64(p.Sum))
			m.packed(6, p.BucketCounts)
			m.packed(7, bitsOf(p.Bounds))
			exemplars(m, 8, p.Exemplars)
			m.attributes(9, p.Attributes.ToSlice())
			extreme(m, 11, p.Min)
			extreme(m, 12, p.Max)
		})
	}
	m.uint(2, temporalityCode(h.Temporality))
}

func bitsOf(list []float64) []uint64 {
	bits := make([]uint64, len(list))
	for i, v := range list {
		bits[i] = math.Float64bits(v)
	}
	return bits
}

// extreme writes the least or greatest value, if it is known.
func extreme[N number](m *message, field uint64, e metricdata.Extrema[N]) {
	if v, ok := e.Value(); ok {
		m.mustDouble(field, float64(v))
	}
}

// exponentials writes an ExponentialHistogram.
func exponentials[N number](m *message, h metricdata.ExponentialHistogram[N]) {
	for _, p := range h.DataPoints {
		m.add(1, func(m *message) {
			m.attributes(1, p.Attributes.ToSlice())
			m.when(2, p.StartTime)
			m.when(3, p.Time)
			m.fixed64(4, p.Count)
			m.mustDouble(5, float64(p.Sum))
			m.sint(6, p.Scale)
			m.fixed64(7, p.ZeroCount)
			m.add(8, func(m *message) { m.buckets(p.PositiveBucket) })
			m.add(9, func(m *message) { m.buckets(p.NegativeBucket) })
			exemplars(m, 11, p.Exemplars)
			extreme(m, 12, p.Min)
			extreme(m, 13, p.Max)
			m.fixed64(14, math.Float64bits(p.ZeroThreshold))
		})
	}
	m.uint(2, temporalityCode(h.Temporality))
}

// buckets writes the Buckets of an exponential histogram.
func (m *message) buckets(b metricdata.ExponentialBucket) {
	m.sint(1, b.Offset)
	var counts message
	for _, n := range b.Counts {
		counts = binary.AppendUvarint(counts, n)
	}
	m.bytes(2, counts)
}

// exemplars writes a list of Exemplar.
func exemplars[N number](m *message, field uint64, list []metricdata.Exemplar[N]) {
	for _, e := range list {
		m.add(field, func(m *message) {
			m.when(2, e.Time)
			value(m, 6, 3, e.Value)
			m.bytes(4, e.SpanID)
			m.bytes(5, e.TraceID)
			m.attributes(7, e.FilteredAttributes)
		})
	}
}
