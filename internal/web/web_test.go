package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/gaprof/gaprof/analyze/report"
)

// site is a server on units whose files are those of a folder.
type site struct {
	*Server
	mu        sync.Mutex
	units     []Unit
	fails     error
	problems  []report.Problem
	atOnce    atomic.Int32
	analyses  atomic.Int32
	converted atomic.Int32
}

func newSite(t *testing.T, memory int64, units ...Unit) *site {
	t.Helper()
	s := &site{units: units}
	s.Server = New(t.Context(), Options{
		Title: "runs <&>", Viewer: "https://viewer.example", Memory: memory, Open: os.Open, Analyze: s.analyze,
		Convert: s.convert, List: func() ([]Unit, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.units, nil
		},
	})
	return s
}

func (s *site) analyze(_ context.Context, u Unit, say func(string)) ([]*report.Report, error) {
	if s.atOnce.Add(1) > 1 {
		return nil, errors.New("two analyses at once")
	}
	defer s.atOnce.Add(-1)
	s.analyses.Add(1)
	say("half of it")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails != nil {
		return nil, s.fails
	}
	r := &report.Report{Schema: report.Schema, Version: "0.1"}
	ns := int64(5e6)
	r.Time = &report.Time{Of: "step", Count: 3, Length: ns, Parts: []report.Part{{What: "compute", Mean: ns, Share: 1}}}
	r.Health.Problems = s.problems
	for i, file := range u.Files {
		r.Source.Files = append(r.Source.Files, file)
		r.Source.Ranks = append(r.Source.Ranks, int64(i))
		r.Source.RankFiles = append(r.Source.RankFiles, report.RankFile{Rank: int64(i), File: file})
	}
	r.Source.RankFiles = append(r.Source.RankFiles, report.RankFile{Rank: 99, File: "/etc/passwd"})
	r.Findings = []report.Finding{{Rule: "XX001", Severity: report.Warn, Message: "slow <b>",
		Evidence: []report.Evidence{{Rank: 0, Name: "kernel", Start: 1000, Duration: 5}}}}
	return []*report.Report{r}, nil
}

func (s *site) convert(_ context.Context, w io.Writer, format string, files ...string) error {
	s.converted.Add(1)
	if format == "chrome" {
		_, err := io.WriteString(w, `{"traceEvents":["converted"]}`)
		return err
	}
	f := &profile.Function{ID: 1, Name: "f<&>"}
	g := &profile.Function{ID: 2, Name: "kernel"}
	outer := &profile.Location{ID: 1, Line: []profile.Line{{Function: f}}}
	inner := &profile.Location{ID: 2, Line: []profile.Line{{Function: g}}}
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "time", Unit: "nanoseconds"}},
		Function: []*profile.Function{f, g}, Location: []*profile.Location{outer, inner}, Sample: []*profile.Sample{
			{Location: []*profile.Location{inner, outer}, Value: []int64{3e6}},
			{Location: []*profile.Location{outer}, Value: []int64{1e6}},
		}}
	return p.Write(w)
}

func (s *site) get(path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

// done gets a page once its unit is analyzed.
func (s *site) done(t *testing.T, u Unit, path string) *httptest.ResponseRecorder {
	t.Helper()
	if err := s.refresh(); err != nil {
		t.Fatal(err)
	}
	<-s.start(idOf(u.Name)).done
	return s.get("/run/" + idOf(u.Name) + "/0/" + path)
}

// traceFile writes a file and returns the unit that it is.
func traceFile(t *testing.T, name string, data []byte) Unit {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return Unit{Name: name, Files: []string{file}, Stamp: "1"}
}

func zipped(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.Bytes()
}

func unzipped(t *testing.T, data []byte) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%v: %.100s", err, data)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A trace comes with its findings as it is stored, or converted where a viewer could not read it so.
func TestTrace(t *testing.T) {
	damage := func(file string) []report.Problem {
		offset := int64(1)
		return []report.Problem{{File: file, Offset: &offset}}
	}
	for _, test := range []struct {
		name      string
		data      []byte
		damaged   bool
		converted bool
	}{
		{"a.json", []byte(`{"traceEvents":["original"]}`), false, false},
		{"a.json.gz", zipped(`{"traceEvents":["original"]}`), false, false},
		{"list.json", []byte(`["original"]`), false, false},
		{"a.trace.txt", []byte("meta original"), false, true},
		{"a.json.zst", []byte("\x28\xb5\x2f\xfd original"), false, true},
		{"damaged.json", []byte(`{"traceEvents":["original"]`), true, true},
		{"cut.json.gz", zipped(`["original"]`)[:9], true, true},
	} {
		u := traceFile(t, test.name, test.data)
		s := newSite(t, 0, u)
		if test.damaged {
			s.problems = damage(u.Files[0])
		}
		w := s.done(t, u, "trace/0")
		text := unzipped(t, w.Body.Bytes())
		want := `"original"`
		if test.converted {
			want = `"converted"`
		}
		if w.Code != 200 || !strings.Contains(text, want) || !strings.Contains(text, `"XX001 kernel"`) {
			t.Errorf("%s: %d %s", test.name, w.Code, text)
		}
		if got := s.done(t, u, "file/0").Body.Bytes(); !bytes.Equal(got, test.data) {
			t.Errorf("%s: as it is: %q", test.name, got)
		}
	}
}

// What is no file of the unit is not served, whatever a report says and an address asks for.
func TestOnlyNamedFiles(t *testing.T) {
	u := traceFile(t, "a.json", []byte("[]"))
	s := newSite(t, 0, u)
	for path, want := range map[string]int{
		"": 200, "perfetto": 200, "flame": 200, "profile": 200, "report.json": 200, "file/0": 200, "trace/0": 200,
		"file/99": 404, "trace/99": 404, "file/1": 404, "file/x": 404, "file/..%2f..%2fetc%2fpasswd": 404,
		"trace/": 404, "x": 404, "../1/": 307, "../-1/": 307,
	} {
		if w := s.done(t, u, path); w.Code != want || strings.Contains(w.Body.String(), "root:") {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
	for path, want := range map[string]int{
		"/": 200, "/history": 200, "/static/style.css": 200, "/static/opener.js": 200, "/static/doc.go": 404,
		"/static/..%2fdoc.go": 404, "/static/": 404, "/run/": 404,
		"/run/0123456789abcdef/": 404, "/run/..%2f..%2f/": 404,
		"/run/" + idOf(u.Name) + "/1/": 404, "/run/" + idOf(u.Name) + "/": 303, "/etc/passwd": 404, "//etc/passwd": 307,
	} {
		if w := s.get(path); w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}

// Pages allow their own scripts only, and show names as text.
func TestPages(t *testing.T) {
	u := traceFile(t, "<script>.json", []byte("[]"))
	s := newSite(t, 0, u)
	for path, want := range map[string]string{
		"":         `href="perfetto"`,
		"perfetto": `data-viewer="https://viewer.example"`,
		"flame":    "f&lt;&amp;&gt;: 4.000 ms, 100.00 %",
	} {
		w := s.done(t, u, path)
		policy, text := w.Header().Get("Content-Security-Policy"), w.Body.String()
		scripts, _, _ := strings.Cut(policy[strings.Index(policy, "script-src"):], ";")
		if strings.Contains(scripts, "unsafe") || !strings.Contains(policy, "frame-ancestors 'none'") ||
			!strings.HasPrefix(policy, "default-src 'none'") {
			t.Errorf("%s: policy %s", path, policy)
		}
		if !strings.Contains(text, want) || strings.Contains(text, "<script>.json") || strings.Contains(text, "<b>") &&
			path == "" && strings.Contains(text, "slow <b>") {
			t.Errorf("%s: no %s, or names as markup", path, want)
		}
	}
	index := s.get("/").Body.String()
	for _, want := range []string{"runs &lt;&amp;&gt;", "&lt;script&gt;.json", "5.000 ms", "slow &lt;b&gt;", ">3<"} {
		if !strings.Contains(index, want) {
			t.Errorf("the index has no %s", want)
		}
	}
}

// A link with which the viewer fetches a trace itself is there only where its policy allows that.
func TestDirect(t *testing.T) {
	u := traceFile(t, "a.json", []byte("[]"))
	s := newSite(t, 0, u)
	if strings.Contains(s.done(t, u, "perfetto").Body.String(), "?url=") {
		t.Error("a link that the viewer refuses")
	}
	s.Direct = "http://127.0.0.1:9001%s?token=x"
	want := "https://viewer.example/#!/?url=http%3A%2F%2F127.0.0.1%3A9001%2Frun%2F" + idOf(u.Name) +
		"%2F0%2Ftrace%2F0%3Ftoken%3Dx"
	if got := s.done(t, u, "perfetto").Body.String(); !strings.Contains(got, want) {
		t.Errorf("no link %s", want)
	}
}

// What does not fit into memory is analyzed once more; units that change are, and a failure is
// tried again.
func TestAgain(t *testing.T) {
	a, b := traceFile(t, "a.json", []byte("[]")), traceFile(t, "b.json", []byte("[]"))
	s := newSite(t, 1, a, b)
	s.done(t, a, "")
	s.done(t, b, "")
	s.get("/run/" + idOf(a.Name) + "/0/") // dropped for b: started again
	if w := s.done(t, a, ""); w.Code != 200 || s.analyses.Load() != 3 {
		t.Errorf("%d after %d analyses", w.Code, s.analyses.Load())
	}
	s.units[0].Stamp = "2"
	s.done(t, a, "")
	if n := s.analyses.Load(); n != 4 {
		t.Errorf("%d analyses after a change", n)
	}
	s.units[0].Stamp, s.fails = "3", errors.New("no trace\x1b[2J")
	if w := s.done(t, a, ""); w.Code != http.StatusUnprocessableEntity || strings.Contains(w.Body.String(), "\x1b") {
		t.Errorf("a failure: %d %q", w.Code, w.Body)
	}
	s.fails = nil
	if w := s.done(t, a, ""); w.Code != 200 {
		t.Errorf("after a failure: %d", w.Code)
	}
}

// Many people at once are one analysis at a time, each unit analyzed once.
func TestConcurrently(t *testing.T) {
	var list []Unit
	for i := range 6 {
		list = append(list, traceFile(t, fmt.Sprint(i, ".json"), []byte("[]")))
	}
	s := newSite(t, 0, list...)
	var all sync.WaitGroup
	for i := range 48 {
		all.Go(func() {
			u := list[i%len(list)]
			for _, path := range []string{"", "perfetto", "flame", "trace/0", "report.json"} {
				if w := s.done(t, u, path); w.Code != 200 {
					t.Errorf("%s %s: %d %s", u.Name, path, w.Code, w.Body)
				}
			}
			s.get("/")
			s.get("/history")
		})
	}
	all.Wait()
	if n := s.analyses.Load(); n != int32(len(list)) {
		t.Errorf("%d analyses of %d units", n, len(list))
	}
	if text := s.get("/history").Body.String(); !strings.Contains(text, "6 runs") {
		t.Error("the history is not of all")
	}
}

func TestCache(t *testing.T) {
	c := cache{most: 10}
	keys := func() (list string) {
		for _, it := range c.items {
			list += it.key
		}
		return fmt.Sprint(list, " ", c.held)
	}
	for _, step := range []struct {
		put  string
		size int
		want string
	}{{"a", 4, "a 4"}, {"b", 4, "ab 8"}, {"a", 5, "ba 9"}, {"c", 4, "ac 9"}, {"d", 20, "d 20"}, {"e", 1, "e 1"}} {
		c.put(step.put, make([]byte, step.size))
		if got := keys(); got != step.want {
			t.Errorf("after %s: %s, want %s", step.put, got, step.want)
		}
	}
}
