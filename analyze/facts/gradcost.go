package facts

import (
	"cmp"
	"slices"
)

// launched is a device event behind the host call that launched it: the rows of both,
// the call's in the upper half, so that the order of the numbers is that of the calls
// by thread and time.
type launched uint64

func (l launched) call() int32  { return int32(l >> 32) }
func (l launched) event() int32 { return int32(uint32(l)) }

// launches lists the linked device events of a rank in the order of their calls.
func (c *computer) launches(r *Rank) []launched {
	list := make([]launched, 0, r.DeviceEvents-r.Unlinked)
	for _, d := range r.Devices {
		for i, row := range d.Rows {
			if l := d.Launch[i]; l >= 0 {
				list = append(list, launched(l)<<32|launched(row))
			}
		}
	}
	return sortLaunched(list, c.t.Len())
}

// sortLaunched sorts digit by digit, the last first: calls of several threads, on several
// streams, are so mixed that comparing them takes longer. It returns list or its own room.
func sortLaunched(list []launched, rows int) []launched {
	const digit = 11
	if len(list) < 1<<digit {
		slices.Sort(list)
		return list
	}
	room := make([]launched, len(list))
	for half := 0; half < 64; half += 32 {
		for shift := half; rows>>(shift-half) > 0; shift += digit {
			var next [1 << digit]int32
			for _, l := range list {
				next[l>>shift%(1<<digit)]++
			}
			sum := int32(0)
			for i, n := range next {
				next[i] = sum
				sum += n
			}
			for _, l := range list {
				at := &next[l>>shift%(1<<digit)]
				room[*at] = l
				*at++
			}
			list, room = room, list
		}
	}
	return list
}

// launchedBy returns the device events launched inside a host span on its thread:
// those of the calls that follow it on its track and begin before it ends.
func (c *computer) launchedBy(row int32, list []launched) []launched {
	end := c.col.Start[row] + c.col.Dur[row]
	track := c.t.Tracks()[c.col.Track[row]]
	from, _ := slices.BinarySearch(list, launched(row)<<32)
	to := from
	for to < len(list) && int(list[to].call()) < track.First+track.N && c.col.Start[list[to].call()] < end {
		to++
	}
	return list[from:to]
}

// cost measures a pass: on the device where it launched work, else on the host.
func (c *computer) cost(r *Rank, p *GradientPass) {
	var spans []hostOp
	for _, row := range p.Rows {
		for _, l := range c.launchedBy(row, r.launches) {
			p.OnDevice = true
			k := l.event()
			p.Kernels = append(p.Kernels, k)
			spans = append(spans, hostOp{k, c.col.Start[k], c.col.Start[k] + c.col.Dur[k]})
		}
	}
	if !p.OnDevice {
		for _, row := range p.Rows {
			spans = append(spans, hostOp{row, c.col.Start[row], c.col.Start[row] + c.col.Dur[row]})
		}
	}
	slices.SortFunc(spans, func(a, b hostOp) int { return cmp.Compare(a.start, b.start) })
	set := newSet(len(spans))
	end := spans[0].end
	for _, s := range spans {
		set.add(s.start, s.end)
		end = max(end, s.end)
	}
	p.Busy, p.Span = set.Len(), end-spans[0].start
	if p.OnDevice {
		for _, d := range r.Devices {
			p.OtherIn += d.busy[ComputeBucket].Within(spans[0].start, end)
		}
		p.OtherIn = max(0, p.OtherIn-p.Busy)
	}
}

// normStarts are the host starts of norm operators of a rank, ascending.
func (c *computer) normStarts(r *Rank) []int64 {
	var starts []int64
	for _, t := range r.touches {
		if t.family == norm {
			starts = append(starts, t.start)
		}
	}
	return starts
}
