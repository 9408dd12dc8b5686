package facts

import "github.com/gaprof/gaprof/analyze/timeline"

// Overlap says how long some communication ran and how much of it was hidden. Figures of
// several devices are sums.
type Overlap struct {
	Count      int   // collectives
	Busy       int64 // ns: length of the union of their kernels, on each device
	Overlapped int64 // ns: the part of Busy in which compute kernels run
	WithMemory int64 // ns: the part of Busy in which compute kernels, copies or sets run
}

// Exposed returns the busy time that no compute kernel covers, in ns. It is comparable with
// what other tools call exposed communication; the ledger, which also takes out copies and
// sets, has less.
func (o Overlap) Exposed() int64 { return o.Busy - o.Overlapped }

// Ratio returns Overlapped / Busy; ok is false if nothing was busy.
func (o Overlap) Ratio() (ratio float64, ok bool) {
	if o.Busy == 0 {
		return 0, false
	}
	return float64(o.Overlapped) / float64(o.Busy), true
}

// measure returns how long some collectives are busy and how much of that is hidden. which
// are their indexes, by device and start; busy is by device.
func measure(busy []*timeline.Busy, collectives []Collective, which []int) Overlap {
	o := Overlap{Count: len(which)}
	for dev, set := range setsOf(len(busy), collectives, which) {
		hidden := set.Overlap(busy[dev].Each[timeline.ComputeBucket])
		o.Busy += set.Len()
		o.Overlapped += hidden
		o.WithMemory += hidden + set.Overlap(busy[dev].Alone[timeline.MemoryBucket])
	}
	return o
}

// setsOf returns the unions of some collectives, one set per device.
func setsOf(devices int, collectives []Collective, which []int) []*timeline.Set {
	sets := make([]*timeline.Set, devices)
	for dev := range sets {
		sets[dev] = timeline.NewSet(len(which) / len(sets))
	}
	for _, i := range which {
		c := &collectives[i]
		sets[c.Device].Add(c.Start, c.End)
	}
	return sets
}

// Sets returns the unions of some collectives, given as Select returns them, one set per
// device. The caller owns them.
func (r *Rank) Sets(which []int) []*timeline.Set { return setsOf(len(r.Devices), r.Collectives, which) }

// Select returns the indexes of the collectives for which keep returns true, by device and
// start, as Measure and Exposed take them. The caller owns the slice.
func (r *Rank) Select(keep func(*Collective) bool) []int {
	var list []int
	for i := range r.Collectives {
		if keep(&r.Collectives[i]) {
			if list == nil {
				list = make([]int, 0, len(r.Collectives)-i)
			}
			list = append(list, i)
		}
	}
	return list
}

// Measure returns how long some collectives, given as Select returns them, are busy and how
// much of that is hidden.
func (r *Rank) Measure(which []int) Overlap {
	busy := make([]*timeline.Busy, len(r.Devices))
	for i := range r.Devices {
		busy[i] = &r.Devices[i].Busy
	}
	return measure(busy, r.Collectives, which)
}

// Exposed returns, by device, the time in which one of some collectives runs while no
// compute kernel, copy, set or collective of a bucket before bucket does: their share of
// that bucket of the ledger. If they are all collectives of the bucket, that is what the
// device has in store already. The sets are read-only.
func (r *Rank) Exposed(which []int, bucket timeline.Bucket) []*timeline.Set {
	if len(which) == r.inBucket(bucket) {
		return r.allExposed(bucket)
	}
	sets := setsOf(len(r.Devices), r.Collectives, which)
	for dev := range sets {
		sets[dev] = r.Devices[dev].Busy.Without(sets[dev], bucket)
	}
	return sets
}

// ExposedOf is Exposed of some collectives of a kind, without the time of kinds that share
// its bucket and stand before it in the order of CollectiveKinds. So each instant of
// OtherCommBucket belongs to one kind, as each of the ledger to one bucket.
func (r *Rank) ExposedOf(which []int, kind timeline.CollectiveKind) []*timeline.Set {
	bucket := timeline.BucketOf(kind)
	sets := r.Exposed(which, bucket)
	for _, before := range timeline.CollectiveKinds() {
		if before == kind {
			break
		}
		if timeline.BucketOf(before) != bucket {
			continue
		}
		others := r.Select(func(c *Collective) bool { return c.Kind == before })
		if len(others) == 0 {
			continue
		}
		for dev, set := range setsOf(len(r.Devices), r.Collectives, others) {
			sets[dev] = sets[dev].Minus(set)
		}
	}
	return sets
}

// allExposed is the time of a bucket, by device.
func (r *Rank) allExposed(bucket timeline.Bucket) []*timeline.Set {
	sets := make([]*timeline.Set, len(r.Devices))
	for dev := range sets {
		sets[dev] = r.Devices[dev].Busy.Alone[bucket]
	}
	return sets
}

// inBucket counts the collectives whose exposed time goes to a bucket.
func (r *Rank) inBucket(bucket timeline.Bucket) int {
	n := 0
	for i := range r.Collectives {
		n += oneIf(timeline.BucketOf(r.Collectives[i].Kind) == bucket)
	}
	return n
}

// ExposedAlone returns the time of the i-th collective that no compute kernel covers, in ns,
// whatever other collectives run at the same time.
func (r *Rank) ExposedAlone(i int) int64 {
	c := &r.Collectives[i]
	return c.End - c.Start - r.compute(c.Device).Within(c.Start, c.End)
}

// ExposedEach divides the exposed time of all collectives of a rank among them, in ns and in
// their order: an instant in which several run belongs to the one that started first. So it
// sums to the Exposed of Measure over all, as the samples of a profile must.
func (r *Rank) ExposedEach() []int64 {
	list := make([]int64, len(r.Collectives))
	reached := make(map[int]int64) // by device: the end of what has been divided
	for i := range r.Collectives {
		c := &r.Collectives[i]
		from := c.Start
		if end, ok := reached[c.Device]; ok {
			from = max(from, end)
		}
		if from < c.End {
			list[i] = c.End - from - r.compute(c.Device).Within(from, c.End)
			reached[c.Device] = c.End
		}
	}
	return list
}

// compute is when a device runs compute kernels.
func (r *Rank) compute(device int) *timeline.Set {
	return r.Devices[device].Busy.Each[timeline.ComputeBucket]
}
