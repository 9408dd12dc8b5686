// Package gaprof reads the traces that a training run already writes and says what the gap
// between backward() and optimizer.step() costs, whether the gradients in it are right, and
// what to change. It is the front door for Go programs; the command of the same name is
// cmd/gaprof.
//
// # Reading
//
// [Open] reads the trace of a file, [Read] that of a stream, [OpenAll] those of folders and
// patterns. A [trace.Trace] is one recording of one process or one rank. Its events can be
// ranged over, all or by category, and their arguments are found by name:
//
//	t, err := gaprof.Open("rank0.json.gz")
//	...
//	for e := range t.Events(trace.CatKernel) {
//		fmt.Println(e.Start(), e.Dur(), e.Name(), e.TextByName("stream"))
//	}
//
// Files are told by their content: Chrome and Kineto JSON and the text form, compressed or
// not. Damage is repaired and counted in Trace.Problems.
//
// # Analyzing
//
// [Analyze] reads the traces of one run, as many as there are ranks, and returns a
// [report.Report]: steps, communication, passes over gradients, and findings with what they
// cost. The zero value of [Options] runs every rule on every rank and step. [AnalyzeTraces]
// does the same with traces that are in memory. [Diff] says what changed between two
// reports.
//
// A rule is a plain value. One's own run beside those of gaprof when they are added to
// [Rules]:
//
//	r, err := gaprof.Analyze([]string{"run"}, gaprof.Options{Rules: append(gaprof.Rules(), mine)})
package gaprof
