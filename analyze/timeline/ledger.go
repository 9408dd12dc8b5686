package timeline

// Bucket is where a nanosecond of a step's device window goes.
type Bucket uint8

// The buckets, by priority: the first that is active has the nanosecond.
const (
	ComputeBucket Bucket = iota
	MemoryBucket
	ReduceScatterBucket
	AllGatherBucket
	AllReduceBucket
	OtherCommBucket
	IdleBucket
	NumBuckets
)

var bucketNames = [NumBuckets]string{
	"compute", "memory", "reduce_scatter", "all_gather", "all_reduce", "other_communication", "idle",
}

func (b Bucket) String() string { return bucketNames[b] }

// BucketOf is the bucket of exposed communication of one kind.
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

// Ledger holds the ns of a window by bucket; they sum to the window's length.
type Ledger [NumBuckets]int64

// Sum is the length of the window in ns.
func (l Ledger) Sum() int64 {
	var n int64
	for _, v := range l {
		n += v
	}
	return n
}

// Busy is when a device does what: sets of instants by bucket. It stands by itself,
// without the trace it was made from.
type Busy struct {
	Each  [IdleBucket]*Set // by bucket, whatever else runs at the same time
	Alone [IdleBucket]*Set // less what the buckets before have: what a ledger counts
}

// Ledger partitions [start, end) of the device's time.
func (b *Busy) Ledger(start, end int64) Ledger {
	var l Ledger
	l[IdleBucket] = end - start
	for bucket, set := range b.Alone {
		l[bucket] = set.Within(start, end)
		l[IdleBucket] -= l[bucket]
	}
	return l
}

// Without is the part of set in which no bucket before the given one is active.
func (b *Busy) Without(set *Set, bucket Bucket) *Set {
	for before := range bucket {
		set = set.Minus(b.Each[before])
	}
	return set
}
