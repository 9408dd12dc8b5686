// Package rules is the list of what gaprof looks for, one file a rule.
//
// A rule earns its place by correctness, frequency and precision: one that cries
// wolf costs more than it finds. Rules that were considered and left out are listed in
// docs/rules/README.md with the evidence they would need.
//
// A file is named after the rule in it; ac001.go has AC004 too, which asks of FSDP what
// AC001 asks of DDP. What several rules share:
//
//	all.go       All, the order in which rules may claim time; Find
//	gradient.go  gradient passes: needs, what they cost, evidence
//	exposed.go   exposed communication: claims, evidence, launch sites
//	exposure.go  the rules about exposed communication, one a kind: where in a step it lies
//	reductions.go  reductions of gradients that are launched only after backward
//	steady.go    whether a straggler is one in step after step
//	nm.go        steps whose tokens count wrongly
//	cost.go      a cost in words
//	examples.go  the traces in examples/, three a rule
//	page.go      the page of a rule, for explain and docs/rules
//	pages.go     its change as code, thresholds, cost: pages/, a file a rule, run by interop/changes.py
package rules
