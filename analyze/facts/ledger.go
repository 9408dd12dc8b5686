package facts

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

var bucketNames = [NumBuckets]string{"compute", "memory", "reduce_scatter", "all_gather", "all_reduce", "other_communication", "idle"}

func (b Bucket) String() string { return bucketNames[b] }

// BucketOf is the bucket of exposed communication of one kind.
func BucketOf(k Collective) Bucket {
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

// ledger partitions [start, end) of the device's time.
func (d *Device) ledger(start, end int64) Ledger {
	var l Ledger
	l[IdleBucket] = end - start
	for b, set := range d.alone {
		l[b] = set.Within(start, end)
		l[IdleBucket] -= l[b]
	}
	return l
}

// buildSets makes the interval sets of a device from its rows, which are sorted by
// start.
func (c *computer) buildSets(d *Device) {
	var count [IdleBucket]int
	buckets := make([]Bucket, len(d.Rows))
	d.kind = make([]Collective, len(d.Rows))
	for i := range d.Rows {
		d.kind[i] = c.collectiveOf(d, i)
		buckets[i] = c.bucketOf(d, i)
		count[buckets[i]]++
	}
	for b := range d.busy {
		d.busy[b] = newSet(count[b])
	}
	for i, row := range d.Rows {
		d.busy[buckets[i]].add(c.col.Start[row], c.col.Start[row]+c.col.Dur[row])
	}
	for b := range d.alone {
		d.alone[b] = d.without(d.busy[b], Bucket(b))
	}
}

// without is the part of set in which no bucket before b is active.
func (d *Device) without(set *Set, b Bucket) *Set {
	for before := range b {
		set = set.Minus(d.busy[before])
	}
	return set
}

// bucketOf is the bucket of the i-th event of d when nothing else runs.
func (c *computer) bucketOf(d *Device, i int) Bucket {
	if d.kind[i] != NotCommunication {
		return BucketOf(d.kind[i])
	}
	if c.isCompute(d.Rows[i]) {
		return ComputeBucket
	}
	return MemoryBucket
}
