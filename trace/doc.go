// Package trace is the model that every reader fills and every analysis reads:
// one recording of one process or one rank, as equal-length columns.
//
// A Trace is immutable and only a Builder makes one. Rows are grouped by track
// and, on a track, ordered by start, then longer first, so that a parent stands
// before its children. All times are integer nanoseconds on the clock of the
// recording; intervals are half-open, [Start, Start+Dur).
//
// Building never loses an event in silence: each kind of damage is a row of the
// table in problem.go and is counted in Trace.Problems with its first place.
package trace
