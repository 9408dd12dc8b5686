package main

import (
	"github.com/gaprof/gaprof/analyze/render"
	"github.com/gaprof/gaprof/analyze/straggler"
	"github.com/gaprof/gaprof/analyze/straggler/optable"
)

// whatifTable says what slow workers cost the job of a table.
func whatifTable(s streams, f whatIfFlags) error {
	f.names = render.Stragglers.Names()
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
