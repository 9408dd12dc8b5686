package trace

import (
	"cmp"
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
	b.tracks, b.procs, b.keys = trackTable{}, nil, nil
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
	first, free := int32(0), []int32(nil)
	for id := range t.tracks {
		rows := perm[first:next[id]]
		free = runs.Sort(rows, t.compareRows, free)
		first = next[id]
	}
	return perm
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
	free := make([]uint64, len(perm))
	move(c.Start, perm, free)
	move(c.Dur, perm, free)
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

// move puts col in the order of perm by way of free, which is as long. Following
// the cycles of perm would need no room, but jumps through memory.
func move[T ~int64 | ~int32 | ~uint32 | ~uint16 | ~uint8](col []T, perm []int32, free []uint64) {
	split(len(perm), func(from, to int) {
		for i, p := range perm[from:to] {
			free[from+i] = uint64(col[p])
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
	for i, id := range t.col.Track {
		track := &t.tracks[id]
		if track.N == 0 {
			track.First = i
		}
		track.N++
		track.Activity = track.Activity || t.col.Cat[i].IsActivity()
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
	parent := c.Parent
	var open []int32
	for _, track := range tracks {
		open = open[:0]
		for i := track.First; i < track.First+track.N; i++ {
			for len(open) > 0 && closed(c, open[len(open)-1], c.Start[i]) {
				open = open[:len(open)-1]
			}
			parent[i] = NoParent
			if len(open) > 0 {
				parent[i] = open[len(open)-1]
			}
			if c.Phase[i] == Complete && c.Dur[i] > 0 {
				open = append(open, int32(i))
			}
		}
	}
}

func closed(c *Columns, i int32, now int64) bool { return c.Start[i]+c.Dur[i] <= now }

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
		c.Start[keep], c.Dur[keep], c.Name[keep], c.Cat[keep] = c.Start[i], c.Dur[i], c.Name[i], c.Cat[i]
		c.Phase[keep], c.Track[keep], c.Corr[keep] = c.Phase[i], c.Track[i], c.Corr[i]
		c.External[keep], c.Args[keep] = c.External[i], c.Args[i]
		keep++
	}
	c.Start, c.Dur, c.Name, c.Cat = c.Start[:keep], c.Dur[:keep], c.Name[:keep], c.Cat[:keep]
	c.Phase, c.Track, c.Corr = c.Phase[:keep], c.Track[:keep], c.Corr[:keep]
	c.External, c.Args = c.External[:keep], c.Args[:keep]
}
