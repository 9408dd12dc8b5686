// Package render draws a report.Report: text for a terminal, JSON by the contract, CSV
// for a sheet, Markdown for a pull request, a page for a browser; and in the same forms
// the difference between two runs, the result of a gate and the audit of a
// normalization. It computes nothing that the report does not hold.
//
// Names in a report come from the trace and are not trusted: each format escapes
// them in its own way.
//
// Where things are:
//
//	options.go      Options
//	formats.go      Formats: the one table of what can be written in which form
//	draw.go         lines, columns and tables for a terminal
//	table.go        what a table is, and one in Markdown
//	figures.go      figures in words
//	escape.go       names that are not trusted
//
// A report:
//
//	text.go         for a terminal: the headline, the verdict, then tables
//	tables.go       steps, collectives, kernels, health
//	gradients.go    passes over the gradients, accumulation
//	ranks.go        waiting between ranks
//	json.go, csv.go, markdown.go, github.go, gobench.go
//	section.go      what a page and its sections consist of
//	page.go         the page: its sections
//	answers.go      the three questions that the page answers
//	html.go         the page for a browser
//	pagemd.go       the page in Markdown, with files of figures
//
// What is not a report:
//
//	diff.go         the difference between two runs, and difftext.go its sentences
//	check.go        the result of a gate
//	norm.go         the audit of a normalization, and normtensors.go its tensors
package render
