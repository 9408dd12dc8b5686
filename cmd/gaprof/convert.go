package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// convertFlags are the flags of convert.
type convertFlags struct {
	inputFlags
	to, out string
	force   bool
}

func newConvertCommand(s streams) *cobra.Command {
	var f convertFlags
	cmd := &cobra.Command{
		Use:   "convert IN -o OUT",
		Short: "write a trace in another format: " + strings.Join(tracefile.Writable(), ", "),
		Long: `convert reads a trace and writes it as ` + strings.Join(tracefile.Writable(), ", ") + `: by --to, else by the
extension of OUT, compressed where that ends in .gz or .zst. What analyze repairs
is repaired, and named on stderr. The traces of a file with several go to several
files: {} in OUT stands for their number.`,
		Example: "  gaprof convert damaged.json.gz -o repaired.json.gz\n  gaprof convert trace.json -o - --to text",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return convert(s, args[0], f) },
	}
	flags := cmd.Flags()
	f.add(flags)
	flags.StringVar(&f.to, "to", "", "format to write: "+strings.Join(tracefile.Writable(), ", "))
	flags.StringVarP(&f.out, "output", "o", "", "file to write, - for stdout (required)")
	flags.BoolVar(&f.force, "force", false, "overwrite OUT")
	return cmd
}

func convert(s streams, in string, f convertFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	p := startProgress(s.err, f.inputFlags, []string{in})
	traces, err := tracefile.Read(in, f.options(s, p, in, true))
	p.done()
	if err != nil {
		return err
	}
	if len(traces) > 1 && !strings.Contains(f.out, "{}") {
		return usage("put {} in OUT, it becomes the number of the trace", "%s holds %d traces and OUT is one file", in, len(traces))
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

func (f *convertFlags) check() error {
	switch {
	case f.out == "":
		return usage("-o - writes to stdout", "no output given")
	case f.out == tracefile.Stdin && f.to == "":
		return usage("formats are "+strings.Join(tracefile.Writable(), ", "), "stdout has no extension to tell the format by; pass --to")
	}
	return f.inputFlags.check()
}

func writeTrace(s streams, out string, t *trace.Trace, f convertFlags) error {
	if out == tracefile.Stdin {
		return tracefile.Encode(s.out, t, f.to)
	}
	return tracefile.Write(out, t, tracefile.WriteOptions{Format: f.to, Force: f.force})
}
