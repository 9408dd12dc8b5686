// Package normalization says by which weights the tokens of a step got into the gradients,
// against 1/N, the weight that all N of them should have, and names what is wrong.
//
// Everything starts from one formula: the gradient that a rank holds before the
// optimizer's step is the sum over ranks r and micro-batches j of c[r][j] * g[r][j],
// where g[r][j] is the gradient of the summed loss of that micro-batch. The right c is
// 1/N. A normalization is a table of c: a [Mode], which says how micro-batches differ, times
// a [Factor], which is common to all.
//
// # What tells
//
// [Decide] takes the strongest evidence that an [Observation] of a step holds:
//
//  1. its gradients against right ones ([Audit], [GradientSet]), whose deviation is that of
//     one mode and factor;
//  2. the loss that the run logs to follow, which is one average of the losses of
//     micro-batches and no other;
//  3. what the trace shows of the loop: means or sums, what divides them, which counts are
//     reduced;
//  4. the user's word, which proves nothing.
//
// With token counts ([Counts]) a mode and a factor become [Weights]. [Report] is all of it
// for a run, in the form of the contract gaprof.norm/1.
//
// Functions are pure and give the same bytes for the same input; what is not known is NaN
// or nil here, and null in JSON.
//
// # Files
//
//	counts.go       Counts: a step as its token counts
//	mode.go         Mode, and the coefficients of each
//	factor.go       Factor: the multiples that mistakes leave behind
//	weight.go       Weights: what a token counts
//	loss.go         averages of losses, and which one a number is
//	observation.go  Observation: what is known of a step
//	decide.go       Decide: from an Observation to a Decision
//	deviation.go    how two gradients differ
//	predict.go      which mode predicts gradients from those of micro-batches
//	cause.go        Cause: what makes gradients differ
//	gradients.go    Audit: the gradients of one rank and step
//	gradientset.go  GradientSet: the files of a run, and what each is compared with
//	report.go       Report: the contract
//	step.go         Describe: one step of a Report
//	verdict.go      what a Report concludes
//	schema.go       its JSON Schema
package normalization
