package trace

import (
	"slices"
	"strings"
)

// Select returns a trace of its own that holds only some rows of t, without their
// arguments: row i of it is rows[i], which must ascend. Tracks, categories, problems and
// what is said of the recording as a whole are kept, but not the top-level entries that
// only writing asks for. A row's parent is the innermost one that was selected.
// StringIDs are other ones than in t.
//
// It shares no text with t: what is kept of many large traces would otherwise hold on to
// all of them.
func (t *Trace) Select(rows []int32) *Trace {
	s := &Trace{
		cats: t.cats, keys: t.keys, meta: t.meta,
		tracks: slices.Clone(t.tracks), problems: slices.Clone(t.problems),
	}
	s.meta.Extra = nil
	for i := range s.problems {
		s.problems[i].Detail = strings.Clone(s.problems[i].Detail)
	}
	s.col = t.col.selected(rows)
	ids := make([]StringID, t.NumStrings())
	s.strings = emptyStringTable()
	s.strings.store("")
	for i, id := range s.col.Name {
		if ids[id] == 0 && id != 0 {
			ids[id] = s.strings.store(strings.Clone(t.String(id)))
		}
		s.col.Name[i] = ids[id]
	}
	s.selectNumbers(t)
	s.selectTracks()
	parents(&s.col, s.tracks)
	return s
}

// selectNumbers gives t a table of its own of those large numbers of whole that its rows have.
func (t *Trace) selectNumbers(whole *Trace) {
	for i := range t.col.Corr {
		t.col.Corr[i] = t.ids.id(whole.Number(t.col.Corr[i]))
		t.col.External[i] = t.ids.id(whole.Number(t.col.External[i]))
	}
	t.ids.slots = nil
}

// selectTracks says anew which rows stand on each track, and gives the tracks texts
// of their own.
func (t *Trace) selectTracks() {
	row := 0
	for id := range t.tracks {
		track := &t.tracks[id]
		texts := []*string{&track.PID, &track.TID, &track.ProcessName, &track.ProcessTags, &track.ThreadName}
		for _, text := range texts {
			*text = strings.Clone(*text)
		}
		track.First, track.N = row, 0
		for ; row < len(t.col.Track) && int(t.col.Track[row]) == id; row++ {
			track.N++
		}
		if track.N == 0 {
			track.First = 0
		}
	}
}
