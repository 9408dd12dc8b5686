// Package gate decides whether reports keep what a configuration asks of them: budgets,
// which are absolute, and regressions against a baseline.
//
// Structure (counts, bytes, launch sites) is exact, and one value decides. Times are
// compared by medians for each kind of step, and below compare.Few steps of a kind they
// decide nothing. What damaged input touches decides nothing either: a gate is never
// green on bad data. Values come from reports alone; metrics.go holds the one table of
// them, which validates configurations and makes docs/metrics.md.
package gate
