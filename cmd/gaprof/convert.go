package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gaprof/gaprof/internal/ingest"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// convertFlags are the flags of convert.
type convertFlags struct {
	inputFlags
	machineFlags
	to, out       string
	force         bool
	communication []string
}

func newConvertCommand(s streams) *cobra.Command {
	var f convertFlags
	cmd := &cobra.Command{
		Use:   "convert IN... -o OUT",
		Short: "write a trace in another format: " + strings.Join(convertFormats(), ", "),
		Long: `convert reads a trace and writes it as ` + strings.Join(convertFormats(), ", ") + `: by --to, else by the
extension of OUT, compressed where that ends in .gz or .zst. What analyze repairs
is repaired, and named on stderr. The traces of a file with several go to several
files: {} in OUT stands for their number.

pprof (.pb.gz, .pprof) is a profile of the device's time for go tool pprof: kind of
step, phase, launch site of communication, operator and kernel are the stack; rank,
step and stream are tags. Its time is SOURCE_DATE_EPOCH, else that of the trace. The
traces of several ranks, also a folder of them, become one profile.`,
		Example: "  gaprof convert damaged.json.gz -o repaired.json.gz\n  gaprof convert trace.json -o - --to text\n" +
			"  gaprof convert trace.json.gz -o trace.pb.gz && go tool pprof -top trace.pb.gz\n" +
			"  gaprof convert 'rank*.json.gz' -o run.pb.gz",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return convert(s, args, f) },
	}
	flags := cmd.Flags()
	f.inputFlags.add(flags)
	f.machineFlags.add(flags)
	flags.StringVar(&f.to, "to", "", "format to write: "+strings.Join(convertFormats(), ", "))
	flags.StringVarP(&f.out, "output", "o", "", "file to write, - for stdout (required)")
	addCommunication(flags, &f.communication)
	flags.BoolVar(&f.force, "force", false, forceHelp)
	return cmd
}

func convert(s streams, paths []string, f convertFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	limits, err := f.machineFlags.parse()
	if err != nil {
		return err
	}
	declared, err := parseCommunication(f.communication)
	if err != nil {
		return err
	}
	defer limits.Apply()()
	if f.isPprof() {
		return convertToProfile(s, paths, f, limits, declared)
	}
	if len(declared) > 0 {
		return usage("pass --to pprof", "--communication applies to profiles only")
	}
	files, err := tracefile.Expand(paths)
	if err != nil {
		return err
	}
	if len(files) > 1 {
		return usage("only profiles hold several: --to pprof", "%d traces and one OUT", len(files))
	}
	in := files[0]
	p := startProgress(s.err, f.inputFlags, []string{in})
	traces, err := ingest.ReadFile(in, f.options(s, p, limits))
	p.done()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(traces, func(t *trace.Trace) bool { return t.Len() > 0 }) {
		return &codeError{exitInput, fmt.Errorf("%s: nothing to convert: no events", in),
			hintOf(nothingToAnalyse(nil, selectFlags{}))}
	}
	if len(traces) > 1 && !strings.Contains(f.out, "{}") {
		return usage("put {} in OUT, it becomes the number of the trace",
			"%s holds %d traces and OUT is one file", in, len(traces))
	}
	for i, t := range traces {
		if !f.quiet {
			sayProblems(s, in, t)
		}
		if err := writeTrace(s, strings.ReplaceAll(f.out, "{}", strconv.Itoa(i)), t, f); err != nil {
			return err
		}
	}
	return nil
}

// options keep every argument: it is to be written again.
func (f *convertFlags) options(s streams, p *progress, l ingest.Limits) ingest.Options {
	o := f.inputFlags.options(s, p, l)
	o.KeepArgs = true
	return o
}

// toPprof is the format that is not one of traces: it holds what was derived of one.
const toPprof = "pprof"

func convertFormats() []string { return append(tracefile.Writable(), toPprof) }

func (f *convertFlags) check() error {
	switch {
	case f.out == "":
		return usage("-o - writes to stdout", "no output given")
	case isStream(f.out) && f.to == "":
		return usage("formats are "+strings.Join(convertFormats(), ", "),
			"stdout has no extension to tell the format by; pass --to")
	}
	if err := f.inputFlags.check(); err != nil {
		return err
	}
	if strings.Contains(f.out, "{}") {
		return nil // the names are known when the traces are
	}
	return refused(f.out, f.force)
}

// isPprof reports whether a profile is asked for.
func (f *convertFlags) isPprof() bool {
	return f.to == toPprof || f.to == "" && (strings.HasSuffix(f.out, ".pb.gz") || strings.HasSuffix(f.out, ".pprof"))
}

func writeTrace(s streams, out string, t *trace.Trace, f convertFlags) error {
	var err error
	if isStream(out) {
		err = deliver(s, out, f.force, func(w io.Writer) error { return tracefile.Encode(w, t, f.to) })
	} else {
		err = tracefile.Write(out, t, tracefile.WriteOptions{Format: f.to, Force: f.force})
	}
	var unknown *tracefile.UnknownFormat
	if errors.As(err, &unknown) {
		return usage("", "no format to write is called %q; there are %s",
			unknown.Name, strings.Join(convertFormats(), ", "))
	}
	return err
}
