package render

import (
	"github.com/gaprof/gaprof/analyze/render/plots"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/markup"
)

// page is a report as a person reads it from top to bottom: verdict, three questions,
// then the evidence for them. HTML and Markdown with pictures draw the same page. Every
// text in it is safe to print; each form still escapes its own markup.
type page struct {
	run      string // its files; the heading
	headline string
	says     []saying
	top      []bars // the figures of the first screen

	timelines markup.JS // data of a script; "" without one
	sections  []section
}

// section is one part of a page. Empty parts of it are not drawn.
type section struct {
	id, title string
	answer    string // of a question, in a word or two
	words     []string
	figures   []plots.Figure
	tables    []table
	findings  []finding
}

// finding is a finding with its evidence as a table.
type finding struct {
	*report.Finding
	evidence table
}
