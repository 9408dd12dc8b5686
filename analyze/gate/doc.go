// Package gate decides whether reports keep what a configuration asks of them: budgets,
// which are absolute, and regressions against a baseline.
//
// Structure (counts, bytes, launch sites) is exact, and one value decides. Times are
// compared by medians for each kind of step, and below compare.Few steps of a kind they
// decide nothing. What damaged input touches decides nothing either: a gate is never
// green on bad data. Values come from reports alone; metrics.go holds the one table of
// them, which validates configurations and makes docs/metrics.md.
//
// Where things are:
//
//	check.go     Check: every row judged, then one verdict
//	conclude.go  rows counted for the verdict
//	judge.go     one budget on its values
//	regress.go   one regression on the values of both sides
//	findings.go  findings: those that the command asks for, and those that are new
//	result.go    Result and Row, the contract gaprof.check/1
//	config.go    Config; limits.go what it asks of a metric, presets.go those that it may extend
//	parse.go     a configuration read from YAML, with errors that name line and column
//	yaml.go      nodes of YAML; schema.go the JSON Schemas of configuration and result
//	metrics.go   the table of metrics
//	figures.go   what metrics read from steps, and recording.go from a whole report
//	samples.go   several values made one
//	values.go    units, and values as people write them
//	health.go    which damage touches which metric
//	select.go    the steps that a configuration selects
//	choices.go   what a caller calls its choices
//	bench.go     values of steps as Go benchmarks have them
package gate
