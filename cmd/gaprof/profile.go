package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/google/pprof/profile"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/pprof"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/ingest"
	"github.com/gaprof/gaprof/trace"
)

// convertToProfile writes one profile of all traces that paths name.
func convertToProfile(
	s streams, paths []string, f convertFlags, limits ingest.Limits, declared []timeline.Declaration,
) error {
	files, err := expand(s, paths, f.quiet)
	if err != nil {
		return err
	}
	o := pprof.Options{Version: version, Communication: declared}
	apart := &separation{analysis: analyze.New(analyze.Options{RankOf: ingest.RankOfFile}), wanted: len(files) > 1}
	p := startProgress(s.err, f.inputFlags, files)
	var parts []*profile.Profile
	var read ingest.Result
	for i, file := range files {
		list, err := profilesOf(s, p, file, f, limits, o, apart.of(i, file))
		if err != nil {
			read.Failures = append(read.Failures, ingest.Failure{File: file, Err: err})
		}
		parts = append(parts, list...)
		read.Traces = len(parts)
	}
	p.done()
	if err := tell(s, read, f.strict); err != nil {
		return err
	}
	if runs := apart.analysis.Runs(); len(runs) > 1 {
		return oneRun(runs)
	}
	whole := parts[0]
	if len(parts) > 1 {
		if whole, err = profile.Merge(parts); err != nil {
			return err
		}
	}
	return deliver(s, f.out, f.force, func(w io.Writer) error { return whole.Write(w) })
}

// separation tells the traces of several files apart by run.
type separation struct {
	analysis *analyze.Analysis
	wanted   bool // there are several files
}

// of returns what takes in the traces of a file.
func (r *separation) of(place int, file string) func(*trace.Trace) {
	return func(t *trace.Trace) {
		if r.wanted {
			r.analysis.Add(place, analyze.Input{File: file, Trace: t})
		}
	}
}

// profilesOf returns the profiles of the traces in a file.
func profilesOf(
	s streams, p *progress, file string, f convertFlags, limits ingest.Limits, o pprof.Options,
	add func(*trace.Trace),
) ([]*profile.Profile, error) {
	o.Rank = func() (int64, bool) { return ingest.RankOfFile(file) }
	if at, ok, err := sourceDate(); err != nil {
		return nil, err
	} else if nanos := at.UnixNano(); ok {
		o.TimeNanos = &nanos
	}
	traces, err := ingest.ReadFile(file, f.options(s, p, limits))
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(traces, func(t *trace.Trace) bool { return t.Len() > 0 }) {
		return nil, nothingToAnalyse([]string{file}, selectFlags{})
	}
	var list []*profile.Profile
	for _, t := range traces {
		if !f.quiet {
			sayProblems(s, file, t)
		}
		add(t)
		one, err := pprof.Profile(t, o)
		if err != nil {
			return nil, &codeError{
				code: exitInput,
				err:  fmt.Errorf("%s: %w", file, err),
				hint: "record with torch.profiler.ProfilerActivity.CUDA",
			}
		}
		list = append(list, one)
	}
	return list, nil
}
