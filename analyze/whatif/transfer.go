package whatif

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/analyze/timeline"
)

// transfers estimates what each collective of a single rank takes without waiting for peers,
// in ns by index of the collective: the least over all of its kind and size, and no more than
// what a larger one takes. A message of which a few always come first, and so always wait, would
// otherwise seem slow.
func (r *Rank) transfers() []int64 {
	type size struct {
		kind  timeline.CollectiveKind
		bytes int64
		name  int32
	}
	list := r.Facts.Collectives
	of, least := make([]size, len(list)), make(map[size]int64)
	var sizes []size
	for i := range list {
		c := &list[r.messageOf(i)]
		of[i] = size{c.Kind, c.Bytes, 0}
		if c.Bytes < 0 {
			of[i].name = 1 + r.Name[r.Kernel[i]]
		}
		took := list[i].End - list[i].Start
		if old, seen := least[of[i]]; !seen || took < old {
			if !seen {
				sizes = append(sizes, of[i])
			}
			least[of[i]] = took
		}
	}
	slices.SortFunc(sizes, func(a, b size) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name), cmp.Compare(b.bytes, a.bytes))
	})
	for i, s := range sizes {
		if i > 0 && sizes[i-1].kind == s.kind && s.bytes > 0 && s.name == 0 && sizes[i-1].name == 0 {
			least[s] = min(least[s], least[sizes[i-1]])
		}
	}
	took := make([]int64, len(list))
	for i := range list {
		took[i] = least[of[i]]
	}
	return took
}

// messageOf is the collective that says what the i-th moves: itself, or the same one period
// later where it was launched before the recording.
func (r *Rank) messageOf(i int) int {
	if r.Facts.Collectives[i].Bytes < 0 {
		if same, ok := r.Same[r.Kernel[i]]; ok {
			return int(r.Collective[same])
		}
	}
	return i
}
