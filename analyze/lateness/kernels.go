package lateness

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/analyze/work"
	"github.com/gaprof/gaprof/internal/bounded"
)

// key is what makes kernels of several ranks the same.
type key struct {
	name  string
	shape work.Shape
}

// entry is what one member launches of one kernel in a period.
type entry struct {
	kernel    int32 // index into differences.list
	member    int32
	count, ns int64
}

// difference is one kernel of the late rank against the others, in all periods. What the
// others do is the sum of their medians.
type difference struct {
	key
	size             int64 // of a launch, as work.Kernel
	count, ns        int64
	others, othersNS int64 // launches and ns of the others
	slower           int64 // ns: as many launches as both have, by what one takes longer
	same, sameOthers int64 // ns of these launches, on the late rank and the others
	longest          timeline.Event
}

// more is what the late rank spends on a kernel beyond the others because it launches it
// more often.
func (d *difference) more() int64 { return d.ns - d.othersNS - d.slower }

// differences compares kernels period by period.
type differences struct {
	members []*member
	list    []difference
	number  [][]int32 // by member and kernel of the rank: index into list
	entries []entry
	values  [3][]int64 // room for medians
}

func newDifferences(members []*member) *differences {
	d := &differences{members: members, number: make([][]int32, len(members))}
	index := make(map[key]int32)
	for m, one := range members {
		for i := range one.Work.Kernels {
			k := &one.Work.Kernels[i]
			n, known := index[key{k.Name, k.Shape}]
			if !known {
				n = int32(len(d.list))
				index[key{k.Name, k.Shape}] = n
				d.list = append(d.list, difference{key: key{k.Name, k.Shape}, size: k.Size, longest: k.Longest})
			}
			d.number[m] = append(d.number[m], n)
		}
	}
	return d
}

// add compares a period of the members that have it, the late rank first.
func (d *differences) add(p *period) {
	d.entries = d.entries[:0]
	others := 0
	for m := range d.members {
		if !p.has(m) {
			continue
		}
		others += oneIf(m > 0)
		for i := p.after[m] + 1; i <= p.last[m]; i++ {
			for _, a := range d.members[m].work.Stretches[i].Kernels {
				d.entries = append(d.entries, entry{d.number[m][a.Kernel], int32(m), int64(a.Count), a.NS})
			}
		}
	}
	slices.SortFunc(d.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.kernel, b.kernel), cmp.Compare(a.member, b.member))
	})
	for from := 0; from < len(d.entries); {
		to := from
		for to < len(d.entries) && d.entries[to].kernel == d.entries[from].kernel {
			to++
		}
		d.compare(d.entries[from:to], others)
		from = to
	}
}

// compare compares one kernel in one period.
func (d *differences) compare(list []entry, others int) {
	var late entry
	counts, times, means := d.values[0][:0], d.values[1][:0], d.values[2][:0]
	for i := 0; i < len(list); {
		one := list[i]
		for i++; i < len(list) && list[i].member == one.member; i++ {
			one.count, one.ns = one.count+list[i].count, one.ns+list[i].ns
		}
		if one.member == 0 {
			late = one
			continue
		}
		counts, times, means = append(counts, one.count), append(times, one.ns), append(means, one.ns/one.count)
	}
	for len(counts) < others {
		counts, times = append(counts, 0), append(times, 0)
	}
	d.values = [3][]int64{counts, times, means}
	of := &d.list[list[0].kernel]
	count := median(counts)
	of.count, of.ns = of.count+late.count, of.ns+late.ns
	of.others, of.othersNS = of.others+count, of.othersNS+median(times)
	if both := min(late.count, count); both > 0 {
		same, other := both*(late.ns/late.count), both*median(means)
		of.same, of.sameOthers, of.slower = of.same+same, of.sameOthers+other, of.slower+same-other
	}
}

// larger reports whether the late rank launches kernels of the same names with larger
// shapes: a tenth of its launches have shapes that the others do not have, and these are a
// tenth larger in all than those that the others have in their place.
func (d *differences) larger() bool {
	type sizes struct{ late, others, launches int64 }
	names := make(map[string]sizes)
	total := int64(0)
	for i := range d.list {
		of := &d.list[i]
		total += of.count
		s := names[of.name]
		switch {
		case of.size == 0, of.count > 0 && of.others > 0:
			continue
		case of.count > 0:
			s.late = bounded.Add(s.late, bounded.Mul(of.count, of.size))
			s.launches += of.count
		default:
			s.others = bounded.Add(s.others, bounded.Mul(of.others, of.size))
		}
		names[of.name] = s
	}
	var all sizes
	for _, s := range names {
		if s.late > 0 && s.others > 0 {
			all.late, all.others = bounded.Add(all.late, s.late), bounded.Add(all.others, s.others)
			all.launches += s.launches
		}
	}
	return 10*all.launches >= total && bounded.Mul(10, all.late) > bounded.Mul(11, all.others) && all.others > 0
}

// shapesKnown reports whether the shapes of most of the late rank's kernel time are known.
func (d *differences) shapesKnown() bool {
	known, total := int64(0), int64(0)
	for i := range d.list {
		if total += d.list[i].ns; d.list[i].shape != (work.Shape{}) {
			known += d.list[i].ns
		}
	}
	return 2*known > total
}

// median is the median of a list, which it sorts; 0 of none.
func median(list []int64) int64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	low, high := list[(len(list)-1)/2], list[len(list)/2]
	return low + (high-low)/2
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
