package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gaprof/gaprof/analyze/render"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
	"github.com/gaprof/gaprof/internal/web"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// openFlags are the flags of open.
type openFlags struct {
	runFlags // but those of its outputs
	pageFlags
}

func newOpenCommand(s streams) *cobra.Command {
	var f openFlags
	cmd := &cobra.Command{
		Use:   "open PATH...",
		Short: "the page of a run in the browser, and its trace in the Perfetto UI",
		Long: `open analyzes the traces of one run, or reads a report, and serves the page on
127.0.0.1 until Ctrl-C, or until nobody asks for anything for as long as --idle says.
Its address, with a token that nobody else knows, goes to stdout; on a terminal with a
display the browser shows it.

The page leads to the Perfetto UI with the trace of each rank, in which findings are
tracks of their own: the bytes go from your browser's one window to the other, and are
uploaded nowhere. It also leads to a flame graph of the device's time, whose profile
go tool pprof reads. On another machine, forward the port:
ssh -L PORT:127.0.0.1:PORT HOST. With --port 9001 links to ui.perfetto.dev can fetch the
trace themselves.`,
		Example: "  gaprof open rank0.json.gz\n  gaprof open traces/ --no-browser --port 8080 --idle 8h",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return runOpen(cmd.Context(), s, args, f) },
	}
	flags := cmd.Flags()
	f.inputFlags.add(flags)
	f.machineFlags.add(flags)
	f.selectFlags.add(flags)
	f.selectFlags.addTimes(flags)
	f.pageFlags.add(flags, time.Hour)
	return cmd
}

func runOpen(ctx context.Context, s streams, paths []string, f openFlags) error {
	if err := f.pageFlags.check(); err != nil {
		return err
	}
	runs, err := f.read(s, paths)
	if err != nil {
		return err
	}
	files, err := tracefile.Expand(paths)
	if err != nil {
		return err
	}
	files = slices.DeleteFunc(files, isStream) // which cannot be read once more
	reports := make([]*report.Report, len(runs))
	for i := range runs {
		reports[i] = runs[i].Report
	}
	name := filepath.Base(paths[0])
	if runs[0].Name != "" {
		name, files = runs[0].Name, nil // of a report: its traces may be anywhere
	}
	return f.serve(ctx, s, name, web.Options{
		Title: name, Single: true, Page: render.Options{Choices: flagNames}, Convert: newChild(f.memLimit).convert,
		List:    func() ([]web.Unit, error) { return []web.Unit{{Name: name, Files: files, Stamp: "0"}}, nil },
		Analyze: func(context.Context, web.Unit, func(string)) ([]*report.Report, error) { return reports, nil },
		Open:    os.Open,
	})
}

// read analyzes traces, of whatever runs, or reads reports.
func (f *openFlags) read(s streams, paths []string) ([]render.Run, error) {
	machine, err := f.machineFlags.parse()
	if err != nil {
		return nil, err
	}
	if err := f.inputFlags.check(); err != nil {
		return nil, err
	}
	o, err := f.selectFlags.parse(rules.All())
	if err != nil {
		return nil, err
	}
	if err := f.readTokens(&o); err != nil {
		return nil, err
	}
	o.Version, o.Drawing, o.Predict = version, true, true
	defer machine.Apply()()
	s.in = bufio.NewReader(s.in) // peeked at: a report and a trace begin differently
	of := reportFlags{runFlags: f.runFlags, history: true}
	return of.read(s, paths, machine, o, nil)
}

// convert writes traces in another format, in a child.
func (c child) convert(ctx context.Context, w io.Writer, format string, files ...string) error {
	args := c.withLimit("convert", "--quiet", "--to", format, "-o", "-")
	return c.run(ctx, w, nil, append(append(args, "--"), files...)...)
}
