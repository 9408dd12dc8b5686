package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/render"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
)

// analyzeFlags are the flags of analyze.
type analyzeFlags struct {
	runFlags
	show    []string
	failOn  string
	drawing bool
	eachRun bool
}

func newAnalyzeCommand(s streams) *cobra.Command {
	var f analyzeFlags
	cmd := &cobra.Command{
		Use:   "analyze PATH...",
		Short: "findings and summary of the traces of one run",
		Long: `analyze reads the traces of one run, one file a rank, and says how much of each
step is exposed communication, where it is launched from and what to change.
It exits with 0 whenever anything was analysed, unless --fail-on says otherwise.
Files that are not of one run (two of one rank, other world sizes, other times) are
refused with exit code 3 and the list of runs, or analyzed run by run with --each-run.`,
		Example: "  gaprof analyze rank0.json.gz\n  gaprof analyze traces/ --format json -o report.json\n" +
			"  gaprof analyze 'rank*.json.gz' --show findings --fail-on error",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runAnalyze(s, args, f) },
	}
	flags := cmd.Flags()
	f.runFlags.add(flags)
	flags.StringSliceVar(&f.show, "show", nil, "additional sections in text and md: "+
		""+strings.Join(render.Sections(), ", "))
	flags.BoolVar(&f.drawing, "drawing", false,
		"also put into json what the figures need from the events, so that report can draw all of them from it")
	flags.BoolVar(&f.eachRun, eachRun, false, eachRunHelp)
	flags.StringVar(&f.failOn, "fail-on", "off",
		"exit with 1 if a finding has at least this severity: off, note, warn, error")
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
	options.Predict = options.Drawing || slices.Contains(f.show, "whatif")
	accept := oneRun
	if f.eachRun {
		accept = outputs.apart
	}
	runs, err := runsOf(s, paths, f.inputFlags, machine, options, accept)
	if err != nil {
		return err
	}
	drawn := render.Options{Show: f.show, Quiet: f.quiet, Made: made, Choices: flagNames, Rule: rulePage,
		Inputs: [][]string{paths}}
	var failed []error
	for i := range runs {
		if len(runs) > 1 {
			runs[i].head(s, outputs, i+1, len(runs))
		}
		failure, err := writeRun(s, &runs[i], outputs.numbered(i+1), f.selectFlags, threshold, drawn)
		if err != nil {
			return err
		}
		failed = append(failed, failure)
	}
	return joined(failed)
}

// writeRun writes the report of one run. failed is the error of a finding at or above the
// threshold.
func writeRun(
	s streams, r *tracedRun, list outputs, f selectFlags, threshold report.Severity, drawn render.Options,
) (failed, err error) {
	made, err := reportOfRun(r.result, f)
	if err != nil {
		return nil, err
	}
	if failed = failing(made.Findings, threshold); failed != nil {
		made.Exit = report.Exit{Code: exitGate, Reason: failed.Error()}
	}
	return failed, list.write(s, made, drawn)
}

// joined is the one error of several runs, nil without any.
func joined(failed []error) error {
	failed = slices.DeleteFunc(failed, func(err error) bool { return err == nil })
	if len(failed) < 2 {
		return errors.Join(failed...)
	}
	return &codeError{code: exitGate, err: errors.Join(failed...)}
}

// parse checks every flag before any input is read.
func (f *analyzeFlags) parse() (report.Severity, outputs, analyze.Options, error) {
	var o analyze.Options
	if err := f.inputFlags.check(); err != nil {
		return "", nil, o, err
	}
	for _, section := range f.show {
		if !slices.Contains(render.Sections(), section) {
			hint := "sections are " + strings.Join(render.Sections(), ", ")
			return "", nil, o, usage(orNear(section, render.Sections(), hint),
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

// reportOfRun is the report of a result, or the error that there is nothing to report on.
func reportOfRun(result *analyze.Result, f selectFlags) (*report.Report, error) {
	if r := result.Report; len(r.Source.Ranks) > 0 {
		return r, nil
	}
	return nil, nothingToAnalyse(result.Report.Source.Files, f)
}

// nothingToAnalyse explains a run in which no rank was found.
func nothingToAnalyse(files []string, f selectFlags) error {
	err := fmt.Errorf("%s: %s", namesOf(files), nothingThere)
	hint := "record with torch.profiler.ProfilerActivity.CPU and CUDA around at least one optimizer step"
	if f.ranks != "" {
		hint = "or --ranks leaves none"
	}
	return &codeError{code: exitInput, err: err, hint: hint}
}

// namesOf names files, where they are many the first ones.
func namesOf(files []string) string {
	const most = 8
	if n := len(files) - most; n > 1 {
		return fmt.Sprintf("%s and %d others", strings.Join(files[:most], ", "), n)
	}
	return strings.Join(files, ", ")
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
