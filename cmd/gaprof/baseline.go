package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gaprof/gaprof/analyze/gate"
	"github.com/gaprof/gaprof/analyze/render"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// baselineFlags say what a run is compared with, and whether it becomes what later runs are
// compared with.
type baselineFlags struct {
	baseline []string
	missing  string
	write    string
	onlyNew  bool
}

func (f *baselineFlags) add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.baseline, "baseline", nil,
		"report to compare with; may be repeated, the steps of all are pooled")
	flags.StringVar(&f.missing, "baseline-missing", "error",
		"if the baseline does not exist: error (exit code 3), or ok (the first run of a gate)")
	flags.StringVar(&f.write, "write-baseline", "",
		"file to write the report of this run to if it passed on healthy data; "+
			"one that is the baseline already is kept unless --force")
	flags.BoolVar(&f.onlyNew, "only-new", false,
		"fail only for what the baseline lacks: findings, and budgets that it keeps or exceeds by less")
}

// check rejects flags that contradict each other.
func (f *baselineFlags) check() error {
	switch {
	case f.missing != "error" && f.missing != "ok":
		return usage("", "--baseline-missing: %q is neither error nor ok", f.missing)
	case f.missing == "ok" && len(f.baseline) == 0:
		return usage("name the baseline too", "--baseline-missing ok says nothing without --baseline")
	case f.onlyNew && len(f.baseline) == 0:
		return usage("name the baseline too", "--only-new says nothing without --baseline")
	case f.write != "" && isStream(f.write):
		return usage("--format json writes a report to the standard output", "--write-baseline wants a file")
	}
	return nil
}

// present are the paths of the baseline that are there, and those that are not, which is an
// error unless a missing baseline is ok.
func (f *baselineFlags) present() (there, gone []string) {
	for _, path := range f.baseline {
		if f.missing == "ok" && isGone(path) {
			gone = append(gone, path)
		} else {
			there = append(there, path)
		}
	}
	return there, gone
}

// isGone reports whether a path names nothing: no file, and no glob that matches one. A link
// that leads nowhere is not gone but broken.
func isGone(path string) bool {
	if path == tracefile.Stdin {
		return false
	}
	for _, name := range []string{path, strings.TrimPrefix(path, "@")} {
		if _, err := os.Lstat(name); !os.IsNotExist(err) {
			return false
		}
	}
	_, _, err := tracefile.ExpandOnce([]string{path})
	return err != nil
}

// target is the file that a baseline is to be written to, or "" where it stays as it is: it is
// read as the baseline, and --force does not ask to replace it. Any other file that exists is
// refused, as that of an output is.
func (f *baselineFlags) target(force bool, used []string, list outputs) (string, error) {
	if f.write == "" {
		return "", nil
	}
	for _, out := range list {
		if !isStream(out.file) && filepath.Clean(out.file) == filepath.Clean(f.write) {
			return "", usage("give each its own file", "an output and the baseline want the same file %s", f.write)
		}
	}
	if same := func(file string) bool { return sameFile(file, f.write) }; !force && slices.ContainsFunc(used, same) {
		return "", nil
	}
	if _, err := os.Stat(filepath.Dir(f.write)); os.IsNotExist(err) {
		return f.write, nil // its folder is made with it
	}
	return f.write, refused(f.write, force)
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// keep writes the report of a run that passed as the baseline of later ones, and notes that
// it did, or why it did not.
func (f *baselineFlags) keep(s streams, c checkSides, force bool, r *gate.Result) error {
	note := func(format string, args ...any) { r.Notes = append(r.Notes, fmt.Sprintf(format, args...)) }
	for _, path := range c.gone {
		note("there is no baseline %s yet", path)
	}
	why := gate.Damage(c.reports)
	switch r.Verdict {
	case gate.Failed:
		why = "the gate failed"
	case gate.Inconclusive:
		why = "the gate is inconclusive"
	}
	switch {
	case f.write == "":
		return nil
	case c.target == "":
		note("the baseline %s is kept; --force replaces it", f.write)
		return nil
	case why != "":
		note("no baseline is written: %s; gaprof analyze --format json -o %s accepts the run as it is", why, f.write)
		return nil
	}
	note("the report of this run is the baseline from now on: %s", c.target)
	if n := gate.StepsToRecord(c.reports); n != nil {
		note("it has few steps of a kind, so that times decide nothing: record at least %d, schedule(active=%d)",
			*n, *n)
	}
	if err := os.MkdirAll(filepath.Dir(c.target), 0o777); err != nil {
		return err
	}
	return deliver(s, c.target, force, func(w io.Writer) error {
		return render.JSON(w, c.reports[0], render.Options{})
	})
}
