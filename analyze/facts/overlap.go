package facts

import "github.com/gaprof/gaprof/analyze/timeline"

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

// measure tells how long some collectives are busy and how much of that is hidden.
// which are indexes by device and start, busy is by device.
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

// setsOf are the unions of some collectives, one set a device.
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

// Select returns the indexes of the collectives for which keep is true, by device
// and start.
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

// Measure tells how long some collectives, given as Select returns them, are busy
// and how much of that is hidden.
func (r *Rank) Measure(which []int) Overlap {
	busy := make([]*timeline.Busy, len(r.Devices))
	for i := range r.Devices {
		busy[i] = &r.Devices[i].Busy
	}
	return measure(busy, r.Collectives, which)
}

// Exposed returns, per device, the time in which one of some collectives runs while
// neither compute, copy, set nor a collective of an earlier bucket than bucket does:
// their share of that bucket of the ledger.
func (r *Rank) Exposed(which []int, bucket timeline.Bucket) []*timeline.Set {
	all := len(which) == r.inBucket(bucket)
	sets := setsOf(len(r.Devices), r.Collectives, which)
	for dev := range sets {
		if busy := &r.Devices[dev].Busy; all {
			sets[dev] = busy.Alone[bucket]
		} else {
			sets[dev] = busy.Without(sets[dev], bucket)
		}
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

// ExposedAlone is the time of the i-th collective that no compute kernel covers, in ns.
func (r *Rank) ExposedAlone(i int) int64 {
	c := &r.Collectives[i]
	return c.End - c.Start - r.compute(c.Device).Within(c.Start, c.End)
}

// ExposedEach shares the exposed time of all collectives of a rank out to them, in ns and
// in their order: an instant in which several run belongs to the one that started first.
// It sums to the Exposed of Measure over all.
func (r *Rank) ExposedEach() []int64 {
	list := make([]int64, len(r.Collectives))
	reached := make(map[int]int64) // by device: the end of what was shared out
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
