package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/escape"
	"github.com/gaprof/gaprof/internal/ingest"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// eachRun is the flag that asks for an analysis of each run, and its help.
const (
	eachRun     = "each-run"
	eachRunHelp = "analyze each run by itself where the traces are of several; {} in a file's name is the run's number"
)

// tracedRun is one run that paths name.
type tracedRun struct {
	analyze.TracedRun
	result *analyze.Result
}

// runsOf reads the traces that paths name and analyzes each run that they are of. What
// cannot be read is named on stderr and left out as long as anything can be, unless damage
// is refused. accept is asked before anything is made of several runs.
func runsOf(
	s streams, paths []string, f inputFlags, l ingest.Limits, o analyze.Options, accept func([]analyze.TracedRun) error,
) ([]tracedRun, error) {
	files, err := expand(s, paths, f.quiet)
	if err != nil {
		return nil, err
	}
	whole := o
	readLogs(s, files, &whole, l)
	defer l.Apply()()
	p := startProgress(s.err, f, files)
	defer p.done()
	analysis := analyze.New(whole)
	result := ingest.Read(files, analysis, f.options(s, p, l))
	p.done()
	if err := tell(s, result, f.strict); err != nil {
		return nil, err
	}
	all := analysis.Runs()
	sayIdle(s, analysis.Idle(), result.Traces)
	if len(all) > analyze.MostRuns {
		return nil, oneRun(all)
	}
	if len(all) < 2 {
		return []tracedRun{{result: analysis.Result()}}, nil
	}
	runs := all
	if f.once {
		runs = withoutCopies(s, all, f.quiet)
	}
	if len(runs) > 1 {
		if err := accept(runs); err != nil {
			return nil, err
		}
	}
	var list []tracedRun
	for i := range runs {
		of := o
		readLogs(s, runs[i].Files, &of, l)
		list = append(list, tracedRun{runs[i], analysis.ResultOf(&runs[i], of)})
	}
	return list, nil
}

// withoutCopies are runs to be pooled without those that repeat another one, event for event:
// what was recorded once counts once. It says which are left out.
func withoutCopies(s streams, all []analyze.TracedRun, quiet bool) []analyze.TracedRun {
	var runs []analyze.TracedRun
	several := &analyze.SeveralRuns{Runs: all}
	for i := range all {
		if of := all[i].CopyOf; of == "" {
			runs = append(runs, all[i])
		} else if !quiet {
			s.say("%s repeats %s event for event; it is counted once", several.Select(i), of)
		}
	}
	return runs
}

// oneRun refuses several runs.
func oneRun(runs []analyze.TracedRun) error {
	several := &analyze.SeveralRuns{Runs: runs}
	hint := "pass the files of one run, for example " + quoted(several, 0)
	if !several.TooMany() {
		hint += ", or --each-run to analyze and report"
	}
	return &codeError{code: exitInput, err: several, hint: hint}
}

// quoted is how to pass the files of a run in a shell.
func quoted(e *analyze.SeveralRuns, i int) string {
	text, _, pattern := strings.Cut(e.Select(i), " (")
	if pattern {
		return "'" + text + "'"
	}
	return text
}

// alike accepts runs of one program on the same machines, whose steps may be pooled.
func alike(runs []analyze.TracedRun) error {
	for i := range runs {
		if !runs[0].Alike(&runs[i]) {
			return oneRun(runs)
		}
	}
	return nil
}

// named accepts runs that are alike where each path is of one: who names runs one by one
// wants the steps of all, but a folder or pattern that holds several was meant for one.
func named(paths []string) func([]analyze.TracedRun) error {
	return func(runs []analyze.TracedRun) error {
		if err := alike(runs); err != nil {
			return err
		}
		of := make(map[string]int)
		for i := range runs {
			for _, file := range runs[i].Files {
				of[file] = i
			}
		}
		for _, path := range paths {
			files, err := tracefile.Expand([]string{path})
			if err != nil {
				return err
			}
			first := -1
			for _, file := range files {
				i, read := of[file]
				if read && first >= 0 && i != first {
					return oneRun(runs)
				}
				if read {
					first = i
				}
			}
		}
		return nil
	}
}

// analyzePaths analyzes the one run that paths name.
func analyzePaths(
	s streams, paths []string, f inputFlags, l ingest.Limits, o analyze.Options,
) (*analyze.Result, error) {
	list, err := runsOf(s, paths, f, l, o, oneRun)
	if err != nil {
		return nil, err
	}
	return list[0].result, nil
}

// apart accepts several runs where each output can hold them one by one.
func (list outputs) apart(runs []analyze.TracedRun) error {
	for _, out := range list {
		switch {
		case strings.Contains(out.file, "{}"):
		case !isStream(out.file):
			return usage("put {} into the name: it becomes the number of the run",
				"%d runs and one file, %s", len(runs), out.file)
		case out.format == "html" || out.format == "csv" || out.format == "gobench":
			return usage("give each run a file: -o 'NAME{}'", "%d runs cannot share one output of the format %s",
				len(runs), out.format)
		}
	}
	return nil
}

// numbered are the outputs of the n-th run.
func (list outputs) numbered(n int) outputs {
	named := make(outputs, len(list))
	for i, out := range list {
		out.file = strings.ReplaceAll(out.file, "{}", strconv.Itoa(n))
		named[i] = out
	}
	return named
}

// head says on the outputs for people which run follows.
func (r *tracedRun) head(s streams, list outputs, n, of int) {
	several := &analyze.SeveralRuns{Runs: []analyze.TracedRun{r.TracedRun}}
	for _, out := range list {
		if !isStream(out.file) {
			continue
		}
		switch out.format {
		case "text":
			fmt.Fprintf(s.out, "RUN %d of %d  %s\n", n, of, escape.Control(several.Select(0)))
		case "md":
			fmt.Fprintf(s.out, "# Run %d of %d: %s\n\n", n, of, escape.Control(several.Select(0)))
		}
	}
}

// reportsOf are the reports of runs, or the error that one of them holds nothing.
func reportsOf(runs []tracedRun, f selectFlags) ([]*report.Report, error) {
	var reports []*report.Report
	for i := range runs {
		r, err := reportOfRun(runs[i].result, f)
		if err != nil {
			return nil, err
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// undecided makes several runs inconclusive for check, which can judge only one: exit code 4,
// or 0 where that is allowed. Other errors stay as they are.
func (f *checkFlags) undecided(s streams, err error) error {
	var several *analyze.SeveralRuns
	if !errors.As(err, &several) {
		return err
	}
	if f.allowInconclusive {
		s.fail(errors.Join(errors.New("gate inconclusive, which is allowed: only one run can be judged"), several))
		return nil
	}
	return &codeError{
		code: exitInconclusive,
		err:  errors.Join(errors.New("gate inconclusive: only one run can be judged"), several),
		hint: "pass the files of one run, for example " + quoted(several, 0),
	}
}
