// Package plots draws the figures of a report: SVG by gonum.org/v1/plot, with a title,
// units, a legend and a text that says the same to those who cannot see them.
//
// A figure is drawn to a width, because a drawing that is scaled to a phone has letters
// that nobody can read. The same report gives the same bytes. What a figure holds is
// bounded by what its width can show, however long the recording was.
//
// Where things are:
//
//	plots.go     Of, and the sections that have figures
//	figure.go    Figure: the drawing with title, legend and text, made an element of a page
//	axes.go      scales, ticks and names along them
//	palette.go   colours, light and dark
//	passes.go    passes over the gradients against the floor of the memory
//	overlap.go   the hidden part of collectives against their size
//	tokens.go    tokens of each rank
//	ledger.go    where the time of steps goes
//	timeline.go  one step by stream
//	view.go      the same as data
//	memory.go    memory over one step
//	waits.go     waiting between ranks
//	predicted.go one step before and after a change
package plots

import "github.com/gaprof/gaprof/analyze/report"

// The sections that have figures.
const (
	Ledger   = "ledger"
	Passes   = "passes"
	Overlap  = "overlap"
	Tokens   = "tokens"
	Waits    = "waits"
	Timeline = "timeline"
	Memory   = "memory"
	WhatIf   = "whatif"
)

// table is every plot; a new one is a row. A plot without anything to show gives none.
var table = []struct {
	section string
	figures func(*report.Report) []Figure
}{
	{Ledger, ledger},
	{Passes, passes},
	{Overlap, overlap},
	{Tokens, tokens},
	{Timeline, timelines},
	{Memory, memories},
	{Waits, waits},
	{WhatIf, predicted},
}

// Sections lists the sections in the order of the table.
func Sections() []string {
	names := make([]string, len(table))
	for i, row := range table {
		names[i] = row.section
	}
	return names
}

// Of returns the figures of one section.
func Of(r *report.Report, section string) []Figure {
	for _, row := range table {
		if row.section == section {
			return row.figures(r)
		}
	}
	return nil
}
