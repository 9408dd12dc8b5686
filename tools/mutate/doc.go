// Command mutate asks whether the tests of a package would notice a fault: it changes
// one thing in the code at a time, runs the tests of the package and of those that use
// it, and prints the changes that no test noticed.
//
//	go run -C tools ./mutate [-n 60] [-seed 1] [-with ./analyze,./analyze/rules] ./analyze/facts
//
// What is changed is in operators.go. A change reaches the compiler through `go test
// -overlay`; the tree is never touched. A change that does not compile is no mutant and
// another one takes its place. A test that fails, panics, needs over 4 GiB or runs five
// times as long as without the change has noticed it. Tests run with -short; those that
// take over -slow run after the others, those over -limit not at all. Only tests that run
// a changed line are asked, which one run with coverage beforehand tells.
//
// Survivors that change nothing anybody could see are listed in equivalent.txt with the
// reason; they are counted apart and are in no score.
package main
