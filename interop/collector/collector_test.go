// Package collector sends a run of gaprof train to a real OpenTelemetry Collector: its
// OTLP receiver and its pipelines, in this process, with an exporter that keeps what
// arrives. It is a module of its own, so that the program does not depend on it.
package collector

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
)

// kept is an exporter that keeps what the pipelines hand it.
type kept struct {
	component.StartFunc
	component.ShutdownFunc
	mu       sync.Mutex
	spans    map[string]int // by name and the name of the parent
	names    map[string]string
	list     []ptrace.Span
	metrics  map[string]bool
	services map[string]bool
}

func (k *kept) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (k *kept) ConsumeTraces(_ context.Context, td ptrace.Traces) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, of := range td.ResourceSpans().All() {
		service, _ := of.Resource().Attributes().Get("service.name")
		k.services[service.Str()] = true
		for _, scope := range of.ScopeSpans().All() {
			for _, span := range scope.Spans().All() {
				own := ptrace.NewSpan()
				span.CopyTo(own)
				k.list = append(k.list, own)
				k.names[span.SpanID().String()] = span.Name()
			}
		}
	}
	return nil
}

func (k *kept) ConsumeMetrics(_ context.Context, md pmetric.Metrics) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, of := range md.ResourceMetrics().All() {
		for _, scope := range of.ScopeMetrics().All() {
			for _, metric := range scope.Metrics().All() {
				k.metrics[metric.Name()] = true
			}
		}
	}
	return nil
}

// factory makes that exporter.
func (k *kept) factory() exporter.Factory {
	return exporter.NewFactory(component.MustNewType("kept"), func() component.Config { return &struct{}{} },
		exporter.WithTraces(func(context.Context, exporter.Settings, component.Config) (exporter.Traces, error) { return k, nil }, component.StabilityLevelDevelopment),
		exporter.WithMetrics(func(context.Context, exporter.Settings, component.Config) (exporter.Metrics, error) { return k, nil }, component.StabilityLevelDevelopment))
}

const config = `yaml:
receivers: {otlp: {protocols: {http: {endpoint: "%s"}}}}
exporters: {kept: {}}
service:
  telemetry: {metrics: {level: none}, logs: {level: error}}
  pipelines:
    traces: {receivers: [otlp], exporters: [kept]}
    metrics: {receivers: [otlp], exporters: [kept]}
`

// start runs a collector until the test is over and returns its address.
func start(t *testing.T, k *kept) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	c, err := otelcol.NewCollector(otelcol.CollectorSettings{
		BuildInfo:               component.NewDefaultBuildInfo(),
		DisableGracefulShutdown: true,
		Factories: func() (otelcol.Factories, error) {
			r, e := otlpreceiver.NewFactory(), k.factory()
			return otelcol.Factories{
				Receivers: map[component.Type]receiver.Factory{r.Type(): r},
				Exporters: map[component.Type]exporter.Factory{e.Type(): e},
			}, nil
		},
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			URIs: []string{fmt.Sprintf(config, address)}, ProviderFactories: []confmap.ProviderFactory{yamlprovider.NewFactory()},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- c.Run(context.Background()) }()
	t.Cleanup(func() {
		c.Shutdown()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	for range 200 {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return address
		}
		select {
		case err := <-done:
			done <- err
			t.Fatal(err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	t.Fatal("the collector does not listen")
	return ""
}

// TestCollector: every span of the run arrives under its parent, and every metric.
func TestCollector(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "gaprof")
	build := exec.Command("go", "build", "-o", program, "./cmd/gaprof")
	build.Dir = filepath.Join("..", "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	k := &kept{spans: map[string]int{}, names: map[string]string{"": "nothing"}, metrics: map[string]bool{}, services: map[string]bool{}}
	address := start(t, k)
	train := exec.Command(program, "train", "-o", filepath.Join(dir, "run"), "--layers", "1", "--width", "16", "--heads", "2", "--sequence-length", "32",
		"--max-steps", "3", "--reduce-scatter", "step", "--clip-grad-norm", "0")
	train.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+address, "OTEL_SERVICE_NAME=interop")
	if out, err := train.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	} else {
		t.Logf("%s", out)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, span := range k.list {
		k.spans[span.Name()+" in "+k.names[span.ParentSpanID().String()]]++
	}
	// 2 ranks, 3 steps, 4 micro-batches, 17 parameters.
	want := map[string]int{"train.step in nothing": 6, "micro_batch in train.step": 24, "forward in micro_batch": 24, "backward in micro_batch": 24,
		"optimizer in train.step": 6, "reduce_scatter in optimizer": 102}
	if !maps.Equal(k.spans, want) || !k.services["interop"] {
		t.Errorf("spans %v of %v, want %v", k.spans, k.services, want)
	}
	metrics := slices.Sorted(maps.Keys(k.metrics))
	if want := []string{"dl.train.loss", "dl.train.step.duration", "dl.train.steps", "dl.train.tokens", "dl.train.tokens_per_second"}; !slices.Equal(metrics, want) {
		t.Errorf("metrics %v, want %v", metrics, want)
	}
	t.Logf("a collector has received %d spans and %d metrics", len(k.list), len(metrics))
}
