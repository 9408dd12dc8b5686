package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gaprof/gaprof/internal/ingest"
	"github.com/gaprof/gaprof/trace"
)

// inputFlags are the flags of every command that reads traces.
type inputFlags struct {
	strict   bool
	quiet    bool
	progress string

	once bool // no flag: of runs that repeat each other one counts; see withoutCopies
}

func (f *inputFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.strict, "strict", false, "refuse damaged input instead of repairing it")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress and no notes on stderr")
	flags.StringVar(&f.progress, "progress", "auto", "progress on stderr: auto (on a terminal), plain or off")
}

// check rejects invalid flag values.
func (f *inputFlags) check() error {
	if f.progress != "auto" && f.progress != "plain" && f.progress != "off" {
		return usage("", "--progress is auto, plain or off, not %q", f.progress)
	}
	return nil
}

// options are the options to read files with.
func (f *inputFlags) options(s streams, p *progress, l ingest.Limits) ingest.Options {
	o := ingest.Options{Limits: l, Strict: f.strict, Stdin: s.in, Progress: p}
	if !f.quiet {
		o.Waiting = func(file string) { s.say("%s: is a pipe to which nobody writes yet; waiting", file) }
		o.Panicked = func(file string, workers int64, first string) {
			what, _, _ := strings.Cut(first, "\n")
			s.say("%s: %d workers failed by a fault of gaprof, and what they had was read again: %s",
				file, workers, what)
		}
	}
	return o
}

// sayProblems reports what was repaired or left out in a trace.
func sayProblems(s streams, file string, t *trace.Trace) {
	for _, p := range t.Problems() {
		how := string(p.Code)
		if p.Count > 1 {
			how += fmt.Sprintf(", %d times", p.Count)
		}
		if p.Offset >= 0 {
			how += fmt.Sprintf(", first at byte %d", p.Offset)
		}
		s.say("%s: %s (%s)", file, p.Message(), how)
	}
}
