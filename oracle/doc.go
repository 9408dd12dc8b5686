// Package oracle reads the folder of an oracle and judges training loops by it. An oracle
// is a set of cases that were computed without gaprof, by a framework that is trusted:
// from which weights and micro-batches a loop starts, and which gradients, losses and
// weights each known way of normalizing, right or wrong, must give.
//
// Two parts of gaprof answer to it and know nothing of each other: the reference trainer
// runs every loop on the inputs, and the audit of normalization names the mistake from the
// gradients alone. That is why it is a package beside both.
//
//	doc.go       this page
//	inputs.go    Head, Inputs: the model, its weights and the data
//	expected.go  Expected: what each loop must give in one precision
//	numbers.go   lists and numbers in which null is NaN
//	read.go      Read: the files of a folder, as cases
//	check.go     what is refused, because it contradicts itself
//	loops.go     Loops: the runs that a case expects something of
//	compare.go   Check: how far the outcome of a run is from what is expected
package oracle
