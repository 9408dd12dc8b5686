package otlp

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
)

// attributes writes a list of KeyValue.
func (m *message) attributes(field uint64, list []attribute.KeyValue) {
	for _, kv := range list {
		m.add(field, func(m *message) {
			m.text(1, string(kv.Key))
			m.add(2, func(m *message) { m.value(kv.Value) })
		})
	}
}

// value writes an AnyValue.
func (m *message) value(v attribute.Value) {
	switch v.Type() {
	case attribute.STRING:
		m.mustBytes(1, []byte(v.AsString()))
	case attribute.BOOL:
		m.mustUint(2, bit(v.AsBool()))
	case attribute.INT64:
		m.mustUint(3, uint64(v.AsInt64()))
	case attribute.FLOAT64:
		m.mustDouble(4, v.AsFloat64())
	case attribute.MAP:
		m.add(6, func(m *message) { m.attributes(1, v.AsMap()) })
	case attribute.BYTESLICE:
		m.mustBytes(7, v.AsByteSlice())
	case attribute.EMPTY:
	default:
		m.add(5, func(m *message) { m.list(v) })
	}
}

// list writes an ArrayValue.
func (m *message) list(v attribute.Value) {
	switch v.Type() {
	case attribute.STRINGSLICE:
		elements(m, v.AsStringSlice(), attribute.StringValue)
	case attribute.BOOLSLICE:
		elements(m, v.AsBoolSlice(), attribute.BoolValue)
	case attribute.INT64SLICE:
		elements(m, v.AsInt64Slice(), attribute.Int64Value)
	case attribute.FLOAT64SLICE:
		elements(m, v.AsFloat64Slice(), attribute.Float64Value)
	case attribute.SLICE:
		elements(m, v.AsSlice(), func(v attribute.Value) attribute.Value { return v })
	}
}

func elements[T any](m *message, list []T, value func(T) attribute.Value) {
	for _, e := range list {
		m.add(1, func(m *message) { m.value(value(e)) })
	}
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// resource writes a Resource.
func (m *message) resource(field uint64, r *resource.Resource) {
	m.add(field, func(m *message) { m.attributes(1, r.Attributes()) })
}

// scope writes an InstrumentationScope.
func (m *message) scope(field uint64, s instrumentation.Scope) {
	m.add(field, func(m *message) {
		m.text(1, s.Name)
		m.text(2, s.Version)
		m.attributes(3, s.Attributes.ToSlice())
	})
}

// when writes a time in ns since 1970.
func (m *message) when(field uint64, t time.Time) { m.fixed64(field, uint64(max(0, t.UnixNano()))) }

// count writes a number that is never negative.
func (m *message) count(field uint64, n int) { m.uint(field, uint64(max(0, n))) }
