package web

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/analyze/render/overlay"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/escape"
)

// openerView is the page that hands a trace to the Perfetto UI.
type openerView struct {
	Name, Viewer string
	Ranks        []rankView
}

type rankView struct{ Rank, Label, File, Direct string }

// opener shows the ranks of a run, each with a button: browsers open a window by a click only.
func (s *Server) opener(w http.ResponseWriter, r *http.Request) {
	e, run := s.run(w, r)
	if e == nil {
		return
	}
	view := openerView{Name: escape.Control(e.runs[run].Name), Viewer: s.Viewer}
	for _, t := range e.runs[run].Traces {
		rank := strconv.FormatInt(t.Rank, 10)
		one := rankView{Rank: rank, Label: "rank " + rank, File: escape.Control(t.File)}
		if s.Direct != "" {
			path := fmt.Sprintf("/run/%s/%d/trace/%s", e.id, run, rank)
			one.Direct = s.Viewer + "/#!/?url=" + url.QueryEscape(strings.ReplaceAll(s.Direct, "%s", path))
		}
		view.Ranks = append(view.Ranks, one)
	}
	s.show(w, openerPage(), view)
}

// flame draws where the device's time goes.
func (s *Server) flame(w http.ResponseWriter, r *http.Request) {
	e, run := s.run(w, r)
	if e == nil {
		return
	}
	data, err := s.profileOf(r.Context(), e, run)
	if err != nil {
		fail(w, err)
		return
	}
	root, err := flameOf(data)
	if err != nil {
		fail(w, err)
		return
	}
	boxes, rows := root.boxes()
	s.show(w, flamePage(), struct {
		Name   string
		Height int
		Boxes  []box
	}{escape.Control(e.runs[run].Name), rows * rowHeight, boxes})
}

// profile sends the profile that the flame graph is drawn of.
func (s *Server) profile(w http.ResponseWriter, r *http.Request) {
	e, run := s.run(w, r)
	if e == nil {
		return
	}
	data, err := s.profileOf(r.Context(), e, run)
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Disposition", `attachment; filename="gaprof.pb.gz"`)
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Write(data)
}

// traceOf is the file of the rank that a request names; ok is false where the answer was given.
func (s *Server) traceOf(w http.ResponseWriter, r *http.Request) (e *entry, run int, of report.RankFile, ok bool) {
	if e, run = s.run(w, r); e == nil {
		return nil, 0, of, false
	}
	rank, err := strconv.ParseInt(r.PathValue("rank"), 10, 64)
	for _, t := range e.runs[run].Traces {
		if err == nil && t.Rank == rank {
			return e, run, t, true
		}
	}
	http.NotFound(w, r)
	return nil, 0, of, false
}

// file sends a trace as it is stored.
func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	_, _, of, ok := s.traceOf(w, r)
	if !ok {
		return
	}
	f, err := s.Open(of.File)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", `attachment; filename="trace-rank`+r.PathValue("rank")+`"`)
	http.ServeContent(w, r, "", info.ModTime(), f)
}

// trace sends a trace with the findings in it, compressed while it is read.
func (s *Server) trace(w http.ResponseWriter, r *http.Request) {
	e, run, of, ok := s.traceOf(w, r)
	if !ok {
		return
	}
	s.draw.Lock()
	made, err := s.report(e, run)
	s.draw.Unlock()
	if err != nil || made == nil {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "it is analyzed once more; try again", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/gzip")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="rank%d-findings.json.gz"`, of.Rank))
	if r.Method == http.MethodHead {
		return
	}
	z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if errors.Join(s.merged(r.Context(), z, made, of), z.Close()) != nil {
		panic(http.ErrAbortHandler) // the client sees that it is cut
	}
}

// merged writes a Chrome trace with the findings. What is no such trace, or compressed otherwise than by gzip, or
// damaged, is converted first.
func (s *Server) merged(ctx context.Context, w io.Writer, r *report.Report, of report.RankFile) error {
	events := overlay.Events(r, of.Rank)
	if !damaged(r, of.File) {
		if done, err := s.copied(ctx, w, of.File, events); done || err != nil {
			return err
		}
	}
	free, err := s.take(ctx)
	if err != nil {
		return err
	}
	defer free()
	out, in := io.Pipe()
	converted := make(chan error, 1)
	go func() {
		err := s.Convert(ctx, in, "chrome", of.File)
		in.CloseWithError(err)
		converted <- err
	}()
	ok, err := overlay.Merge(w, out, events)
	out.Close()
	if failed := <-converted; err == nil && failed != nil {
		err = failed
	}
	if err == nil && !ok {
		err = fmt.Errorf("%s is no Chrome trace", of.File)
	}
	return err
}

// damaged reports whether a file needed repair: viewers may refuse it as it is.
func damaged(r *report.Report, file string) bool {
	for _, p := range r.Health.Problems {
		if p.File == file && p.Offset != nil {
			return true
		}
	}
	return false
}

// copied writes a trace as it is stored, with events; done is false where it is no Chrome trace that can be read
// from its beginning.
func (s *Server) copied(ctx context.Context, w io.Writer, file string, events []byte) (done bool, err error) {
	f, err := s.Open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	in := bufio.NewReaderSize(&interrupted{ctx, f}, 1<<20)
	if head, _ := in.Peek(2); !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return overlay.Merge(w, in, events)
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return false, nil
	}
	return overlay.Merge(w, z, events)
}

// interrupted is a file that ends when nobody waits for it any more.
type interrupted struct {
	ctx context.Context
	r   io.Reader
}

func (r *interrupted) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// IsTrace reports whether a path is that of a trace with findings, the one thing that the viewer may fetch itself.
func IsTrace(path string) bool {
	inside, ok := strings.CutPrefix(path, "/run/")
	parts := strings.Split(inside, "/")
	return ok && len(parts) == 4 && parts[2] == "trace"
}
