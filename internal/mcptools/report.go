package mcptools

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gaprof/gaprof/analyze/report"
)

// last is the report that was asked for last: agents ask several times about one run.
type last struct {
	mu     sync.Mutex
	key    string
	report *report.Report
}

// mostReport is how long the JSON form of a report may be, in bytes.
const mostReport = 256 << 20

// report is the report of a run.
func (s *server) report(ctx context.Context, in runInput) (*report.Report, error) {
	files, err := s.files(in.Path)
	if err != nil {
		return nil, err
	}
	args := s.command("analyze", "json", s.flags("steps", in.Steps, "ranks", in.Ranks), files...)
	key := s.stamp(args, files)
	s.last.mu.Lock()
	known, of := s.last.key, s.last.report
	s.last.mu.Unlock()
	if known == key {
		return of, nil
	}
	var out bytes.Buffer
	if err := s.run(ctx, &limited{&out, mostReport}, args...); err != nil {
		return nil, err
	}
	if of, err = report.Read(&out); err != nil {
		return nil, err
	}
	s.last.mu.Lock()
	defer s.last.mu.Unlock()
	s.last.key, s.last.report = key, of
	return of, nil
}

// stamp is what a report hangs on.
func (s *server) stamp(args, files []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q", args)
	for _, file := range files {
		if info, err := os.Stat(filepath.Join(s.root, file)); err == nil {
			fmt.Fprintf(&b, " %d %d", info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}
