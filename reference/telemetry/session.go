// Package telemetry exports spans and metrics of a training run to an OpenTelemetry
// collector, using the OpenTelemetry SDK. The standard OTEL_* environment variables
// control what is sent where; without them nothing is started and nothing leaves the
// process. Spans cover the dispatch threads: they show when work was launched, not when
// the device executed it.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/gaprof/gaprof/reference/telemetry/otlp"
)

// Scope is the name of the instrumentation scope.
const Scope = "github.com/gaprof/gaprof/reference/telemetry"

// Run describes a run. It becomes the resource of all spans and metrics.
type Run struct {
	Version       string // of the program
	Model         string // gpt or mlp
	Backend       string // cpu, sim, cuda
	WorldSize     int    // ranks
	Accumulation  int    // micro-batches of a step and rank
	Normalization string // global, per-rank, micro-mean or sum
	Optimizer     string // adamw or sgd
	ReduceScatter string // step or hook; "" for none, which is not sent
}

// Session is the telemetry of one run. A nil *Session does nothing.
type Session struct {
	run    Run
	tracer trace.Tracer // nil if no spans are wanted
	meters *meters      // nil if no metrics are wanted
	ranks  []rankStack
	closes []func(context.Context) error // functions: who sees the type of a provider compiles all of it again

	mu      sync.Mutex
	failure error // the first failure to send
}

// signal is spans or metrics, as the environment names them.
type signal string

const (
	tracesSignal  signal = "TRACES"
	metricsSignal signal = "METRICS"
)

// wanted reports whether the environment asks for a signal, by naming an endpoint or an
// exporter. The specification would have us send to localhost by default; a trainer should
// not send anything without being asked.
func (s signal) wanted() (bool, error) {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
		return false, nil
	}
	exporter := os.Getenv("OTEL_" + string(s) + "_EXPORTER")
	switch exporter {
	case "none":
		return false, nil
	case "", "otlp":
	default:
		return false, fmt.Errorf("OTEL_%s_EXPORTER=%s: there are otlp and none", s, exporter)
	}
	own, all := os.Getenv("OTEL_EXPORTER_OTLP_"+string(s)+"_ENDPOINT"), os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT")
	if exporter == "" && own == "" && all == "" {
		return false, nil
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_" + string(s) + "_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if protocol := os.Getenv(name); protocol != "" {
			if protocol != "http/protobuf" {
				return false, fmt.Errorf("%s=%s: there is http/protobuf only", name, protocol)
			}
			break
		}
	}
	return true, nil
}

// Start starts telemetry if the environment asks for it, else it returns nil. It returns an
// error if the environment asks for something that is not supported.
func Start(ctx context.Context, run Run) (*Session, error) {
	spans, err := tracesSignal.wanted()
	figures, err2 := metricsSignal.wanted()
	if err = errors.Join(err, err2); err != nil || !spans && !figures {
		return nil, err
	}
	s := &Session{run: run, ranks: make([]rankStack, run.WorldSize)}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(s.fail))
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(run.attributes()...),
		resource.WithFromEnv())
	if err != nil {
		return nil, err
	}
	if spans {
		exporter, err := otlp.NewSpans("gaprof/" + run.Version)
		if err != nil {
			return nil, err
		}
		provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
		s.tracer = provider.Tracer(Scope, trace.WithInstrumentationVersion(run.Version))
		s.closes = append(s.closes, provider.Shutdown)
	}
	if figures {
		exporter, err := otlp.NewMetrics("gaprof/" + run.Version)
		if err != nil {
			return nil, err
		}
		reader := sdkmetric.NewPeriodicReader(exporter)
		provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithResource(about))
		if s.meters, err = newMeters(provider.Meter(Scope)); err != nil {
			return nil, err
		}
		s.closes = append(s.closes, provider.Shutdown)
	}
	return s, nil
}

// attributes returns the attributes of the resource; the environment overrides them.
func (r Run) attributes() []attribute.KeyValue {
	list := []attribute.KeyValue{
		attribute.String("service.name", "gaprof-train"),
		attribute.String("service.version", r.Version),
		attribute.String("dl.model", r.Model),
		attribute.String("dl.backend", r.Backend),
		attribute.Int("dl.world_size", r.WorldSize),
		attribute.Int("dl.accumulation_steps", r.Accumulation),
		attribute.String("dl.normalization", r.Normalization),
		attribute.String("dl.optimizer", r.Optimizer),
	}
	if r.ReduceScatter != "" {
		list = append(list, attribute.String("dl.reduce_scatter", r.ReduceScatter))
	}
	return list
}

// fail keeps the first failure to send. A run continues without its collector.
func (s *Session) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure == nil {
		s.failure = err
	}
}

// farewell limits how long Close tries to send what is left.
const farewell = 5 * time.Second

// Close sends what is left and returns the first failure to send during the run.
func (s *Session) Close() error {
	if s == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	for _, end := range s.closes {
		if err := end(ctx); err != nil {
			s.fail(err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure
}
