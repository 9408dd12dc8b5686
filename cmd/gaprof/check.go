package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/gate"
	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/render"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// checkFlags are the flags of check.
type checkFlags struct {
	diffFlags         // how both sides are read
	baselineFlags     // what they are compared with
	config            string
	failOn            string
	missingRanks      string
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
decide nothing. A baseline is a report that analyze --format json or --write-baseline
wrote; without a configuration the gate then fails where steps became slower, the
structure grew, or a rule finds what it did not find before.

It exits with 1 where a check of severity error fails, and with 4 where it cannot
tell: the trace is damaged, has no complete step, or has far fewer device events than
the baseline; a check of severity error depends on ranks that are missing (times,
findings, token weights), unless --ranks or --missing-ranks ok asks for those that
there are; the baseline is of another device, world size, framework, model or
accumulation; or a check of severity error is undecidable.`,
		Example: "  gaprof check traces/ --baseline main.json\n" +
			"  gaprof check traces/ --baseline main.json --baseline-missing ok --write-baseline main.json\n" +
			"  gaprof check rank0.json.gz --format text --format github=annotations.txt\n" +
			"  gaprof analyze traces/ --format json -o main.json",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runCheck(s, args, f) },
	}
	flags := cmd.Flags()
	f.runFlags.add(flags)
	f.baselineFlags.add(flags)
	flags.StringVar(&f.config, "config", "",
		"configuration; else "+gate.ConfigFile+" in the working directory or above it")
	flags.StringVar(&f.failOn, "fail-on", "off",
		"also fail if a finding has at least this severity: off, note, warn, error")
	flags.StringVar(&f.missingRanks, "missing-ranks", "inconclusive",
		"if there are fewer ranks than the run has: inconclusive, or ok")
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
	if err := f.asks(&config, file, checkOptions.FailOn); err != nil {
		return err
	}
	defer f.machine.Apply()()
	s.in = bufio.NewReader(s.in) // peeked at: a report and a trace begin differently
	sides, err := f.read(s, paths, options, outputs)
	if err != nil {
		return f.undecided(s, err)
	}
	checkOptions.Config, checkOptions.FirstRun = file, len(sides.gone) > 0 && len(sides.baseline) == 0
	result := gate.Check(config, sides.reports, sides.baseline, checkOptions)
	if err := f.keep(s, sides, f.force, result); err != nil {
		return err
	}
	if result.Verdict == gate.Inconclusive && f.allowInconclusive {
		result.Exit = report.Exit{Reason: result.Exit.Reason + "; allowed"}
	}
	drawn := render.Options{Quiet: f.quiet, Choices: flagNames, Rule: rulePage, Inputs: [][]string{paths}}
	checked := render.Checked{Result: result, Reports: sides.reports}
	if err := writeCheck(s, outputs, checked, drawn); err != nil {
		return err
	}
	if result.Exit.Code == exitOK {
		return nil
	}
	return &codeError{code: result.Exit.Code, err: errors.New("gate " + result.Exit.Reason)}
}

// asks returns an error where nothing is asked for.
func (f *checkFlags) asks(c *gate.Config, file string, failOn report.Severity) error {
	compares := (len(c.Regressions) > 0 || f.onlyNew) && len(f.baseline) > 0
	if len(c.Budgets) == 0 && !compares && failOn == report.Off {
		return usage("write budgets, extend gaprof:recommended, or pass --baseline",
			"%s asks for nothing that could be checked", file)
	}
	return nil
}

// checkSides is what check reads: the run and its baseline.
type checkSides struct {
	reports, baseline []*report.Report
	gone              []string // paths of the baseline that name nothing
	target            string   // file to write a baseline to; empty: none
}

// read reads both sides. What is to be written is looked at before anything is read.
func (f *checkFlags) read(s streams, paths []string, o analyze.Options, list outputs) (c checkSides, err error) {
	there, gone := f.present()
	c.gone = gone
	used, err := baselineFiles(s, there, f.quiet)
	if err != nil {
		return c, err
	}
	if c.target, err = f.target(f.force, used, list); err != nil {
		return c, err
	}
	if c.reports, err = readSide(s, paths, o, f.diffFlags); err != nil {
		return c, err
	}
	if c.target != "" && len(c.reports) != 1 {
		return c, usage("pass the traces of one run",
			"--write-baseline writes one report, and these are %d", len(c.reports))
	}
	c.baseline, err = readBaseline(s, used, f.reports)
	return c, err
}

// parse checks every flag before any input is read. What the configuration says of steps
// and memory gives way to flags.
func (f *checkFlags) parse(c *gate.Config) (outputs, analyze.Options, gate.Options, error) {
	o := gate.Options{Version: version, Choices: flagNames, AnyRanks: f.missingRanks == "ok" || f.ranks != "",
		OnlyNew: f.onlyNew}
	err := f.baselineFlags.check()
	if err != nil {
		return nil, analyze.Options{}, o, err
	}
	if f.missingRanks != "ok" && f.missingRanks != "inconclusive" {
		return nil, analyze.Options{}, o, usage("", "--missing-ranks: %q is neither inconclusive nor ok",
			f.missingRanks)
	}
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
	asked := name != ""
	if !asked {
		var err error
		if name, err = findConfig(); err != nil {
			return gate.Config{}, "", err
		}
	}
	if name == "" {
		c, _ := gate.Preset("gaprof:recommended")
		return c, "", nil
	}
	text, err := bounded.ReadFile(name, gate.FileLimit(asked))
	if err != nil {
		return gate.Config{}, name, usage(hintOf(err), "%s%w", configFlag(asked), err)
	}
	c, err := gate.Parse(name, text, ruleIDs())
	if err != nil {
		return c, name, usage("gaprof explain --schema config; docs/metrics.md", "%w", err)
	}
	return c, name, nil
}

// configFlag begins a message about a configuration that was asked for.
func configFlag(asked bool) string {
	if asked {
		return "--config: "
	}
	return ""
}

// findConfig looks for the configuration from the working directory upward.
func findConfig() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		name := filepath.Join(dir, gate.ConfigFile)
		if info, err := os.Lstat(name); err == nil && !info.IsDir() { // a broken link is no absence
			return name, nil
		}
		if filepath.Dir(dir) == dir {
			return "", nil
		}
		dir = filepath.Dir(dir)
	}
}

// noBaseline adds what to do on the first run, when there is nothing to compare with yet.
func noBaseline(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	const hint = "for the first run: --baseline-missing ok passes without it, and --write-baseline FILE writes it"
	return &codeError{code: exitInput, err: err, hint: hint}
}

// baselineFiles are the files that a baseline is made of.
func baselineFiles(s streams, paths []string, quiet bool) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	files, again, err := tracefile.ExpandOnce(paths)
	if err == nil {
		if gone := slices.IndexFunc(files, isGone); gone >= 0 {
			err = fmt.Errorf("%s: %w", files[gone], fs.ErrNotExist)
		}
	}
	if err != nil {
		return nil, noBaseline(err)
	}
	if !quiet {
		sayAgain(s, again)
	}
	if slices.Contains(files, tracefile.Stdin) {
		return nil, usage("", "a baseline is a file, not the standard input")
	}
	return files, nil
}

// readBaseline reads the reports that a baseline is made of.
func readBaseline(s streams, files []string, reader *reportReader) ([]*report.Report, error) {
	var reports []*report.Report
	for _, file := range files {
		r, err := reader.open(s, file)
		if err == nil && r == nil {
			err = &codeError{code: exitInput, err: fmt.Errorf("%s: a baseline is a report, and this is not one", file),
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

// rulePage is what the page of a rule says.
func rulePage(id string) (render.RuleText, bool) {
	rule, ok := rules.Find(id)
	d := rule.Doc
	return render.RuleText{Title: d.Title, Why: d.Why, Fix: d.Fix, Before: d.Before, After: d.After}, ok
}
