package otlp

import (
	"compress/gzip"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	metricsv1 "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	"google.golang.org/protobuf/proto"
)

// environment sets the variables of a test, written as NAME=value, and no others.
func environment(t *testing.T, pairs string) {
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
		}
	}
	for pair := range strings.FieldsSeq(pairs) {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(prefix+name, value)
	}
}

// TestConfig: what the variables mean.
func TestConfig(t *testing.T) {
	for _, c := range []struct{ env, want string }{
		{"", "http://localhost:4318/v1/traces 10s []"},
		{"ENDPOINT=http://a:1", "http://a:1/v1/traces 10s []"},
		{"ENDPOINT=http://a:1/", "http://a:1/v1/traces 10s []"},
		{"ENDPOINT=https://a/base/", "https://a/base/v1/traces 10s []"},
		{"TRACES_ENDPOINT=http://a:1", "http://a:1/ 10s []"},
		{"TRACES_ENDPOINT=http://a:1/own ENDPOINT=http://b", "http://a:1/own 10s []"},
		{"METRICS_ENDPOINT=http://a:1/own", "http://localhost:4318/v1/traces 10s []"},
		{"ENDPOINT=localhost:4318", "OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4318: an address begins with http://"},
		{"ENDPOINT=http://", "an address begins with http://"},
		{"ENDPOINT=http://%zz", "OTEL_EXPORTER_OTLP_ENDPOINT: "},
		{"TIMEOUT=1500", "http://localhost:4318/v1/traces 1.5s []"},
		{"TIMEOUT=0", "http://localhost:4318/v1/traces 0s []"},
		{"TIMEOUT=1 TRACES_TIMEOUT=2", "http://localhost:4318/v1/traces 2ms []"},
		{"TIMEOUT=5s", "OTEL_EXPORTER_OTLP_TIMEOUT=5s: a number of milliseconds is needed"},
		{"TRACES_TIMEOUT=-1", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT=-1: a number of milliseconds is needed"},
		{"COMPRESSION=gzip", "http://localhost:4318/v1/traces 10s [] gzip"},
		{"COMPRESSION=gzip TRACES_COMPRESSION=none", "http://localhost:4318/v1/traces 10s []"},
		{"COMPRESSION=zstd", "OTEL_EXPORTER_OTLP_COMPRESSION=zstd: there are gzip and none"},
		{"HEADERS=api-key=a%20b,x=1=2,", "http://localhost:4318/v1/traces 10s [a b]"},
		{"HEADERS=nothing", "OTEL_EXPORTER_OTLP_HEADERS: a header is written key=value"},
		{"HEADERS=api-key=%zz", "OTEL_EXPORTER_OTLP_HEADERS: a header is written key=value"},
		{"CERTIFICATE=gone.pem", "gone.pem"},
		{"CERTIFICATE=client.go", "client.go holds no certificate in PEM form"},
		{"CLIENT_KEY=gone.pem", "client certificate: "},
	} {
		t.Run(c.env, func(t *testing.T) {
			environment(t, c.env)
			var got string
			if e, err := NewSpans("me/1"); err != nil {
				got = err.Error()
			} else {
				got = fmt.Sprint(e.client.url, " ", e.client.timeout, " ", e.client.header["Api-Key"])
				if e.client.gzip {
					got += " gzip"
				}
			}
			whole := strings.HasPrefix(c.want, "http")
			if whole && got != c.want || !whole && !strings.Contains(got, c.want) {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// answer is what a collector answers to one request.
type answer struct {
	status int
	header string // Retry-After
	kind   string // Content-Type
	body   string
}

// collector answers requests in turn.
func collector(t *testing.T, answers ...answer) *httptest.Server {
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if n == len(answers) {
			t.Error("another request")
			return
		}
		a := answers[n]
		n++
		w.Header().Set("Retry-After", a.header)
		w.Header().Set("Content-Type", a.kind)
		w.WriteHeader(a.status)
		io.WriteString(w, a.body)
	}))
	t.Cleanup(func() {
		s.Close()
		if n != len(answers) {
			t.Errorf("%d requests, want %d", n, len(answers))
		}
	})
	return s
}

func encoded(t *testing.T, m proto.Message) string {
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestAnswers: what is repeated, after how long, and what is said of it.
func TestAnswers(t *testing.T) {
	const kind = "application/x-protobuf"
	partly := encoded(t, &metricsv1.ExportMetricsServiceResponse{
		PartialSuccess: &metricsv1.ExportMetricsPartialSuccess{RejectedDataPoints: 3, ErrorMessage: "too old"}})
	wholly := encoded(t, &metricsv1.ExportMetricsServiceResponse{
		PartialSuccess: &metricsv1.ExportMetricsPartialSuccess{}})
	var refusal message // a google.rpc.Status
	refusal.uint(1, 3)
	refusal.text(2, "not\nthis")
	for _, c := range []struct {
		name    string
		answers []answer
		err     string // of Export, or told to the SDK
		waits   string
	}{
		{"taken", []answer{{status: 200}}, "", ""},
		{"taken, says protobuf", []answer{{status: 200, kind: kind, body: wholly}}, "", ""},
		{"taken, says nonsense", []answer{{status: 200, kind: kind, body: "\xff\xff"}}, "", ""},
		{"partly", []answer{{status: 200, kind: kind, body: partly}}, "did not take 3 of the metrics: too old", ""},
		{"asked to wait", []answer{{status: 503, header: "7"}, {status: 200}}, "", "7s"},
		{"busy", []answer{{status: 429}, {status: 502}, {status: 504}, {status: 202}}, "", "? ? ?"},
		{"refused", []answer{{status: 400, kind: kind, body: string(refusal)}}, "400 Bad Request: not this", ""},
		{"refused in text", []answer{{status: 401, body: "no\x1b\n key"}}, "401 Unauthorized: no", ""},
		{"refused at length", []answer{{status: 500, body: strings.Repeat("x", 999)}}, "xxx…", ""},
		{"never", []answer{{status: 503, body: "full"}, {status: 503, header: "1000000"}},
			"503 Service Unavailable", "? 277h46m40s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := collector(t, c.answers...)
			environment(t, "ENDPOINT="+s.URL)
			e, err := NewMetrics("me/1")
			if err != nil {
				t.Fatal(err)
			}
			var waits []string
			e.client.wait = func(_ context.Context, d time.Duration) error {
				if len(waits) == len(c.answers)-1 || d > time.Hour {
					waits = append(waits, d.String())
					return context.DeadlineExceeded
				}
				if text := d.String(); d%time.Second == 0 {
					waits = append(waits, text)
				} else {
					waits = append(waits, "?")
				}
				return nil
			}
			var told error
			otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { told = err }))
			err = errors.Join(e.Export(context.Background(), someMetrics()), told)
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("%v, want %q", err, c.err)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
			if got := strings.Join(waits, " "); got != c.waits {
				t.Errorf("waits %s, want %s", got, c.waits)
			}
		})
	}
}

// TestRequest: what a collector sees.
func TestRequest(t *testing.T) {
	var seen http.Header
	var body []byte
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		seen = q.Header
		z, err := gzip.NewReader(q.Body)
		if err != nil {
			t.Error(err)
			return
		}
		body, _ = io.ReadAll(z)
	}))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	environment(t, "ENDPOINT="+s.URL+" CERTIFICATE="+file+" COMPRESSION=gzip HEADERS=key=v")
	e, err := NewSpans("me/1")
	if err != nil {
		t.Fatal(err)
	}
	if err := e.ExportSpans(context.Background(), nil); err != nil || seen != nil {
		t.Fatal("nothing was sent", err)
	}
	if err := e.ExportSpans(context.Background(), someSpans()); err != nil {
		t.Fatal(err)
	}
	if string(body) != string(spansRequest(someSpans())) {
		t.Error("another body")
	}
	for name, want := range map[string]string{"Content-Type": "application/x-protobuf", "User-Agent": "me/1",
		"Key": "v", "Content-Encoding": "gzip"} {
		if seen.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, seen.Get(name), want)
		}
	}
	if err := e.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if err := e.ExportSpans(context.Background(), someSpans()); !errors.Is(err, errClosed) {
		t.Error("an exporter that is shut down sends", err)
	}
}

// TestPreferences: what metrics are asked for.
func TestPreferences(t *testing.T) {
	for _, c := range []struct{ env, want string }{
		{"", "CumulativeTemporality metric.AggregationExplicitBucketHistogram"},
		{"METRICS_TEMPORALITY_PREFERENCE=DELTA", "DeltaTemporality metric.AggregationExplicitBucketHistogram"},
		{"METRICS_TEMPORALITY_PREFERENCE=lowmemory", "DeltaTemporality metric.AggregationExplicitBucketHistogram"},
		{"METRICS_TEMPORALITY_PREFERENCE=some", "METRICS_TEMPORALITY_PREFERENCE=some: not a value"},
		{"METRICS_DEFAULT_HISTOGRAM_AGGREGATION=base2_exponential_bucket_histogram",
			"CumulativeTemporality metric.AggregationBase2ExponentialHistogram"},
		{"METRICS_DEFAULT_HISTOGRAM_AGGREGATION=x", "METRICS_DEFAULT_HISTOGRAM_AGGREGATION=x: not a value"},
		{"METRICS_TIMEOUT=x", "METRICS_TIMEOUT=x"},
	} {
		environment(t, c.env)
		got := ""
		if e, err := NewMetrics("me/1"); err != nil {
			got = err.Error()
		} else {
			kind := metric.InstrumentKindHistogram
			got = fmt.Sprintf("%v %T", e.Temporality(kind), e.Aggregation(kind))
			if err := errors.Join(e.ForceFlush(context.Background()), e.Shutdown(context.Background())); err != nil {
				t.Error(err)
			}
			if e.Export(context.Background(), new(metricdata.ResourceMetrics)) == nil {
				t.Error("an exporter that is shut down sends")
			}
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.env, got, c.want)
		}
	}
}

// TestRetryAfter: seconds, dates and what is neither.
func TestRetryAfter(t *testing.T) {
	soon := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	for text, want := range map[string]bool{"": false, "x": false, "-1": false, "3": true, soon: true} {
		if got := retryAfter(text) > 0; got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestWait: there is no waiting beyond the time that an export has.
func TestWait(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	if err := wait(ctx, 2*time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	cancel()
	if err := wait(ctx, time.Minute); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := wait(context.Background(), 1); err != nil {
		t.Error(err)
	}
}
