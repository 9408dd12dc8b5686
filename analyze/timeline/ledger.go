package timeline

// Bucket is what a nanosecond of a device's time is spent on.
type Bucket uint8

// The buckets in order of priority: of all that are active at an instant, the first gets
// it. Compute comes first because communication behind it costs nothing; what remains for
// the buckets of communication is exposed. IdleBucket is the time in which none is active.
const (
	ComputeBucket       Bucket = iota // kernels that are not communication
	MemoryBucket                      // copies and memsets
	ReduceScatterBucket               // reduce-scatter
	AllGatherBucket                   // all-gather
	AllReduceBucket                   // all-reduce
	OtherCommBucket                   // communication of any other kind
	IdleBucket                        // nothing runs
	NumBuckets                        // the number of buckets
)

var bucketNames = [NumBuckets]string{
	"compute", "memory", "reduce_scatter", "all_gather", "all_reduce", "other_communication", "idle",
}

func (b Bucket) String() string { return bucketNames[b] }

// BucketOf returns the bucket of exposed communication of a kind.
func BucketOf(k CollectiveKind) Bucket {
	switch k {
	case ReduceScatter:
		return ReduceScatterBucket
	case AllGather:
		return AllGatherBucket
	case AllReduce:
		return AllReduceBucket
	}
	return OtherCommBucket
}

// Ledger is a window's time by bucket, in ns. Each nanosecond is in exactly one bucket, so
// the buckets sum to the length of the window, and findings that claim from them can never
// add up to more than the run.
type Ledger [NumBuckets]int64

// Sum returns the length of the window in ns.
func (l Ledger) Sum() int64 {
	var n int64
	for _, v := range l {
		n += v
	}
	return n
}

// Busy says when a device does what, as one set of instants per bucket. It holds no
// reference into the trace. The sets may share memory with each other and are read-only.
type Busy struct {
	Each  [IdleBucket]*Set // when a bucket is active, whatever else runs at the same time
	Alone [IdleBucket]*Set // Each without the instants of earlier buckets: what a ledger counts
}

// Ledger partitions [start, end) of the device's time, in ns. It takes two binary searches
// a bucket, however many events the window holds.
func (b *Busy) Ledger(start, end int64) Ledger {
	var l Ledger
	l[IdleBucket] = end - start
	for bucket, set := range b.Alone {
		l[bucket] = set.Within(start, end)
		l[IdleBucket] -= l[bucket]
	}
	return l
}

// Without returns the part of set in which no bucket before the given one is active. It may
// return set itself.
func (b *Busy) Without(set *Set, bucket Bucket) *Set {
	for before := range bucket {
		set = set.Minus(b.Each[before])
	}
	return set
}
