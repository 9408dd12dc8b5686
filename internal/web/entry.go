package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"github.com/gaprof/gaprof/analyze/render"
	"github.com/gaprof/gaprof/analyze/report"
)

// entry is a unit and what is known of it. Those of a Server are guarded by its mu; what requests work on
// are copies.
type entry struct {
	Unit
	id       string
	started  bool
	done     chan struct{} // closed when runs or err are there; nil before it is started
	progress string
	runs     []summary
	err      error
}

// summary is what the index says of a run. It is small, and kept as long as the unit is there.
type summary struct {
	Name         string
	Ranks, Steps int
	StepTime     *int64 // ns, of the mean step
	Findings     int    // above a note
	Verdict      string
	Traces       []report.RankFile // those that can be opened
	Device       bool              // has device events
}

// idOf names a unit in addresses.
func idOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}

// refresh looks which units there are. Those that changed are forgotten.
func (s *Server) refresh() error {
	units, err := s.List()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.entries
	s.entries, s.order = make(map[string]*entry), nil
	for _, u := range units {
		id := idOf(u.Name)
		e := old[id]
		if e == nil || e.Stamp != u.Stamp {
			e = &entry{Unit: u, id: id}
		}
		s.entries[id] = e
		s.order = append(s.order, id)
	}
	return nil
}

// start has the unit with an id analyzed, unless it is or was, and returns what is known of it; nil
// where there is no such unit.
func (s *Server) start(id string) *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[id]
	if e == nil {
		return nil
	}
	if !e.started {
		e.started, e.done, e.progress, e.err = true, make(chan struct{}), "waits for another one", nil
		go s.analyze(e)
	}
	now := *e
	return &now
}

// again has the next request for a unit analyze it once more.
func (s *Server) again(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.entries[id]; e != nil && e.progress == "" {
		e.started = false
	}
}

func (s *Server) analyze(e *entry) {
	reports, err := s.analyzed(e)
	var runs []summary
	var texts [][]byte
	for i, r := range reports {
		runs = append(runs, s.summary(e, i, len(reports), r))
		texts = append(texts, packed(r))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, text := range texts {
		s.kept.put(e.key(i, "report"), text)
	}
	e.runs, e.err, e.progress = runs, err, ""
	close(e.done)
}

func (s *Server) analyzed(e *entry) ([]*report.Report, error) {
	free, err := s.take(s.ctx)
	if err != nil {
		return nil, err
	}
	defer free()
	s.say(e, "starts")
	return s.Analyze(s.ctx, e.Unit, func(line string) { s.say(e, line) })
}

func (s *Server) say(e *entry, line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.progress = line
}

// key is what something of a run is kept under.
func (e *entry) key(run int, what string) string {
	return fmt.Sprintf("%s %s %d %s", e.id, e.Stamp, run, what)
}

func (s *Server) summary(e *entry, i, of int, r *report.Report) summary {
	sum := summary{Name: e.Name, Ranks: len(r.Source.Ranks), Verdict: render.Verdict(r, s.Page)}
	if of > 1 {
		sum.Name = fmt.Sprintf("%s (run %d of %d)", e.Name, i+1, of)
	}
	if t := r.Time; t != nil {
		sum.StepTime, sum.Device = &t.Length, true
		if t.Of == "step" {
			sum.Steps = t.Count
		}
	}
	for _, f := range r.Findings {
		if f.Severity.AtLeast(report.Warn) {
			sum.Findings++
		}
	}
	known := make(map[string]bool)
	for _, file := range e.Files {
		known[file] = true
	}
	for _, f := range r.Source.RankFiles {
		if known[f.File] {
			sum.Traces = append(sum.Traces, f)
		}
	}
	return sum
}

// report returns a run's report. One that was dropped for want of memory is nil, and analyzed once more
// when somebody asks for it.
func (s *Server) report(e *entry, run int) (*report.Report, error) {
	s.mu.Lock()
	text, ok := s.kept.get(e.key(run, "report"))
	s.mu.Unlock()
	if !ok {
		s.again(e.id)
		return nil, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return report.Read(z)
}

// packed is the JSON form of a report, compressed.
func packed(r *report.Report) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err := json.NewEncoder(z).Encode(r); err != nil {
		panic(err) // a report has a JSON form
	}
	z.Close()
	return b.Bytes()
}

// profileOf returns the pprof profile of a run, made when it is first asked for.
func (s *Server) profileOf(ctx context.Context, e *entry, run int) ([]byte, error) {
	key := e.key(run, "profile")
	s.mu.Lock()
	data, ok := s.kept.get(key)
	s.mu.Unlock()
	if ok {
		return data, nil
	}
	free, err := s.take(ctx)
	if err != nil {
		return nil, err
	}
	defer free()
	var files []string
	for _, t := range e.runs[run].Traces {
		files = append(files, t.File)
	}
	var b bytes.Buffer
	if err := s.Convert(ctx, &limited{&b, mostProfile}, "pprof", files...); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept.put(key, b.Bytes())
	return b.Bytes(), nil
}

// mostProfile is how long a profile may be, in bytes: many thousands of stacks.
const mostProfile = 64 << 20

// limited refuses what goes beyond a number of bytes.
type limited struct {
	w    io.Writer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.left {
		return 0, fmt.Errorf("more than %d bytes", mostProfile)
	}
	l.left -= len(p)
	return l.w.Write(p)
}
