package facts

// Overlap says how long some communication ran and how much of it was hidden.
// Figures of several devices are sums. All in ns.
type Overlap struct {
	Count      int
	Busy       int64 // length of the union of the kernels
	Overlapped int64 // of that, together with compute kernels
	WithMemory int64 // of that, together with compute kernels, copies or sets
}

// Exposed is the busy time that no compute kernel covers, in ns.
func (o Overlap) Exposed() int64 { return o.Busy - o.Overlapped }

// Ratio is Overlapped / Busy; ok is false where nothing was busy.
func (o Overlap) Ratio() (ratio float64, ok bool) {
	if o.Busy == 0 {
		return 0, false
	}
	return float64(o.Overlapped) / float64(o.Busy), true
}

// Select returns the indexes of the collectives for which keep is true, by device
// and start.
func (r *Rank) Select(keep func(*Message) bool) []int {
	var list []int
	for i := range r.Messages {
		if keep(&r.Messages[i]) {
			if list == nil {
				list = make([]int, 0, len(r.Messages)-i)
			}
			list = append(list, i)
		}
	}
	return list
}

// sets are the unions of some collectives, one set a device.
func (r *Rank) sets(messages []int) []*Set {
	sets := make([]*Set, len(r.Devices))
	for dev := range sets {
		sets[dev] = newSet(len(messages) / len(sets))
	}
	for _, i := range messages {
		m := &r.Messages[i]
		sets[m.Device].add(m.Start, m.End)
	}
	return sets
}

// Measure tells how long some collectives, given as Select returns them, are busy
// and how much of that is hidden.
func (r *Rank) Measure(messages []int) Overlap {
	o := Overlap{Count: len(messages)}
	for dev, set := range r.sets(messages) {
		d := r.Devices[dev]
		hidden := set.Overlap(d.busy[ComputeBucket])
		o.Busy += set.Len()
		o.Overlapped += hidden
		o.WithMemory += hidden + set.Overlap(d.alone[MemoryBucket])
	}
	return o
}

// Exposed returns, per device, the time in which one of some collectives runs while
// neither compute, copy, set nor a collective of an earlier bucket than bucket does:
// their share of that bucket of the ledger.
func (r *Rank) Exposed(messages []int, bucket Bucket) []*Set {
	if len(messages) == r.inBucket(bucket) {
		return r.allExposed(bucket)
	}
	sets := r.sets(messages)
	for dev, set := range sets {
		sets[dev] = r.Devices[dev].without(set, bucket)
	}
	return sets
}

// inBucket counts the collectives whose exposed time goes to a bucket.
func (r *Rank) inBucket(bucket Bucket) int {
	n := 0
	for i := range r.Messages {
		n += oneIf(BucketOf(r.Messages[i].Kind) == bucket)
	}
	return n
}

// allExposed is the time of a bucket, per device.
func (r *Rank) allExposed(bucket Bucket) []*Set {
	sets := make([]*Set, len(r.Devices))
	for dev, d := range r.Devices {
		sets[dev] = d.alone[bucket]
	}
	return sets
}

// ExposedAlone is the time of the i-th collective that no compute kernel covers, in ns.
func (r *Rank) ExposedAlone(i int) int64 {
	m := &r.Messages[i]
	return m.End - m.Start - r.Devices[m.Device].busy[ComputeBucket].Within(m.Start, m.End)
}
