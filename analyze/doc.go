// Package analyze turns facts into findings: what is wrong, what it costs, the
// evidence a person can open in a viewer, and what to change.
//
// A Rule is a plain value; the list of rules is in analyze/rules. Run computes
// the facts of each trace, runs the rules from specific to general over a ledger
// in which each nanosecond can be claimed once, sets severities in one place and
// returns a report.Report, whose JSON form is the contract gaprof.report/1.
//
// The package is a pipe of functions. An Analysis keeps the facts of each trace; when
// all are there, assemble makes of them a list of Rank, hands it to the function of
// each section of the report, and puts together what these return. No section knows
// another, and nothing is written to after it was handed on.
//
//	analysis.go       Run, Analysis, Result, assemble
//	options.go        Input, Options
//	rank.go           Rank: the facts of a rank and what only he knows who sees all
//	reduce.go         Reduce: what a report needs of a trace, and reduced.go that value
//	number.go         which rank has which number; which ranks and steps were asked for
//	verdict.go        what can be said of a pass over the gradients
//	lead.go           how long before the end of backward communication begins
//	choices.go        what the caller calls its choices, in advice
//	lists.go          empty lists for absent ones
//
// Sections of the report, each from ranks to rows:
//
//	source.go         what was read; the fingerprint of a run
//	health.go         problems, unlinked events
//	steps.go          steps and ledgers
//	communication.go  collectives, overlap, launch sites, groups
//	kernels.go        the largest kernels
//	gradients.go      passes over the gradients, gradient synchronization
//	waits.go          waiting between ranks and how they were matched
//	drawing.go        what figures need of events
//
// How a run is normalized, from traces (observe.go), token counts (tokens.go) and what
// the run wrote beside its traces (logs.go): normalization.go is the section, judge.go
// decides for one step, audit.go serves the command norm.
//
// Rules and what they see:
//
//	rule.go           Rule, Doc
//	needs.go          what a rule cannot do without
//	pass.go           Pass, and claims on the ledger
//	match.go          Matched, what the collectives of all ranks say together
//	cost.go           Cost, what a rule claims by step
//	severity.go       the severity of a finding, from its cost
//	findings.go       rules run, findings in order
package analyze
