// Command mutate asks whether the tests of a package would notice a fault: it changes
// one thing in the code at a time, runs the tests of the package and of those that use
// it, and prints the changes that no test noticed.
//
//	go run -C tools ./mutate [-n 60] [-seed 1] [-with ./analyze,./analyze/rules] ./analyze/facts
//
// What is changed is in operators.go. All mutants of a sample are in one binary: each
// changed value or statement is a choice by a number that an environment variable says,
// and go/types tells beforehand which changes compile (site.go, schema.go). The texts
// reach the compiler through `go test -overlay`; the tree is never touched. A change that
// does not compile is no mutant and another one takes its place; so for the few that
// cannot be chosen when the program runs, as the length of an array or an exported
// constant: the result counts them.
//
// First every test runs alone without a mutant, which says what it reaches and how long it
// takes; then each mutant meets the tests that reach it, quick ones first. A test that
// fails, panics, needs over 4 GiB or runs five times as long as without the change has
// noticed it. Tests run with -short; those that take over -slow run after the others,
// those over -limit not at all. A mutant that no test reaches has survived.
//
// Survivors that change nothing anybody could see are listed in equivalent.txt with the
// reason; they are counted apart and are in no score.
package main
