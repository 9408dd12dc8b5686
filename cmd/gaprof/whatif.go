package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/render"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/whatif"
	"github.com/gaprof/gaprof/internal/ingest"
)

// whatIfFlags are the flags of whatif.
type whatIfFlags struct {
	inputFlags
	machineFlags
	selectFlags
	outputFlags
	edits   []string
	table   string // an operation table instead of traces
	machine ingest.Limits
}

func newWhatifCommand(s streams) *cobra.Command {
	f := whatIfFlags{outputFlags: outputFlags{names: render.Predictions.Names()}}
	cmd := &cobra.Command{
		Use:   "whatif PATH... [--edit E[,E] | list | none] | --table FILE",
		Short: "what a change would gain, by replaying the run with it",
		Long: `whatif rebuilds from the traces of one or all ranks of a run what waits for what,
replays that, changes it, and says what a step would take and how sure that is.

Without --edit it predicts each change that applies to the run and ranks them by
gain. --edit E,E predicts several together; --edit none only says how well the
replay fits; --edit list says which there are. -o FILE writes the predicted timeline as a
trace, one file a rank where {} in its name stands for the rank. A run without device activity,
launch calls or correlation ids cannot be replayed: exit code 3. Without a complete
step, and where what --edit names does not apply to the run: exit code 4.

--table reads a table of the operations of a job instead, Parquet or CSV, with one row for
each operation of each step on a worker: step, dp_rank, stage, rank, optype, start_ts and
duration in seconds, seq_id, mc, gmc (docs/whatif-table.md). It replays the job as it
would be if every operation of a type took the same time, and says what the slowness of
types, stages, data parallel ranks and workers costs, by the definitions of
"Understanding Stragglers in Large Model Training Using What-if Analysis" (OSDI 2025).`,
		Example: "  gaprof whatif rank0.json.gz\n  gaprof whatif traces/ --edit no-straggler=1\n" +
			"  gaprof whatif rank0.json.gz --edit hide-data-loading,drop-host-sync --format json\n" +
			"  gaprof whatif --table trace.parquet",
		RunE: func(_ *cobra.Command, args []string) error { return runWhatIf(s, args, f) },
	}
	flags := cmd.Flags()
	f.inputFlags.add(flags)
	f.machineFlags.add(flags)
	f.outputFlags.add(flags)
	flags.StringVar(&f.ranks, "ranks", "", "only these ranks: 0,4-7")
	flags.StringVar(&f.rankRegex, "rank-regex", "", "regular expression whose first group is the rank in a file name")
	flags.BoolVar(&f.alignClocks, "align-clocks", false,
		"subtract each rank's clock residual before waiting is measured; always done between hosts")
	addCommunication(flags, &f.communication)
	flags.StringArrayVar(&f.edits, "edit", nil, "E or E,E: predict these together; may be repeated; list or none")
	flags.StringVar(&f.table, "table", "", "operation table, Parquet or CSV")
	return cmd
}

func runWhatIf(s streams, paths []string, f whatIfFlags) error {
	if f.table != "" {
		if len(paths) > 0 || len(f.edits) > 0 {
			return usage("", "--table takes neither paths nor --edit")
		}
		return whatifTable(s, f)
	}
	combination, list, err := f.combination()
	if err != nil {
		return err
	}
	if list && len(paths) == 0 {
		return listEdits(s)
	}
	if len(paths) == 0 {
		return usage("gaprof whatif PATH..., or gaprof whatif --table FILE", "no path and no table given")
	}
	predicted := f.file
	f.file = ""
	outputs, options, err := f.parse()
	if err != nil {
		return err
	}
	if err := checkPredicted(predicted, combination, f.force); err != nil {
		return err
	}
	result, err := analyzePaths(s, paths, f.inputFlags, f.machine, options)
	if err != nil {
		return err
	}
	made, predictions, err := predict(result, combination, f.selectFlags)
	if err != nil {
		return err
	}
	refused := refusal(made, f.edits)
	if predicted != "" && refused == nil {
		if err := writePredicted(s, predicted, result, predictions[0], f); err != nil {
			return err
		}
	}
	drawn := render.Options{Quiet: f.quiet, Choices: flagNames, Inputs: [][]string{paths}}
	err = writeAs(s, outputs, render.Predictions, made, drawn)
	return cmp.Or(err, refused)
}

// refusal is the error that says why what --edit names does not apply: the run was replayed, but the
// question has no answer. Without --edit that some do not apply is part of the answer.
func refusal(made *report.WhatIf, asked []string) error {
	made.Exit = report.Exit{Code: exitOK, Reason: "ok"}
	if len(asked) == 0 || len(made.Edits) == 0 || made.Edits[0].Legal {
		return nil
	}
	e := &made.Edits[0]
	made.Exit = report.Exit{Code: exitInconclusive, Reason: e.Edit + ": " + e.Reason}
	return &codeError{exitInconclusive, errors.New(made.Exit.Reason), "gaprof whatif PATH lists what applies"}
}

// combination reads the edits: nil for each by itself.
func (f *whatIfFlags) combination() (combination [][]whatif.Use, list bool, err error) {
	text := strings.Join(f.edits, ",")
	switch text {
	case "":
		return whatif.Each(), false, nil
	case "list":
		return whatif.Each(), true, nil
	case "none":
		return nil, false, nil
	}
	uses, err := whatif.Parse(f.edits)
	if err != nil {
		return nil, false, usage(nearEdit(f.edits), "--edit: %v", err)
	}
	return [][]whatif.Use{uses}, false, nil
}

// nearEdit is the hint for texts of edits of which one is unknown.
func nearEdit(texts []string) string {
	var names []string
	for _, e := range whatif.Edits() {
		names = append(names, e.Name)
	}
	for part := range strings.SplitSeq(strings.Join(texts, ","), ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(part), "=")
		if !slices.Contains(names, name) {
			if best := near(name, names); best != "" {
				return "did you mean " + best + "? gaprof whatif --edit list"
			}
		}
	}
	return "gaprof whatif --edit list"
}

// parse checks every flag before any input is read.
func (f *whatIfFlags) parse() (outputs, analyze.Options, error) {
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
	if o, err = f.selectFlags.parse(nil); err != nil {
		return nil, o, err
	}
	o.Version, o.Graph = version, true
	return outputs, o, nil
}

// predict makes the report of the predictions.
func predict(result *analyze.Result, combination [][]whatif.Use, f selectFlags) (
	*report.WhatIf, []*whatif.Prediction, error,
) {
	of, err := reportOfRun(result, f)
	if err != nil {
		return nil, nil, err
	}
	made, list, err := result.World.Report(combination)
	switch {
	case errors.Is(err, whatif.ErrSteps):
		return nil, nil, &codeError{exitInconclusive, err, "record at least three optimizer steps: schedule(active=3)"}
	case err != nil:
		return nil, nil, &codeError{exitInput, err, ""}
	}
	made.Version = version
	made.Files, made.Ranks = of.Source.Files, of.Source.Ranks
	return made, list, nil
}

// listEdits lists all edits.
func listEdits(s streams) error {
	table := whatif.Edits()
	for i := range table {
		e := &table[i]
		name := e.Name
		if e.Arg != "" {
			name += "=" + e.Arg
		}
		fmt.Fprintf(s.out, "%-40s %s\n", name, e.Title)
	}
	return nil
}
