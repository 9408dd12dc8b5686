package analyze

import (
	"github.com/gaprof/gaprof/analyze/calibration"
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/whatif"
)

// Reduced is all that a report needs of one trace: a value that can be written down and
// read back, and holds no reference into the trace. Only for replays the trace has to be at
// hand: an [Analysis] keeps small ones, and what was read back has none.
type Reduced struct {
	File   string        // its name
	Format string        // that the reader took the file for
	Bytes  int64         // of the file as stored
	Events int64         // of the trace
	Ranks  []ReducedRank // those with events; several where a file was merged from several ranks
}

// ReducedRank is what a report needs of one rank of a trace.
type ReducedRank struct {
	Facts    *facts.Rank      // never nil
	Kernels  []report.Kernel  // the largest; the number of the rank is not in them yet
	Timeline *report.Timeline // nor in this; nil unless asked for, and where no step has a device window

	Memory []report.MemorySeries // nor in these; none unless asked for
	Graph  *whatif.Rank          // nil unless asked for

	Samples *calibration.Samples // of the machine; nil unless asked for

	graph func() *whatif.Rank // makes Graph of the trace, which it keeps; nil where that is gone
}

// placed is what is kept of a trace, with its place among the others.
type placed struct {
	*Reduced
	place int
}
