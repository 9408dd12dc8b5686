package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/gate"
	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/render"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// checkFlags are the flags of check.
type checkFlags struct {
	diffFlags         // how both sides are read
	baseline          []string
	config            string
	failOn            string
	allowInconclusive bool
}

func newCheckCommand(s streams) *cobra.Command {
	f := checkFlags{diffFlags: diffFlags{runFlags: runFlags{outputFlags: outputFlags{names: render.Checks.Names()}}}}
	cmd := &cobra.Command{
		Use:   "check PATH...",
		Short: "gate for CI: budgets, and regressions against a baseline",
		Long: `check judges the traces, or reports, of one run by the budgets and regressions of
gaprof.yaml, which it looks for from the working directory upward; without one
gaprof:recommended applies. Structure (counts, bytes, launch sites) is exact. Times
are compared by medians for each kind of step, and below 5 steps of a kind they
decide nothing. A baseline is a report that analyze --format json wrote.

It exits with 1 where a check of severity error fails, and with 4 where it cannot
tell: the trace is damaged, the baseline is of another device, world size, framework,
model or accumulation, or there are too few steps for every check.`,
		Example: "  gaprof check traces/ --baseline main.json\n" +
			"  gaprof check rank0.json.gz --format text --format github=annotations.txt\n" +
			"  gaprof analyze traces/ --format json -o main.json",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runCheck(s, args, f) },
	}
	flags := cmd.Flags()
	f.runFlags.add(flags)
	flags.StringArrayVar(&f.baseline, "baseline", nil,
		"report to compare with; may be repeated, the steps of all are pooled")
	flags.StringVar(&f.config, "config", "",
		"configuration; else "+gate.ConfigFile+" in the working directory or above it")
	flags.StringVar(&f.failOn, "fail-on", "off",
		"fail also if a finding is at least this severe: off, note, warn, error")
	flags.BoolVar(&f.allowInconclusive, "allow-inconclusive", false, "exit with 0 instead of 4")
	return cmd
}

func runCheck(s streams, paths []string, f checkFlags) error {
	config, file, err := readConfig(f.config)
	if err != nil {
		return err
	}
	outputs, options, checkOptions, err := f.parse(&config)
	if err != nil {
		return err
	}
	compares := len(config.Regressions) > 0 && len(f.baseline) > 0
	if len(config.Budgets) == 0 && !compares && checkOptions.FailOn == report.Off {
		return usage("write budgets, extend gaprof:recommended, or pass --baseline",
			"%s asks for nothing that could be checked", file)
	}
	checkOptions.Config = file
	s.in = bufio.NewReader(s.in) // peeked at: a report and a trace begin differently
	reports, err := readSide(s, paths, options, f.diffFlags)
	if err != nil {
		return err
	}
	baseline, err := readBaseline(s, f.baseline, f.quiet)
	if err != nil {
		return err
	}
	result := gate.Check(config, reports, baseline, checkOptions)
	if result.Verdict == gate.Inconclusive && f.allowInconclusive {
		result.Exit = report.Exit{Reason: result.Exit.Reason + "; allowed"}
	}
	checked := render.Checked{Result: result, Reports: reports}
	if err := writeCheck(s, outputs, checked, render.Options{Quiet: f.quiet, Choices: flagNames}); err != nil {
		return err
	}
	if result.Exit.Code == exitOK {
		return nil
	}
	return &codeError{code: result.Exit.Code, err: errors.New("gate " + result.Exit.Reason)}
}

// parse checks every flag before any input is read. What the configuration says of steps
// and memory gives way to flags.
func (f *checkFlags) parse(c *gate.Config) (outputs, analyze.Options, gate.Options, error) {
	o := gate.Options{Version: version, Choices: flagNames}
	var err error
	if o.Now, err = madeAt(); err != nil {
		return nil, analyze.Options{}, o, err
	}
	if o.FailOn, err = report.ParseSeverity(f.failOn); err != nil {
		return nil, analyze.Options{}, o, usage("", "--fail-on: %v", err)
	}
	outputs, options, err := f.diffFlags.parse()
	if err != nil {
		return nil, options, o, err
	}
	if f.steps == "" {
		options.Steps = c.Select.Steps.Window()
	} else {
		c.Select.Steps, _ = gate.ParseRange(f.steps) // which the flags have accepted
	}
	if options.Normalization == "" {
		options.Normalization = normalization.Mode(c.Job.Normalization)
	}
	declared := slices.Concat(c.Job.Communication, f.communication)
	if options.Communication, err = parseCommunication(declared); err != nil {
		return nil, options, o, err
	}
	if options.PeakBandwidth == 0 {
		options.PeakBandwidth = c.Job.PeakBandwidth
	}
	return outputs, options, o, nil
}

// readConfig reads the configuration that a flag names, else the nearest one upward, else
// that of the preset recommended. It returns the file, empty for none.
func readConfig(name string) (gate.Config, string, error) {
	if name == "" {
		var err error
		if name, err = findConfig(); err != nil {
			return gate.Config{}, "", err
		}
	}
	if name == "" {
		c, _ := gate.Preset("gaprof:recommended")
		return c, "", nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return gate.Config{}, name, usage("", "--config: %v", err)
	}
	c, err := gate.Parse(name, text, ruleIDs())
	if err != nil {
		return c, name, usage("gaprof explain --schema config; docs/metrics.md", "%w", err)
	}
	return c, name, nil
}

// findConfig looks for the configuration from the working directory upward.
func findConfig() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		name := filepath.Join(dir, gate.ConfigFile)
		if info, err := os.Stat(name); err == nil && !info.IsDir() {
			return name, nil
		}
		if filepath.Dir(dir) == dir {
			return "", nil
		}
		dir = filepath.Dir(dir)
	}
}

// readBaseline reads the reports that a baseline is made of.
func readBaseline(s streams, paths []string, quiet bool) ([]*report.Report, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	files, again, err := tracefile.ExpandOnce(paths)
	if err != nil {
		return nil, err
	}
	if !quiet {
		sayAgain(s, again)
	}
	var reports []*report.Report
	for _, file := range files {
		if file == tracefile.Stdin {
			return nil, usage("", "a baseline is a file, not the standard input")
		}
		r, err := openReport(s, file)
		if err == nil && r == nil {
			err = &codeError{code: exitInput, err: fmt.Errorf("%s: a baseline is a report, and this is none", file),
				hint: "write it with gaprof analyze --format json -o FILE"}
		}
		if err != nil {
			return nil, err
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// writeCheck writes every output, and for the format github the summary too.
func writeCheck(s streams, list outputs, c render.Checked, o render.Options) error {
	if err := writeAs(s, list, render.Checks, c, o); err != nil {
		return err
	}
	return list.summary(func(w io.Writer) error { return render.CheckMarkdown(w, c, o) })
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
