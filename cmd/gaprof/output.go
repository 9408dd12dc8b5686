package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gaprof/gaprof/analyze/render"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// outputFlags say in which formats something is written, and where.
type outputFlags struct {
	names   []string // of the formats to choose from; nil: those of a report
	formats []string
	file    string
	force   bool
}

// forceHelp is what every command that writes files says of --force.
const forceHelp = "overwrite files; " +
	"without it an output that exists is refused with exit code 3, before anything is read"

func (f *outputFlags) add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.formats, "format", nil, "format to write: "+strings.Join(f.known(), ", ")+
		"; FORMAT=FILE writes one more to a file")
	flags.StringVarP(&f.file, "output", "o", "", "file for the format without a file of its own, - for stdout;\n"+
		"without --format the extension says which: "+strings.Join(f.extensions(), ", "))
	flags.BoolVar(&f.force, "force", false, forceHelp)
}

func (f *outputFlags) known() []string {
	if f.names == nil {
		return render.Reports.Names()
	}
	return f.names
}

// output is one format and the file it goes to; empty is stdout.
type output struct {
	format string
	file   string
	force  bool
}

type outputs []output

// parse resolves the formats. At most one of them may have no file of its own, and no
// two the same; files that would be refused are refused here.
func (f *outputFlags) parse() (outputs, error) {
	var list outputs
	free := 0
	for _, spec := range f.formats {
		name, file, named := strings.Cut(spec, "=")
		if !slices.Contains(f.known(), name) {
			return nil, usage(nearHint(name, f.known()), "--format: unknown format %q (%s)", name,
				strings.Join(f.known(), ", "))
		}
		if named && file == "" {
			return nil, usage("", "--format %s: no file after =", spec)
		}
		if !named {
			file = f.file
			free++
		}
		if err := contradicts(name, file); err != nil {
			return nil, err
		}
		list = append(list, output{name, file, f.force})
	}
	switch {
	case free > 1:
		return nil, usage("write --format FORMAT=FILE for the others", "%d formats want the same output", free)
	case free == 0 && (len(list) == 0 || f.file != ""):
		name, err := f.formatOf(f.file)
		if err != nil {
			return nil, err
		}
		list = append(list, output{name, f.file, f.force})
	}
	return list, list.check()
}

// has reports whether one of the outputs is of a format.
func (list outputs) has(format string) bool {
	return slices.ContainsFunc(list, func(out output) bool { return out.format == format })
}

// check returns, before any input is read, the error that deliver would return.
func (list outputs) check() error {
	seen := make(map[string]bool)
	for _, out := range list {
		key := filepath.Clean(out.file)
		if seen[key] && !isStream(out.file) {
			return usage("give each its own file", "two formats want the same output %s", out.file)
		}
		seen[key] = true
		if err := refused(out.file, out.force); err != nil {
			return err
		}
	}
	return nil
}

// write renders the report into every output, and for the format github into the summary
// of the run too.
func (list outputs) write(s streams, r *report.Report, o render.Options) error {
	if err := writeAs(s, list, render.Reports, r, o); err != nil {
		return err
	}
	return list.summary(func(w io.Writer) error { return render.Markdown(w, r, o) })
}

// writeAs writes a T to every output, in the formats of a table.
func writeAs[T any](s streams, list outputs, forms render.Formats[T], of T, o render.Options) error {
	return list.each(s, func(w io.Writer, out output) error {
		form, err := forms.ByName(out.format)
		if err != nil {
			return err
		}
		return form.Write(w, of, s.fitted(o, out.file))
	})
}

// each renders every output completely before it delivers it.
func (list outputs) each(s streams, draw func(io.Writer, output) error) error {
	for _, out := range list {
		var b bytes.Buffer
		if err := draw(&b, out); err != nil {
			return fmt.Errorf("%s: %w", out.format, err)
		}
		err := deliver(s, out.file, out.force, func(w io.Writer) error {
			_, err := w.Write(b.Bytes())
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// deliver is the one place that writes the output of commands: to stdout, to a device or
// pipe as it is, or to a file that appears when it is whole and overwrites none unless
// forced.
func deliver(s streams, file string, force bool, encode func(io.Writer) error) error {
	switch {
	case file == "/dev/stderr":
		return encode(s.err)
	case isStream(file):
		return encode(s.out)
	}
	return tracefile.Create(file, force, encode)
}

// refused returns why deliver would not write to a file, or nil.
func refused(file string, force bool) error {
	if isStream(file) {
		return nil
	}
	return tracefile.Refused(file, force)
}

// isStream reports whether a name is that of a standard stream. Opened as files they would be
// refused, or truncated where the shell redirects them to a file.
func isStream(file string) bool {
	return slices.Contains([]string{"", tracefile.Stdin, "/dev/stdout", "/dev/fd/1", "/dev/stderr"}, file)
}

// mostSummary is how many bytes of a summary GitHub takes.
const mostSummary = 1 << 20

// summary appends Markdown to the file that GITHUB_STEP_SUMMARY names where one of the
// outputs is of the format github.
func (list outputs) summary(draw func(io.Writer) error) error {
	file := os.Getenv("GITHUB_STEP_SUMMARY")
	if file == "" || !slices.ContainsFunc(list, func(o output) bool { return o.format == "github" }) {
		return nil
	}
	var b bytes.Buffer
	if err := draw(&b); err != nil {
		return err
	}
	out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("GITHUB_STEP_SUMMARY: %w", err)
	}
	if b.Len() > mostSummary {
		b.Truncate(mostSummary)
	}
	_, err = out.Write(append(b.Bytes(), '\n'))
	return errors.Join(err, out.Close())
}
