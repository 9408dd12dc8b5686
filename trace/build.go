package trace

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/gaprof/gaprof/internal/runs"
)

// Build makes the Trace; the Builder must not be used afterwards.
//
//  1. Tracks are put in order and get their names.
//  2. Rows are grouped by track and sorted by start, longer first.
//  3. Begin and end events are paired into complete ones.
//  4. Each event gets its parent.
func (b *Builder) Build() *Trace {
	t := &b.t
	t.cats = b.cats.names
	b.orderTracks()
	b.tracks, b.procs, b.keys, t.ids.slots = trackTable{}, nil, nil, nil
	perm := b.sortRows()
	t.col.permute(perm)
	b.pairBeginEnd()
	b.splitTracks()
	b.dropEmptyTracks()
	t.col.Parent = perm[:len(t.col.Start)] // its room is free for reuse
	parents(&t.col, t.tracks)
	t.problems = b.probs.list
	return t
}

// sortRows returns the rows in the order of the finished columns: counted into
// their tracks first, then sorted within those tracks that are not in order yet.
func (b *Builder) sortRows() []int32 {
	c, t := &b.t.col, &b.t
	next := make([]int32, len(t.tracks)+1)
	for _, id := range c.Track {
		next[id+1]++
	}
	for i := 1; i < len(next); i++ {
		next[i] += next[i-1]
	}
	perm := make([]int32, len(c.Track))
	for i, id := range c.Track {
		perm[next[id]] = int32(i)
		next[id]++
	}
	share(len(t.tracks), len(perm), func(tracks iter.Seq[int]) {
		var free []int32
		for id := range tracks {
			first := int32(0)
			if id > 0 {
				first = next[id-1]
			}
			if rows := perm[first:next[id]]; !t.sorted(rows) {
				free = runs.Sort(rows, t.compareRows, free)
			}
		}
	})
	return perm
}

// sorted reports whether the rows of a track are in order, as they are in most files.
func (t *Trace) sorted(rows []int32) bool {
	start := t.col.Start
	for i := 1; i < len(rows); i++ {
		x, y := rows[i-1], rows[i]
		if start[x] >= start[y] && t.compareRows(x, y) > 0 {
			return false
		}
	}
	return true
}

// compareRows orders rows of one track: by start, longer first, then by External
// id, which grows inwards in Kineto, then as they stood in the file.
func (t *Trace) compareRows(x, y int32) int {
	c := &t.col
	if s := cmp.Compare(c.Start[x], c.Start[y]); s != 0 {
		return s
	}
	if d := cmp.Compare(c.Dur[y], c.Dur[x]); d != 0 {
		return d
	}
	if p, q := t.col.External[x], t.col.External[y]; p != 0 && q != 0 && p != q {
		return cmp.Compare(t.Number(p), t.Number(q))
	}
	return cmp.Compare(x, y)
}

// permute puts the rows in the order of perm.
func (c *Columns) permute(perm []int32) {
	if inOrder(perm) {
		return
	}
	free := make([]int64, len(perm))
	c.Start, free = gather(c.Start, perm, free), c.Start
	c.Dur, free = gather(c.Dur, perm, free), c.Dur
	move(c.Corr, perm, free)
	move(c.External, perm, free)
	move(c.Name, perm, free)
	move(c.Track, perm, free)
	move(c.Args, perm, free)
	move(c.Cat, perm, free)
	move(c.Phase, perm, free)
}

func inOrder(perm []int32) bool {
	for i, p := range perm {
		if int(p) != i {
			return false
		}
	}
	return true
}

// gather puts col in the order of perm into a column that is as long.
func gather(col []int64, perm []int32, into []int64) []int64 {
	split(len(perm), func(from, to int) {
		for i, p := range perm[from:to] {
			into[from+i] = col[p]
		}
	})
	return into[:len(perm)]
}

// move puts col in the order of perm by way of free, which is as long. Following
// the cycles of perm would need no room, but jumps through memory.
func move[T ~int32 | ~uint32 | ~uint16 | ~uint8](col []T, perm []int32, free []int64) {
	split(len(perm), func(from, to int) {
		for i, p := range perm[from:to] {
			free[from+i] = int64(col[p])
		}
	})
	split(len(perm), func(from, to int) {
		for i, v := range free[from:to] {
			col[from+i] = T(v)
		}
	})
}

// splitTracks notes which rows stand on each track.
func (b *Builder) splitTracks() {
	t := &b.t
	for i := range t.tracks {
		t.tracks[i].First, t.tracks[i].N = 0, 0
	}
	for i := 0; i < len(t.col.Track); {
		track, first := &t.tracks[t.col.Track[i]], i
		for i < len(t.col.Track) && t.col.Track[i] == t.col.Track[first] {
			i++
		}
		track.First, track.N = first, i-first
		track.Activity = track.Activity || slices.ContainsFunc(t.col.Cat[first:i], Cat.IsActivity)
	}
}

// dropEmptyTracks takes out the tracks without rows and names, on which only ends
// without a begin stood.
func (b *Builder) dropEmptyTracks() {
	t := &b.t
	empty := func(track Track) bool { return track.N == 0 && track.ThreadName == "" && track.ThreadSort == 0 }
	if !slices.ContainsFunc(t.tracks, empty) {
		return
	}
	renumber, kept := make([]TrackID, len(t.tracks)), t.tracks[:0]
	for id, track := range t.tracks {
		renumber[id] = TrackID(len(kept))
		if !empty(track) {
			kept = append(kept, track)
		}
	}
	t.tracks = kept
	for i, id := range t.col.Track {
		t.col.Track[i] = renumber[id]
	}
}

// parents finds for each row the innermost complete event of its track that is
// open at the row's start. An event that only partly overlaps another still is
// its parent when it began earlier: writers round times to whole microseconds,
// so children may end after their parents. Each row is pushed and popped once.
func parents(c *Columns, tracks []Track) {
	share(len(tracks), len(c.Start), func(some iter.Seq[int]) {
		var open []int32
		for id := range some {
			open = c.parentsOn(&tracks[id], open[:0])
		}
	})
}

// parentsOn is parents for one track. open is room for the rows that are open.
func (c *Columns) parentsOn(track *Track, open []int32) (room []int32) {
	for i := track.First; i < track.First+track.N; i++ {
		parent := NoParent
		for len(open) > 0 {
			if last := open[len(open)-1]; c.Start[last]+c.Dur[last] > c.Start[i] {
				parent = last
				break
			}
			open = open[:len(open)-1]
		}
		c.Parent[i] = parent
		if c.Phase[i] == Complete && c.Dur[i] > 0 {
			open = append(open, int32(i))
		}
	}
	return open
}

// pairBeginEnd turns each begin into a complete event that lasts to its end and
// takes the ends out. What has no partner is counted; an open begin ends with
// the last event of its track.
func (b *Builder) pairBeginEnd() {
	c := &b.t.col
	if !slices.Contains(c.Phase, Begin) && !slices.Contains(c.Phase, End) {
		return
	}
	var open []int32
	for first, next := 0, 0; first < len(c.Start); first = next {
		open, next = b.pairTrack(first, open[:0])
	}
	c.drop(End)
	perm := b.sortRows()
	c.permute(perm)
}

// pairTrack pairs the rows of the track that begins with row first, and returns its
// end. open is room for those that are open.
func (b *Builder) pairTrack(first int, open []int32) (room []int32, next int) {
	c := &b.t.col
	lastEnd := int64(math.MinInt64)
	for next = first; next < len(c.Start) && c.Track[next] == c.Track[first]; next++ {
		lastEnd = max(lastEnd, c.Start[next]+c.Dur[next])
		switch {
		case c.Phase[next] == Begin:
			open = append(open, int32(next))
		case c.Phase[next] == End && len(open) == 0:
			b.Problem(UnpairedBegin, -1, b.String(c.Name[next]))
		case c.Phase[next] == End:
			b.close(int(open[len(open)-1]), c.Start[next], next)
			open = open[:len(open)-1]
		}
	}
	for _, i := range open {
		b.Problem(UnpairedBegin, -1, b.String(c.Name[i]))
		b.close(int(i), lastEnd, int(i))
	}
	return open, next
}

// close ends the begin event at row i and gives it what its end says.
func (b *Builder) close(i int, end int64, endRow int) {
	c := &b.t.col
	c.Phase[i], c.Dur[i] = Complete, end-c.Start[i]
	if c.Dur[i] < 0 { // further apart than an int64 holds
		b.Problem(NumberRange, -1, b.String(c.Name[i]))
		c.Dur[i] = 0
	}
	if endRow != i {
		b.merge(i, endRow)
	}
}

// merge adds the name and the arguments of the end event in row end to the event in
// row i. Of an argument that both have the end's counts, as the format says.
func (b *Builder) merge(i, end int) {
	c := &b.t.col
	if c.Name[i] == 0 {
		c.Name[i] = c.Name[end]
	}
	if c.Corr[end] != 0 {
		c.Corr[i] = c.Corr[end]
	}
	if c.External[end] != 0 {
		c.External[i] = c.External[end]
	}
	if c.Args[i] == 0 || c.Args[end] == 0 {
		c.Args[i] = max(c.Args[i], c.Args[end])
		return
	}
	args, places := b.t.Event(i).Args(), make(map[Key]int)
	for k, a := range args {
		places[a.Key] = k
	}
	for _, a := range b.t.Event(end).Args() {
		if k, both := places[a.Key]; both {
			args[k] = a
		} else {
			args = append(args, a)
		}
	}
	c.Args[i] = b.t.args.add(args)
}

// drop takes out the rows of phase p.
func (c *Columns) drop(p Phase) {
	keep := 0
	for i := range c.Start {
		if c.Phase[i] == p {
			continue
		}
		c.Start[keep], c.Dur[keep] = c.Start[i], c.Dur[i]
		c.Name[keep], c.Cat[keep] = c.Name[i], c.Cat[i]
		c.Phase[keep], c.Track[keep] = c.Phase[i], c.Track[i]
		c.Corr[keep], c.External[keep] = c.Corr[i], c.External[i]
		c.Args[keep] = c.Args[i]
		keep++
	}
	c.Start, c.Dur = c.Start[:keep], c.Dur[:keep]
	c.Name, c.Cat = c.Name[:keep], c.Cat[:keep]
	c.Phase, c.Track = c.Phase[:keep], c.Track[:keep]
	c.Corr, c.External = c.Corr[:keep], c.External[:keep]
	c.Args = c.Args[:keep]
}
