// Package facts derives from a trace, once, what rules and reports speak of:
// which rank it is, which device work each host call launched, where optimizer
// steps begin and end, which bucket every nanosecond of a step belongs to, where
// collectives are launched and how much of them is hidden behind compute.
//
// The definitions are those of docs/definitions.md. All times are integer
// nanoseconds, intervals are half-open, and devices are summed, never united.
// What a trace cannot tell is a nil pointer, -1 or Unknown, never a guess. After
// Compute everything here is read-only.
package facts
