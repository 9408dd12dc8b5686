package trace

import (
	"slices"
	"strings"
)

// Select returns a trace of its own that holds only some rows of t: row i of it is
// rows[i], which must ascend. Names and arguments of other rows are not kept, nor are
// the top-level entries that only writing asks for; tracks, categories, keys, problems
// and everything else that is said of the recording as a whole are. A row's parent is
// the innermost one that was selected. StringIDs are other ones than in t.
func (t *Trace) Select(rows []int32) *Trace {
	s := &Trace{cats: t.cats, keys: t.keys, meta: t.meta, tracks: slices.Clone(t.tracks), problems: slices.Clone(t.problems), ids: idTable{nums: t.ids.nums}}
	s.meta.Extra = nil
	for i := range s.problems {
		s.problems[i].Detail = strings.Clone(s.problems[i].Detail)
	}
	names := renaming{from: t, ids: make([]StringID, t.NumStrings()), strs: []string{""}}
	s.col = t.col.selected(rows)
	for i, id := range s.col.Name {
		s.col.Name[i] = names.id(id)
	}
	for i, row := range rows {
		s.col.Args[i] = s.args.add(names.args(t.Event(int(row)).Args()))
	}
	s.strings.strs = slices.Clip(names.strs)
	s.selectTracks()
	parents(&s.col, s.tracks)
	return s
}

// selected copies rows; names, arguments and parents are left to the caller.
func (c *Columns) selected(rows []int32) Columns {
	return Columns{
		Start: pick(c.Start, rows), Dur: pick(c.Dur, rows), Name: pick(c.Name, rows), Cat: pick(c.Cat, rows),
		Phase: pick(c.Phase, rows), Track: pick(c.Track, rows), Corr: pick(c.Corr, rows), External: pick(c.External, rows),
		Args: make([]uint32, len(rows)), Parent: make([]int32, len(rows)),
	}
}

func pick[T any](col []T, rows []int32) []T {
	picked := make([]T, len(rows))
	for i, row := range rows {
		picked[i] = col[row]
	}
	return picked
}

// selectTracks says anew which rows stand on each track, and gives the tracks texts
// of their own.
func (t *Trace) selectTracks() {
	row := 0
	for id := range t.tracks {
		track := &t.tracks[id]
		for _, text := range []*string{&track.PID, &track.TID, &track.ProcessName, &track.ProcessTags, &track.ThreadName} {
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

// renaming gives the strings of one trace that are asked for the ids of another.
type renaming struct {
	from *Trace
	ids  []StringID // 0: not asked yet, or the empty string
	strs []string
}

func (r *renaming) id(id StringID) StringID {
	if r.ids[id] == 0 && id != 0 {
		r.ids[id] = StringID(len(r.strs))
		r.strs = append(r.strs, strings.Clone(r.from.String(id)))
	}
	return r.ids[id]
}

// args gives the texts of some arguments their new ids, in place.
func (r *renaming) args(args []Arg) []Arg {
	for i := range args {
		if args[i].Kind != Int {
			args[i].Str = r.id(args[i].Str)
		}
	}
	return args
}
