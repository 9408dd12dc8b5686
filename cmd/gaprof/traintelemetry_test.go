package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"

	tracev1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spanv1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// TestTrainTelemetry: the spans of a run, under their parents, as many as the loop has.
func TestTrainTelemetry(t *testing.T) {
	var mu sync.Mutex
	var spans []*spanv1.Span
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body := io.Reader(q.Body)
		if q.Header.Get("Content-Encoding") == "gzip" {
			body, _ = gzip.NewReader(q.Body)
		}
		data, err := io.ReadAll(body)
		var m tracev1.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(data, &m)
		}
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, of := range m.ResourceSpans {
			for _, scope := range of.ScopeSpans {
				spans = append(spans, scope.Spans...)
			}
		}
	}))
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	t.Setenv("OTEL_METRICS_EXPORTER", "none")
	args := append([]string{"train", "-o", filepath.Join(t.TempDir(), "run"), "--max-steps", "2", "--reduce-scatter",
		"hook"}, tiny...)
	if code, _, stderr := runWith("", args...); code != exitOK || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	mu.Lock()
	defer mu.Unlock()
	names := map[string]string{"": "nothing"}
	for _, s := range spans {
		names[string(s.SpanId)] = s.Name
	}
	count := make(map[string]int)
	for _, s := range spans {
		count[s.Name+" in "+names[string(s.ParentSpanId)]]++
	}
	// 2 ranks, 2 steps, 4 micro-batches, 17 parameters.
	want := map[string]int{"train.step in nothing": 4, "micro_batch in train.step": 16, "forward in micro_batch": 16,
		"backward in micro_batch":    16,
		"reduce_scatter in backward": 68, "optimizer in train.step": 4}
	if fmt.Sprint(count) != fmt.Sprint(want) {
		t.Errorf("%v\nwant %v", count, want)
	}
}
