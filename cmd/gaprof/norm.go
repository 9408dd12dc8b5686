package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/render"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
	"github.com/gaprof/gaprof/internal/ingest"
)

// normFlags are the flags of norm.
type normFlags struct {
	runFlags
	against string
	oracle  string
	failOn  string
}

func newNormCommand(s streams) *cobra.Command {
	f := normFlags{runFlags: runFlags{outputFlags: outputFlags{names: render.Audits.Names()}}}
	cmd := &cobra.Command{
		Use:   "norm PATH... | --oracle DIR",
		Short: "normalization audit: the weight of each token, losses, gradients",
		Long: `norm says what each token of a step really counts in the gradients, against 1/N,
the weight that all N tokens should have; which average of the losses is logged and
which is optimised; and how gradients differ from right ones, with the cause.

A PATH is what a run has written: traces, a token log (CSV or JSON lines), a loss log
(.jsonl), gradients (.safetensors), or a folder that holds them. --against names a
folder of gradients of a right run from the same weights on the same data. With
gradients of single micro-batches (rank0-step0-micro0.safetensors) none is needed.

--oracle runs the reference trainer on the inputs of a folder and compares what each
loop gives with what is expected there.`,
		Example: "  gaprof norm run\n  gaprof norm run --against reference-run/gradients\n" +
			"  gaprof norm tokens.jsonl loss.jsonl --format json",
		RunE: func(cmd *cobra.Command, args []string) error { return runNorm(cmd.Context(), s, args, f) },
	}
	flags := cmd.Flags()
	f.addUntimed(flags)
	flags.StringVar(&f.against, "against", "", "folder of gradients to compare with, or a run's folder that holds one")
	flags.StringVar(&f.oracle, "oracle", "",
		"folder of NAME_inputs.json and NAME_expected_f64.json: run the reference trainer and compare")
	flags.StringVar(&f.failOn, "fail-on", "off",
		"exit with 1 if a finding has at least this severity: off, note, warn, error")
	return cmd
}

// runNorm audits a run, or runs the oracle.
func runNorm(ctx context.Context, s streams, paths []string, f normFlags) error {
	if err := f.check(paths); err != nil {
		return err
	}
	if f.oracle != "" {
		return runOracles(ctx, s, f.oracle)
	}
	return auditRun(s, paths, f)
}

// check rejects flags and paths that do not go together.
func (f *normFlags) check(paths []string) error {
	switch {
	case f.oracle != "" && len(paths) > 0:
		return usage("--oracle brings its own data", "--oracle takes no paths")
	case f.oracle == "" && len(paths) == 0:
		return usage("gaprof norm PATH..., or gaprof norm --oracle DIR", "no path given")
	}
	return f.inputFlags.check()
}

// normRules are the rules on normalization, and those whose findings overrule logs.
func normRules() []analyze.Rule {
	return slices.DeleteFunc(rules.All(), func(r analyze.Rule) bool {
		return !strings.HasPrefix(r.ID, "NM") && !r.Weighs
	})
}

// auditRun audits what a run has written.
func auditRun(s streams, paths []string, f normFlags) error {
	threshold, err := report.ParseSeverity(f.failOn)
	if err != nil {
		return usage("", "--fail-on: %v", err)
	}
	outputs, err := f.outputFlags.parse()
	if err != nil {
		return err
	}
	machine, err := f.machineFlags.parse()
	if err != nil {
		return err
	}
	options, err := f.selectFlags.parse(normRules())
	if err != nil {
		return err
	}
	if err := f.readTokens(&options); err != nil {
		return err
	}
	options.Version = version
	material, err := gather(paths, &options, machine)
	if err != nil {
		return err
	}
	if !f.quiet {
		sayPassed(s, material.passed)
	}
	report, findings, err := audit(s, material, f, machine, options)
	if err != nil {
		return err
	}
	failed := failing(findings, threshold)
	if report.Exit.Reason = "ok"; failed != nil {
		report.Exit = normalization.Exit{Code: exitGate, Reason: failed.Error()}
	}
	err = writeAs(s, outputs, render.Audits, report, render.Options{Quiet: f.quiet, Choices: flagNames})
	return errors.Join(err, failed)
}

// nothingToAudit says what an audit lacks.
func nothingToAudit(m *material, o analyze.Options) error {
	what := "neither token counts nor gradients to compare"
	if o.UniformTokens {
		what = "--tokens uniform says that all ranks have equally many tokens, not how many, and neither the traces " +
			"nor a log count those of each micro-batch"
	}
	return &codeError{
		code: exitInput,
		err:  fmt.Errorf("%s: nothing to audit: %s", strings.Join(m.files, ", "), what),
		hint: "pass --tokens FILE, write tokens.jsonl beside the traces, or compare gradients with --against",
	}
}

// audit compares gradients, decides how each step is normalized, and describes it all.
func audit(
	s streams, m *material, f normFlags, machine ingest.Limits, o analyze.Options,
) (*normalization.Report, []report.Finding, error) {
	audit := normalization.NewReport(version, m.files)
	gradients, err := compareGradients(m, f.against, &o)
	if err != nil {
		return nil, nil, err
	}
	audit.AddGradients(gradients)
	var traced *analyze.Result
	if len(m.traces) > 0 {
		if traced, err = analyzePaths(s, m.traces, f.inputFlags, machine, o); err != nil {
			return nil, nil, err
		}
	}
	findings := analyze.AuditNormalization(audit, traced, o)
	if audit.Empty() && traced != nil && len(traced.Report.Source.Ranks) == 0 && len(m.gradients) == 0 {
		return nil, nil, nothingToAnalyse(m.traces, f.selectFlags)
	}
	if audit.Empty() {
		return nil, nil, nothingToAudit(m, o)
	}
	audit.Conclude()
	audit.NameChoices(flagNames)
	return audit, findings, nil
}
