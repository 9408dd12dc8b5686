package gaprof

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
	"github.com/gaprof/gaprof/internal/ingest"
	"github.com/gaprof/gaprof/internal/release"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// Input is a trace and the file that it comes from.
type Input = analyze.Input

// Options are the choices of an analysis. The zero value runs all rules on all ranks and
// steps, takes the rank of a trace that does not say it from the name of its file, and
// token and loss logs from beside the traces. To run no rule at all, set Rules to an empty
// list.
type Options = analyze.Options

// Rules lists the rules of gaprof in the order in which they may claim time, for a program
// to add its own to or to take some from. The list is a new one each time.
func Rules() []analyze.Rule { return rules.All() }

// ErrNothing says that traces hold neither operators nor launches nor device events, so
// that there is nothing to analyze.
var ErrNothing = errors.New("nothing to analyze: no operators, launches or device events")

// Analyze reads the traces of one run and reports on them. Paths are those of [OpenAll]. It
// reads several files at a time, within the memory that is free or GOMEMLIMIT, and keeps
// only what the report needs. A file that cannot be read is an error, and so is a log
// beside the traces. The error for traces that are not of one run is *analyze.SeveralRuns,
// which lists the files of each.
func Analyze(paths []string, o Options) (*report.Report, error) {
	files, err := tracefile.Expand(paths)
	if err != nil {
		return nil, err
	}
	o = withDefaults(o)
	failures := ingest.ReadLogs(files, &o, ingest.Limits{})
	a := analyze.New(o)
	for _, f := range ingest.Read(files, a, ingest.Options{}).Failures {
		failures = append(failures, f.Err)
	}
	if err := errors.Join(failures...); err != nil {
		return nil, err
	}
	if runs := a.Runs(); len(runs) > 1 {
		return nil, &analyze.SeveralRuns{Runs: runs}
	}
	r := a.Result().Report
	if len(r.Source.Ranks) == 0 {
		return nil, fmt.Errorf("%s: %w", strings.Join(files, ", "), ErrNothing)
	}
	return r, nil
}

// AnalyzeTraces reports on traces of one run that are in memory, such as those of
// [OpenAll]. It reads no logs, and the error is ErrNothing, *analyze.SeveralRuns or nil.
func AnalyzeTraces(inputs []Input, o Options) (*report.Report, error) {
	a := analyze.New(withDefaults(o))
	for i, in := range inputs {
		in.Alone = len(inputs) == 1
		a.Add(i, in)
	}
	if runs := a.Runs(); len(runs) > 1 {
		return nil, &analyze.SeveralRuns{Runs: runs}
	}
	r := a.Result().Report
	if len(r.Source.Ranks) == 0 {
		return nil, ErrNothing
	}
	return r, nil
}

// AnalyzeTrace is AnalyzeTraces of one trace.
func AnalyzeTrace(t *trace.Trace, o Options) (*report.Report, error) {
	return AnalyzeTraces([]Input{{Trace: t}}, o)
}

// Diff says what changed from one report to another: the structure of the program, which is
// exact, findings, and the times of each kind of step with what they are worth.
func Diff(before, after *report.Report) *compare.Diff {
	return compare.Between([]*report.Report{before}, []*report.Report{after}, release.Version)
}

// withDefaults fills in what the zero value of Options stands for.
func withDefaults(o Options) Options {
	if o.Rules == nil {
		o.Rules = rules.All()
	}
	if o.RankOf == nil {
		o.RankOf = ingest.RankOfFile
	}
	if o.Version == "" {
		o.Version = release.Version
	}
	return o
}
