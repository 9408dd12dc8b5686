package web

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"os"
	"sync"

	"github.com/gaprof/gaprof/analyze/render"
	"github.com/gaprof/gaprof/analyze/report"
)

// Unit is some traces that are analyzed together. They may turn out to be of several runs.
type Unit struct {
	Name  string   // what people call it; no two have the same
	Files []string // as reports will name them
	Stamp string   // changes when the files do
}

// Options are what a server is made of. Everything but Single has to be there.
type Options struct {
	Title string // what is served
	List  func() ([]Unit, error)

	// Analyze returns the reports of a unit, with drawings. say tells how far it is.
	Analyze func(ctx context.Context, u Unit, say func(line string)) ([]*report.Report, error)

	// Convert writes the traces of some files in another format.
	Convert func(ctx context.Context, w io.Writer, format string, files ...string) error
	Open    func(file string) (*os.File, error)

	Viewer string // the origin of the Perfetto UI

	// Direct is an address of this server with a query that lets the viewer fetch traces itself, %s being
	// the path; empty where its policy does not let it.
	Direct string

	Memory int64 // bytes that analyses and profiles may take while nobody looks at them
	Page   render.Options
	Single bool // there is one unit, whose page comes first
}

// Server is an http.Handler for GET and HEAD.
type Server struct {
	Options
	ctx  context.Context
	mux  *http.ServeMux
	busy chan struct{} // holds one thing while something is analyzed or converted

	mu      sync.Mutex
	entries map[string]*entry // by id
	order   []string          // ids
	kept    cache

	draw sync.Mutex // one report at a time is whole in memory
}

// New makes a server whose analyses end with ctx.
func New(ctx context.Context, o Options) *Server {
	s := &Server{Options: o, ctx: ctx, busy: make(chan struct{}, 1), entries: make(map[string]*entry),
		kept: cache{most: cmp.Or(o.Memory, 256<<20)}}
	s.mux = http.NewServeMux()
	for pattern, h := range map[string]http.HandlerFunc{
		"/{$}":                           s.index,
		"/history":                       s.history,
		"/favicon.ico":                   noIcon,
		"/static/{name}":                 static,
		"/run/{unit}/{$}":                s.unit,
		"/run/{unit}/{run}/{$}":          s.page,
		"/run/{unit}/{run}/report.json":  s.json,
		"/run/{unit}/{run}/flame":        s.flame,
		"/run/{unit}/{run}/profile":      s.profile,
		"/run/{unit}/{run}/perfetto":     s.opener,
		"/run/{unit}/{run}/trace/{rank}": s.trace,
		"/run/{unit}/{run}/file/{rank}":  s.file,
	} {
		s.mux.HandleFunc("GET "+pattern, h)
	}
	return s
}

// ServeHTTP answers.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// take waits until nothing else is analyzed or converted.
func (s *Server) take(ctx context.Context) (free func(), err error) {
	select {
	case s.busy <- struct{}{}:
		return func() { <-s.busy }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// noIcon answers browsers, which ask for one.
func noIcon(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }
