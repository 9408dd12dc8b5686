package trace

import (
	"iter"
	"slices"
)

// Build makes the Trace; the Builder must not be used afterwards.
//
//  1. Tracks are put in order and get their names.
//  2. Rows are grouped by track and sorted by start, longer first.
//  3. Begin and end events are paired into complete ones.
//  4. Each event gets its parent.
func (b *Builder) Build() *Trace {
	t := &b.t
	t.cats, t.keys = b.cats.names, b.keys.names
	order := b.tracks.sorted(&t.strings.texts)
	t.tracks = b.tracks.list(order, &t.strings.texts)
	renumberTracks(t.col.Track, order)
	b.letGo()

	perm := rowsOf(t).sorted()
	t.col.permute(perm)
	if pairs := (pairing{t: t, problems: &b.probs}); pairs.any() {
		pairs.pair()
		t.col.drop(End)
		t.col.permute(rowsOf(t).sorted()) // by the durations that they have now
	}
	t.placeTracks()
	t.dropEmptyTracks()
	t.col.Parent = perm[:len(t.col.Start)] // its room is free for reuse
	parents(&t.col, t.tracks)
	t.problems = b.probs.list
	return t
}

// letGo drops what only adding rows needs. The Trace is a part of the Builder, so the
// collector would keep it as long as the Trace.
func (b *Builder) letGo() {
	b.cats, b.keys, b.tracks = catTable{}, keyTable{}, trackTable{}
	b.t.ids.slots = nil
}

// renumberTracks gives the tracks of rows the numbers that they have in order.
func renumberTracks(rows []TrackID, order []TrackID) {
	renumber := make([]TrackID, len(order))
	for i, id := range order {
		renumber[id] = TrackID(i)
	}
	for i, id := range rows {
		rows[i] = renumber[id]
	}
}

// placeTracks notes which rows stand on each track.
func (t *Trace) placeTracks() {
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
func (t *Trace) dropEmptyTracks() {
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
