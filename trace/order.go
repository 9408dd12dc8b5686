package trace

import (
	"cmp"
	"iter"

	"github.com/gaprof/gaprof/internal/runs"
)

// rowOrder finds the order of the finished columns: by track and, on a track, by start,
// longer first. It looks at the columns and moves nothing.
type rowOrder struct {
	col    *Columns
	ids    *idTable
	tracks int // how many there are
}

// rowsOf is the order of the rows of t, whose tracks are known.
func rowsOf(t *Trace) rowOrder { return rowOrder{&t.col, &t.ids, len(t.tracks)} }

// sorted returns the rows in order: counted into their tracks first, then sorted within
// those tracks that are not in order yet.
func (o rowOrder) sorted() []int32 {
	perm, next := o.byTrack()
	share(o.tracks, len(perm), func(tracks iter.Seq[int]) {
		var free []int32
		for id := range tracks {
			first := int32(0)
			if id > 0 {
				first = next[id-1]
			}
			if rows := perm[first:next[id]]; !o.inOrder(rows) {
				free = runs.Sort(rows, o.compare, free)
			}
		}
	})
	return perm
}

// byTrack returns the rows by track, else as they stood in the file, and where the rows
// of each track end.
func (o rowOrder) byTrack() (perm, ends []int32) {
	next := make([]int32, o.tracks+1)
	for _, id := range o.col.Track {
		next[id+1]++
	}
	for i := 1; i < len(next); i++ {
		next[i] += next[i-1]
	}
	perm = make([]int32, len(o.col.Track))
	for i, id := range o.col.Track {
		perm[next[id]] = int32(i)
		next[id]++
	}
	return perm, next
}

// inOrder reports whether the rows of a track are in order, as they are in most files.
func (o rowOrder) inOrder(rows []int32) bool {
	start := o.col.Start
	for i := 1; i < len(rows); i++ {
		x, y := rows[i-1], rows[i]
		if start[x] >= start[y] && o.compare(x, y) > 0 {
			return false
		}
	}
	return true
}

// compare orders rows of one track: by start, longer first, then by External
// id, which grows inwards in Kineto, then as they stood in the file.
func (o rowOrder) compare(x, y int32) int {
	c := o.col
	if s := cmp.Compare(c.Start[x], c.Start[y]); s != 0 {
		return s
	}
	if d := cmp.Compare(c.Dur[y], c.Dur[x]); d != 0 {
		return d
	}
	if p, q := c.External[x], c.External[y]; p != 0 && q != 0 && p != q {
		return cmp.Compare(o.ids.number(p), o.ids.number(q))
	}
	return cmp.Compare(x, y)
}
