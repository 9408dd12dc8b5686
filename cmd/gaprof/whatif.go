package main

import (
	"github.com/spf13/cobra"

	"github.com/gaprof/gaprof/analyze/render"
	"github.com/gaprof/gaprof/analyze/straggler"
	"github.com/gaprof/gaprof/analyze/straggler/optable"
)

// whatifFlags are the flags of whatif.
type whatifFlags struct {
	outputFlags
	table string
	quiet bool
}

func newWhatifCommand(s streams) *cobra.Command {
	f := whatifFlags{outputFlags: outputFlags{names: render.Stragglers.Names()}}
	cmd := &cobra.Command{
		Use:   "whatif --table FILE",
		Short: "what a job would gain without slow workers, from a table of its operations",
		Long: `whatif --table reads a table of the operations of a job, Parquet or CSV, with one row for
each operation of each step on a worker: step, dp_rank, stage, rank, optype, start_ts and
duration in seconds, seq_id, mc, gmc (docs/whatif-table.md). It replays the job as it
would be if every operation of a type took the same time, and says what the slowness of
types, stages, data parallel ranks and workers costs, by the definitions of
"Understanding Stragglers in Large Model Training Using What-if Analysis" (OSDI 2025).`,
		Example: "  gaprof whatif --table trace.parquet\n" +
			"  gaprof whatif --table trace.parquet --format json -o result.json",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return runWhatif(s, f) },
	}
	flags := cmd.Flags()
	f.outputFlags.add(flags)
	flags.StringVar(&f.table, "table", "", "operation table, Parquet or CSV")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "the verdict alone, without tables")
	return cmd
}

func runWhatif(s streams, f whatifFlags) error {
	if f.table == "" {
		return usage("gaprof whatif --table FILE", "no table given")
	}
	return whatifTable(s, f)
}

// whatifTable says what slow workers cost the job of a table.
func whatifTable(s streams, f whatifFlags) error {
	outputs, err := f.outputFlags.parse()
	if err != nil {
		return err
	}
	t, err := optable.Read(f.table)
	if err != nil {
		return &codeError{code: exitInput, err: err, hint: "docs/whatif-table.md says what a table holds"}
	}
	r, err := straggler.Analyze(t)
	if err != nil {
		return &codeError{code: exitInput, err: err}
	}
	r.File = f.table
	return writeAs(s, outputs, render.Stragglers, r, render.Options{Quiet: f.quiet, Choices: flagNames})
}
