// Package analyze turns facts into findings: what is wrong, what it costs, the
// evidence a person can open in a viewer, and what to change.
//
// A Rule is a plain value; the list of rules is in analyze/rules. Run computes
// the facts of each trace, runs the rules from specific to general over a ledger
// in which each nanosecond can be claimed once, sets severities in one place and
// returns a report.Report, whose JSON form is the contract gaprof.report/1.
package analyze
