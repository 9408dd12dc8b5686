// Package otlp sends what the OpenTelemetry SDK collects to a collector, by OTLP over
// HTTP with protobuf. It stands where the exporters of the OpenTelemetry project would:
// those link gRPC, grpc-gateway and all of protobuf's reflection, which the protocol over
// HTTP does not need, and three megabytes of program with them (docs/decisions/0006).
// What it sends is what they send, which a test compares message by message.
//
// The OTEL_EXPORTER_OTLP_* variables mean what the specification says: endpoints, headers,
// compression, timeouts and TLS for all signals or for one, and for metrics the preferred
// temporality and aggregation.
//
//	config.go   what the environment asks for
//	client.go   one request, its retries and the answer
//	wire.go     the protobuf encoding
//	common.go   attributes, resources and scopes
//	spans.go    the exporter of spans
//	metrics.go  the exporter of metrics; points.go their data points
//
// Field numbers are those of github.com/open-telemetry/opentelemetry-proto, version 1.
package otlp
