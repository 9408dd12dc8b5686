package main

import (
	"errors"
	"slices"

	"github.com/gaprof/gaprof/internal/ingest"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// expand returns the files that paths name, and notes those named more than once and those left
// alone.
func expand(s streams, paths []string, quiet bool) ([]string, error) {
	named, err := tracefile.ExpandAll(paths)
	if err == nil && !quiet {
		sayAgain(s, named.Again)
		sayPassed(s, named.Passed)
	}
	return named.Files, err
}

// sayAgain notes files that were named more than once, the first few one by one.
func sayAgain(s streams, again []tracefile.Again) {
	for i, a := range again {
		if i == mostAgain {
			s.say("%d more files were named again; each is read once", len(again)-i)
			return
		}
		if a.File == a.Known {
			s.say("%s was named more than once; it is read once", a.File)
		} else {
			s.say("%s is the same file as %s; it is read once", a.File, a.Known)
		}
	}
}

// sayPassed notes files of folders that have the name of a trace and are none.
func sayPassed(s streams, files []string) {
	for i, file := range files {
		if i == mostAgain {
			s.say("%d more files are no traces either", len(files)-i)
			return
		}
		s.say("%s: is not a trace; left alone", file)
	}
}

// sayIdle names files that hold nothing to analyze, beside others that do.
func sayIdle(s streams, files []string, traces int) {
	if len(files) >= traces {
		return // nothingToAnalyse names all of them
	}
	for i, file := range files {
		if i == mostAgain {
			s.say("%d more files hold nothing to analyze", len(files)-i)
			return
		}
		s.say("%s: %s; left out", file, nothingThere)
	}
}

// nothingThere is what is wrong with a trace without anything that is analyzed.
const nothingThere = "nothing to analyze: no operators, launches or device events"

// mostAgain is how many such files are named.
const mostAgain = 5

// tell prints what could not be read, in the order of the files, or returns it as an
// error where nothing could be or damage is refused.
func tell(s streams, result ingest.Result, strict bool) error {
	var failures []error
	for _, f := range result.Failures {
		failures = append(failures, failure(f))
	}
	if len(failures) > 0 && (result.Traces == 0 || strict) {
		return errors.Join(failures...)
	}
	var hints []string
	for _, err := range failures {
		s.say("%v; left out", err)
		if hint := hintOf(err); hint != "" && !slices.Contains(hints, hint) {
			hints = append(hints, hint)
			s.say("hint: %s", hint)
		}
	}
	return nil
}

// failure is the error of a file that could not be read. A report that was passed as a
// trace is called that, whatever the reader of traces made of it.
func failure(f ingest.Failure) error {
	var large *ingest.TooLarge
	if !errors.As(f.Err, &large) && isReport(f.File) {
		return &tracefile.Error{
			File:   f.File,
			Reason: "is a report, not a trace",
			Hint:   "gaprof report, check and diff take reports",
		}
	}
	return f.Err
}
