package facts

// Bucket is where a nanosecond of a step's device window goes.
type Bucket int

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

// ledger partitions [start, end) of the device's time: what the union of the
// first k sets covers, less what the first k-1 cover, is bucket k.
func (d *Device) ledger(start, end int64) Ledger {
	var l Ledger
	covered := int64(0)
	for b, set := range d.cover {
		n := set.Within(start, end)
		l[b], covered = n-covered, n
	}
	l[IdleBucket] = end - start - covered
	return l
}

// buildSets makes the interval sets of a device from its rows, which are sorted
// by start.
func (c *computer) buildSets(d *Device) {
	d.Compute, d.Memory, d.AllComm = &Set{}, &Set{}, &Set{}
	for k := range d.Comm {
		d.Comm[k] = &Set{}
	}
	for i, row := range d.Rows {
		start, end := c.col.Start[row], c.col.Start[row]+c.col.Dur[row]
		switch kind := c.collectiveOf(d, i); {
		case kind != NotCommunication:
			d.Comm[kind].add(start, end)
			d.AllComm.add(start, end)
		case c.isCompute(row):
			d.Compute.add(start, end)
		default:
			d.Memory.add(start, end)
		}
	}
	var buckets [OtherCommBucket + 1]*Set
	buckets[ComputeBucket], buckets[MemoryBucket] = d.Compute, d.Memory
	for _, k := range Collectives() {
		b := BucketOf(k)
		if buckets[b] == nil {
			buckets[b] = &Set{}
		}
		buckets[b] = buckets[b].Union(d.Comm[k])
	}
	all := &Set{}
	for _, set := range buckets {
		all = all.Union(set)
		d.cover = append(d.cover, all)
	}
}
