package telemetry

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metricsv1 "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	spanv1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// receiver is a collector for tests: it decodes what arrives.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	calls    int
	spans    []*spanv1.Span
	resource map[string]string
	metrics  map[string]string // last value by name
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{resource: map[string]string{}, metrics: map[string]string{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if err := r.take(q); err != nil {
			t.Error(err)
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) take(q *http.Request) error {
	r.calls++
	body := io.Reader(q.Body)
	if q.Header.Get("Content-Encoding") == "gzip" {
		var err error
		if body, err = gzip.NewReader(q.Body); err != nil {
			return err
		}
	}
	data, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	switch q.URL.Path {
	case "/v1/traces":
		var m tracev1.ExportTraceServiceRequest
		if err := proto.Unmarshal(data, &m); err != nil {
			return err
		}
		for _, of := range m.ResourceSpans {
			r.about(of.Resource.Attributes)
			for _, scope := range of.ScopeSpans {
				r.spans = append(r.spans, scope.Spans...)
			}
		}
	case "/v1/metrics":
		var m metricsv1.ExportMetricsServiceRequest
		if err := proto.Unmarshal(data, &m); err != nil {
			return err
		}
		for _, of := range m.ResourceMetrics {
			r.about(of.Resource.Attributes)
			for _, scope := range of.ScopeMetrics {
				for _, metric := range scope.Metrics {
					switch {
					case metric.GetSum() != nil:
						r.metrics[metric.Name] = fmt.Sprint(metric.GetSum().DataPoints[0].GetAsInt())
					case metric.GetGauge() != nil:
						r.metrics[metric.Name] = fmt.Sprint(metric.GetGauge().DataPoints[0].GetAsDouble())
					case metric.GetHistogram() != nil:
						p := metric.GetHistogram().DataPoints[0]
						r.metrics[metric.Name] = fmt.Sprintf("%d of %v", p.Count, p.GetSum())
					}
				}
			}
		}
	default:
		return fmt.Errorf("unknown path %s", q.URL.Path)
	}
	return nil
}

func (r *receiver) about(list []*commonv1.KeyValue) {
	for _, a := range list {
		r.resource[a.Key] = a.Value.String()
	}
}

// tree writes spans by their names, parents before children, with their attributes.
func (r *receiver) tree() string {
	slices.SortStableFunc(r.spans, func(a,
		b *spanv1.Span) int {
		return int(int64(a.StartTimeUnixNano) - int64(b.StartTimeUnixNano))
	})
	var b strings.Builder
	var write func(parent []byte, indent string)
	write = func(parent []byte, indent string) {
		for _, s := range r.spans {
			if string(s.ParentSpanId) != string(parent) {
				continue
			}
			b.WriteString(indent + s.Name)
			for _, a := range s.Attributes {
				fmt.Fprintf(&b, " %s=%d", a.Key, a.Value.GetIntValue())
			}
			b.WriteByte('\n')
			write(s.SpanId, indent+"  ")
		}
	}
	write(nil, "")
	return b.String()
}

// clean takes all OTEL_ variables out of the environment of a test.
func clean(t *testing.T) {
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
}

// aStep is a step of one rank, as the trainer calls.
func aStep(s *Session, rank int) {
	endStep := s.Span(rank, "train.step", 7)
	endMicro := s.Span(rank, "micro_batch", 0)
	s.Span(rank, "forward", 0)()
	endBackward := s.Span(rank, "backward", 7)
	s.Span(rank, "reduce_scatter", 7)()
	endBackward()
	endMicro()
	s.Span(rank, "optimizer", 7)()
	endStep()
}

var aRun = Run{Version: "1", Model: "gpt", Backend: "cpu", WorldSize: 2, Accumulation: 4, Normalization: "global",
	Optimizer: "adamw", ReduceScatter: "hook"}

func TestSession(t *testing.T) {
	clean(t)
	r := newReceiver(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.URL)
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "team=x,dl.model=mine")
	s, err := Start(context.Background(), aRun)
	if err != nil || s == nil {
		t.Fatal(s, err)
	}
	var ranks sync.WaitGroup
	ranks.Go(func() { aStep(s, 0) })
	ranks.Wait()
	s.Step(Step{Tokens: 100, Loss: 2.5, GradNorm: 0.5, Duration: 2 * time.Second})
	s.Step(Step{Tokens: 50, Loss: 2.25, GradNorm: 0.25, Duration: time.Second / 2})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	const want = `train.step dl.rank=0 dl.step=7
  micro_batch dl.rank=0 dl.micro_batch=0
    forward dl.rank=0 dl.micro_batch=0
    backward dl.rank=0 dl.step=7
      reduce_scatter dl.rank=0 dl.step=7
  optimizer dl.rank=0 dl.step=7
`
	if got := r.tree(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for key, want := range map[string]string{"service.name": "gaprof-train", "dl.model": "mine", "team": "x",
		"dl.reduce_scatter": "hook", "telemetry.sdk.language": "go"} {
		if !strings.Contains(r.resource[key], `"`+want+`"`) {
			t.Errorf("%s is %s, want %s", key, r.resource[key], want)
		}
	}
	for name, want := range map[string]string{"dl.train.tokens": "150", "dl.train.steps": "2",
		"dl.train.loss": "2.25", "dl.train.grad_norm": "0.25",
		"dl.train.tokens_per_second": "100", "dl.train.step.duration": "2 of 2.5"} {
		if r.metrics[name] != want {
			t.Errorf("%s is %s, want %s", name, r.metrics[name], want)
		}
	}
}

// TestEnvironment: which signals the standard variables ask for.
func TestEnvironment(t *testing.T) {
	for _, c := range []struct{ env, want string }{
		{"", "off"},
		{"OTEL_SERVICE_NAME=x", "off"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=URL", "spans metrics"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=URL OTEL_SDK_DISABLED=true", "off"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=URL OTEL_TRACES_EXPORTER=none", "metrics"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=URL OTEL_METRICS_EXPORTER=none", "spans"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=URL/v1/traces", "spans"},
		{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=URL/v1/metrics", "metrics"},
		{"OTEL_TRACES_EXPORTER=otlp OTEL_EXPORTER_OTLP_ENDPOINT=URL OTEL_METRICS_EXPORTER=none " +
			"OTEL_TRACES_SAMPLER=always_off", "spans, none sampled"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=URL OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf", "spans metrics"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=URL OTEL_EXPORTER_OTLP_PROTOCOL=grpc",
			"OTEL_EXPORTER_OTLP_PROTOCOL=grpc: there is http/protobuf only"},
		{"OTEL_TRACES_EXPORTER=jaeger", "OTEL_TRACES_EXPORTER=jaeger: there are otlp and none"},
	} {
		t.Run(c.env, func(t *testing.T) {
			clean(t)
			r := newReceiver(t)
			for _, pair := range strings.Fields(c.env) {
				name, value, _ := strings.Cut(pair, "=")
				t.Setenv(name, strings.Replace(value, "URL", r.URL, 1))
			}
			s, err := Start(context.Background(), aRun)
			if err != nil {
				if !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %s", err, c.want)
				}
				return
			}
			aStep(s, 1)
			s.Step(Step{Tokens: 1})
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			var got []string
			if s == nil {
				got = append(got, "off")
			}
			if len(r.spans) == 6 {
				got = append(got, "spans")
			}
			if s != nil && s.tracer != nil && len(r.spans) == 0 {
				got = append(got, "spans, none sampled")
			}
			if len(r.metrics) > 0 {
				got = append(got, "metrics")
			}
			if text := strings.Join(got, " "); text != c.want || s == nil && r.calls > 0 {
				t.Errorf("%s with %d calls, want %s", text, r.calls, c.want)
			}
		})
	}
}

// TestNoCollector: a collector that is not there is a failure that Close tells, soon.
func TestNoCollector(t *testing.T) {
	clean(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	s, err := Start(context.Background(), aRun)
	if err != nil {
		t.Fatal(err)
	}
	aStep(s, 0)
	start := time.Now()
	if err := s.Close(); err == nil || time.Since(start) > 3*farewell {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}
