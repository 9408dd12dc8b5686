package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/render"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
	"github.com/gaprof/gaprof/internal/ingest"
)

// analyzeFlags are the flags of analyze.
type analyzeFlags struct {
	runFlags
	show    []string
	failOn  string
	drawing bool
}

func newAnalyzeCommand(s streams) *cobra.Command {
	var f analyzeFlags
	cmd := &cobra.Command{
		Use:   "analyze PATH...",
		Short: "findings and summary of the traces of one run",
		Long: `analyze reads the traces of one run, one file a rank, and says how much of each
step is exposed communication, where it is launched from and what to change.
It exits with 0 whenever anything was analysed, unless --fail-on says otherwise.`,
		Example: "  gaprof analyze rank0.json.gz\n  gaprof analyze traces/ --format json -o report.json\n" +
			"  gaprof analyze 'rank*.json.gz' --show findings --fail-on error",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runAnalyze(s, args, f) },
	}
	flags := cmd.Flags()
	f.runFlags.add(flags)
	flags.StringSliceVar(&f.show, "show", nil, "more sections in text and md: "+strings.Join(render.Sections(), ", "))
	flags.BoolVar(&f.drawing, "drawing", false,
		"put into json what figures need of the events too, so that report can draw all of them from it")
	flags.StringVar(&f.failOn, "fail-on", "off",
		"exit with 1 if a finding is at least this severe: off, note, warn, error")
	return cmd
}

func runAnalyze(s streams, paths []string, f analyzeFlags) error {
	machine, err := f.machineFlags.parse()
	if err != nil {
		return err
	}
	threshold, outputs, options, err := f.parse()
	if err != nil {
		return err
	}
	made, err := madeAt()
	if err != nil {
		return err
	}
	defer machine.Apply()() // until the report is made too
	options.Version = version
	options.Drawing = f.drawing || outputs.has("html")
	r, err := reportOf(s, paths, f.runFlags, machine, options)
	if err != nil {
		return err
	}
	failed := failing(r.Findings, threshold)
	if failed != nil {
		r.Exit = report.Exit{Code: exitGate, Reason: failed.Error()}
	}
	drawn := render.Options{Show: f.show, Quiet: f.quiet, Made: made, Choices: flagNames}
	if err := outputs.write(s, r, drawn); err != nil {
		return err
	}
	return failed
}

// parse checks every flag before any input is read.
func (f *analyzeFlags) parse() (report.Severity, outputs, analyze.Options, error) {
	var o analyze.Options
	if err := f.inputFlags.check(); err != nil {
		return "", nil, o, err
	}
	for _, section := range f.show {
		if !slices.Contains(render.Sections(), section) {
			return "", nil, o, usage("sections are "+strings.Join(render.Sections(), ", "),
				"unknown section %q", section)
		}
	}
	threshold, err := report.ParseSeverity(f.failOn)
	if err != nil {
		return "", nil, o, usage("", "--fail-on: %v", err)
	}
	outputs, err := f.outputFlags.parse()
	if err != nil {
		return "", nil, o, err
	}
	if o, err = f.selectFlags.parse(rules.All()); err != nil {
		return "", nil, o, err
	}
	return threshold, outputs, o, f.readTokens(&o)
}

// reportOf makes one report of the traces that paths name, or says that there is nothing to
// report on.
func reportOf(s streams, paths []string, f runFlags, m ingest.Limits, o analyze.Options) (*report.Report, error) {
	result, err := analyzePaths(s, paths, f.inputFlags, m, o)
	if err != nil {
		return nil, err
	}
	if r := result.Report; len(r.Source.Ranks) > 0 {
		return r, nil
	}
	return nil, nothingToAnalyse(result.Report.Source.Files, f.selectFlags)
}

// nothingToAnalyse explains a run in which no rank was found.
func nothingToAnalyse(files []string, f selectFlags) error {
	err := fmt.Errorf("%s: nothing to analyse: no operators, launches or device events", strings.Join(files, ", "))
	hint := "record with torch.profiler.ProfilerActivity.CPU and CUDA around at least one optimizer step"
	if f.ranks != "" {
		hint = "or --ranks leaves none"
	}
	return &codeError{code: exitInput, err: err, hint: hint}
}

// failing is the error of a finding at or above the threshold, or nil.
func failing(findings []report.Finding, threshold report.Severity) error {
	if threshold == report.Off {
		return nil
	}
	var hits []string
	for _, f := range findings {
		if f.Severity.AtLeast(threshold) {
			hits = append(hits, f.Rule+" "+string(f.Severity))
		}
	}
	if len(hits) == 0 {
		return nil
	}
	return &codeError{
		code: exitGate,
		err:  fmt.Errorf("findings at or above %s: %s", threshold, strings.Join(hits, ", ")),
	}
}
