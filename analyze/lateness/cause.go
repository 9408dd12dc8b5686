package lateness

import (
	"github.com/gaprof/gaprof/analyze/ranks"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// Cause is why a rank is late.
type Cause uint8

// The causes of lateness. Those of idle time are what the rank's own device waits for.
const (
	DataLoading        Cause = iota // it waits for a batch
	Synchronization                 // its host waits for its device
	MemoryManagement                // memory is allocated or freed
	Compilation                     // code is compiled or loaded
	Profiler                        // the profiler holds up its host
	LaunchBound                     // it waits for one launch after the other
	HostStall                       // for a millisecond or more its host launches nothing
	GarbageCollection               // of those two, while Python collects garbage
	OtherIdle                       // idle for other reasons: the host is in time
	SlowerKernels                   // the same kernels take longer
	MoreWork                        // it runs more kernels, or larger ones
	MemoryCopies                    // copies and memsets that nothing hides
	OtherRank                       // it waits for a rank of another group
	OtherCommunication              // exposed communication of other groups, without waiting
	NumCauses
	Unknown = NumCauses // no cause is half of the lateness, or the rest of it is not explained
)

var causeNames = [NumCauses + 1]string{
	"data_loading", "synchronization", "memory_management", "compilation", "profiler", "launch_bound", "host_stall",
	"garbage_collection", "other_idle", "slower_kernels", "more_work", "memory_copies", "other_rank",
	"other_communication", "unknown",
}

func (c Cause) String() string { return causeNames[c] }

// Lateness is why a rank is late. Times are in ns per optimizer step of the late rank, over
// the steps in which it was compared.
type Lateness struct {
	Rank   int          // position among the sources
	Group  *ranks.Group // in which it keeps the others waiting most
	Cause  Cause
	NS     int64            // of Cause: what the rank spends on it beyond the median of the others; 0 unknown
	Own    int64            // what the rank spends on it; of compute, all kernels
	Others int64            // what the others do, their median
	Late   int64            // how much longer the others stand in collectives of the group
	Parts  [NumCauses]int64 // what the rank spends beyond the others; with Rest they sum to Late
	Rest   int64            // what is not explained

	Steps, LateIn int   // steps that were compared, and those of them in which Cause makes it late
	Around        []int // the steps around what was compared, as indices into Rank.Steps, ascending

	Kernels  Kernels   // how its compute differs
	WaitsFor int       // OtherRank: the source that it waits for, -1 unknown
	WaitsIn  int32     // the collective of the rank in which it waits longest for that
	Because  *Lateness // why that is late; nil where nothing is known of it
}

// Kernels compares the compute kernels of the late rank with those of the others, their median.
type Kernels struct {
	Count, OthersCount int64          // launches per step
	NS, OthersNS       int64          // durations per step, summed
	SameNS, SameOthers int64          // of kernels that both run, ns per step for as many launches as both have
	Larger             bool           // its kernels are launched with larger shapes
	Shapes             bool           // shapes are known; else a kernel that takes longer may be larger
	Most               timeline.Event // the longest launch of the kernel that adds most; no name without any
	MostMean           int64          // its mean duration in ns
	MostOthers         int64          // that of the others, 0 where they do not run it
}
