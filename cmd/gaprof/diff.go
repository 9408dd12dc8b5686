package main

import (
	"bufio"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/analyze/render"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
	"github.com/gaprof/gaprof/internal/ingest"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// diffFlags are the flags of diff.
type diffFlags struct {
	runFlags
	base, new []string
	machine   ingest.Limits
	reports   *reportReader
}

func newDiffCommand(s streams) *cobra.Command {
	f := diffFlags{runFlags: runFlags{outputFlags: outputFlags{names: render.Differences.Names()}}}
	cmd := &cobra.Command{
		Use:   "diff BASE NEW",
		Short: "what changed between two runs: step time, structure, then all times",
		Long: `diff compares two runs. Each side is a trace, a directory, a glob, @LIST, or a
report that analyze --format json wrote. Several files of a side are the ranks of
one run; where a rank occurs again, a further run of the same, and all its steps
count. Runs of another world size, device or model on one side are refused. --base
and --new name more of a side.

It says first how the time of a step changed and whether that is significant, then in
what the two are not alike and what changed in structure, which is exact: launch
sites, collectives, gradient passes, accumulation, order, findings. Then come the
times of each kind of step: medians with their 95 % intervals and their changes.
Below 5 steps of a kind on either side times are of low confidence. It exits with 0 whenever both sides were analysed.`,
		Example: "  gaprof diff before.json.gz after.json.gz\n" +
			"  gaprof diff before/ after/ --steps last:5 --format md -o diff.md\n" +
			"  gaprof diff --base run1.json --base run2.json --new run3.json --new run4.json",
		Args: cobra.MaximumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return runDiff(s, args, f) },
	}
	flags := cmd.Flags()
	f.runFlags.add(flags)
	flags.StringArrayVar(&f.base, "base", nil, "one more PATH of the base side; may be repeated")
	flags.StringArrayVar(&f.new, "new", nil, "one more PATH of the new side; may be repeated")
	return cmd
}

func runDiff(s streams, args []string, f diffFlags) error {
	base, new, err := f.sides(args)
	if err != nil {
		return err
	}
	outputs, options, err := f.parse()
	if err != nil {
		return err
	}
	defer f.machine.Apply()()
	s.in = bufio.NewReader(s.in) // peeked at: a report and a trace begin differently
	var reports [2][]*report.Report
	for i, paths := range [][]string{base, new} {
		if reports[i], err = readSide(s, paths, options, f); err != nil {
			return err
		}
	}
	d := compare.Between(reports[0], reports[1], version)
	drawn := render.Options{Quiet: f.quiet, Choices: flagNames, Inputs: [][]string{base, new}}
	return writeAs(s, outputs, render.Differences, d, drawn)
}

// sides are the paths of both sides. One argument goes to the side that no flag names.
func (f *diffFlags) sides(args []string) (base, new []string, err error) {
	base, new = slices.Clone(f.base), slices.Clone(f.new)
	switch {
	case len(args) == 2:
		base, new = append([]string{args[0]}, base...), append([]string{args[1]}, new...)
	case len(args) == 1 && len(base) > 0 && len(new) == 0:
		new = args
	case len(args) == 1 && len(new) > 0 && len(base) == 0:
		base = args
	case len(args) == 1:
		return nil, nil, usage("gaprof diff BASE NEW", "one path is not two sides")
	}
	if len(base) == 0 || len(new) == 0 {
		return nil, nil, usage("gaprof diff BASE NEW", "two sides are needed, a base and a new one")
	}
	if slices.Contains(base, tracefile.Stdin) && slices.Contains(new, tracefile.Stdin) {
		return nil, nil, usage("", "the standard input cannot be both sides")
	}
	return base, new, nil
}

// parse checks every flag before any input is read.
func (f *diffFlags) parse() (outputs, analyze.Options, error) {
	var o analyze.Options
	if err := f.inputFlags.check(); err != nil {
		return nil, o, err
	}
	outputs, err := f.outputFlags.parse()
	if err != nil {
		return nil, o, err
	}
	if f.machine, err = f.machineFlags.parse(); err != nil {
		return nil, o, err
	}
	if o, err = f.selectFlags.parse(rules.All()); err != nil {
		return nil, o, err
	}
	o.Version = version
	f.reports = newReportReader(f.machine)
	return outputs, o, f.readTokens(&o)
}

// readSide reads the reports of a side and makes one of all its traces.
func readSide(s streams, paths []string, o analyze.Options, f diffFlags) ([]*report.Report, error) {
	files, err := expand(s, paths, f.quiet)
	if err != nil {
		return nil, err
	}
	var reports []*report.Report
	var traces []string
	for _, file := range files {
		r, err := f.reports.open(s, file)
		switch {
		case err != nil:
			return nil, err
		case r == nil:
			traces = append(traces, file)
		case f.needTraces():
			return nil, usage("pass the traces that it was made of",
				"--steps, --ranks and --communication cannot be applied to the report %s", file)
		default:
			reports = append(reports, r)
		}
	}
	if len(traces) > 0 {
		made, err := pooled(s, traces, named(paths), f, o)
		if err != nil {
			return nil, err
		}
		reports = append(made, reports...)
	}
	return reports, nil
}

// pooled makes a report of each run that traces are of, if accept lets several pass: then the
// steps of all count.
func pooled(
	s streams, traces []string, accept func([]analyze.TracedRun) error, f diffFlags, o analyze.Options,
) ([]*report.Report, error) {
	f.once = true
	runs, err := runsOf(s, traces, f.inputFlags, f.machine, o, accept)
	if err != nil {
		return nil, err
	}
	if len(runs) > 1 && !f.quiet {
		s.say("%s: %d runs that are alike; the steps of all count", runs[0].Files[0], len(runs))
	}
	return reportsOf(runs, f.selectFlags)
}
