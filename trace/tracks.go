package trace

import (
	"cmp"
	"slices"
	"strconv"
)

// TrackID is an index into the tracks of a Trace.
type TrackID int32

// Track is one row of a viewer: a host thread or a device stream. PID and TID
// are kept as text because writers use numbers and names alike; for device
// activity they are the device ordinal and the stream.
type Track struct {
	PID, TID    string // "" where the file gives none
	ProcessName string // "" where the file does not say
	ProcessTags string // process_labels, such as "CPU" or "GPU 0"
	ThreadName  string // "" where the file does not say
	ProcessSort int64  // where viewers put the process among others; 0 where the file does not say
	ThreadSort  int64  // where viewers put the thread within its process; 0 likewise
	First, N    int    // the rows of the Trace that stand on this track
	Activity    bool   // it holds device activity
}

// trackKey is what a track is known by: a process and a thread.
func trackKey(pid, tid StringID) uint64 { return uint64(pid)<<32 | uint64(tid) }

// trackIDs takes a trackKey apart.
func trackIDs(key uint64) (pid, tid StringID) { return StringID(key >> 32), StringID(key) }

// trackTable holds the tracks of a Builder by TrackID, in the order in which they
// appeared, as the numbers that trackKey makes.
type trackTable struct {
	numberTable
	pids    numberTable // of processes
	threads []thread    // as far as any was named
	last    uint64      // the previous lookup; events of one track follow each other
	lastID  TrackID
}

func (t *trackTable) id(key uint64) TrackID {
	if known := len(t.nums); key != t.last || known == 0 {
		t.last, t.lastID = key, TrackID(t.intern(key))
		if len(t.nums) > known {
			t.pids.intern(key >> 32)
		}
	}
	return t.lastID
}

// thread returns what the file says of a thread, for the reader to change.
func (t *trackTable) thread(id TrackID) *thread {
	if n := int(id) + 1 - len(t.threads); n > 0 {
		t.threads = append(t.threads, make([]thread, n)...)
	}
	return &t.threads[id]
}

// tracksOf makes the tracks called order, in that order, without rows.
func (b *Builder) tracksOf(order []TrackID) []Track {
	list := make([]Track, len(order))
	for i, id := range order {
		pid, tid := trackIDs(b.tracks.nums[id])
		p := b.procs[pid]
		list[i] = Track{
			PID: b.String(pid), TID: b.String(tid),
			ProcessName: p.name, ProcessTags: p.tags, ProcessSort: p.sort,
		}
		if int(id) < len(b.tracks.threads) {
			list[i].ThreadName, list[i].ThreadSort = b.tracks.threads[id].name, b.tracks.threads[id].sort
		}
	}
	return list
}

// allTracks are the ids of all tracks.
func (b *Builder) allTracks() []TrackID {
	all := make([]TrackID, len(b.tracks.nums))
	for i := range all {
		all[i] = TrackID(i)
	}
	return all
}

// orderTracks makes the tracks in the order of process and thread and renumbers the
// rows, so that the order of events in the file does not matter.
func (b *Builder) orderTracks() {
	order := b.sortedTracks()
	b.t.tracks = b.tracksOf(order)
	renumber := make([]TrackID, len(order))
	for i, id := range order {
		renumber[id] = TrackID(i)
	}
	for i, id := range b.t.col.Track {
		b.t.col.Track[i] = renumber[id]
	}
}

// sortedTracks are the ids of all tracks by process and thread.
func (b *Builder) sortedTracks() []TrackID {
	type ranked struct {
		rank uint64
		id   TrackID
	}
	ranks, list := b.rankIDs(), make([]ranked, len(b.tracks.nums))
	for i, key := range b.tracks.nums {
		pid, tid := trackIDs(key)
		list[i] = ranked{uint64(ranks[pid])<<32 | uint64(ranks[tid]), TrackID(i)}
	}
	slices.SortFunc(list, func(x, y ranked) int { return cmp.Compare(x.rank, y.rank) })
	order := make([]TrackID, len(list))
	for i, r := range list {
		order[i] = r.id
	}
	return order
}

// numberedID is the text of a process or thread id, and its number where it is one.
type numberedID struct {
	num  int64
	name bool // it is none
	id   StringID
}

// rankIDs returns, by StringID, the place of each id of a process or a thread among
// them all: numbers by value and before names. So each text is read as a number once,
// and not whenever two are compared.
func (b *Builder) rankIDs() []uint32 {
	most := StringID(0)
	for _, key := range b.tracks.nums {
		pid, tid := trackIDs(key)
		most = max(most, pid, tid)
	}
	ranks := make([]uint32, most+1)
	var list []numberedID
	note := func(id StringID) {
		if ranks[id] > 0 {
			return
		}
		n := numberedID{id: id}
		var err error
		if n.num, err = strconv.ParseInt(b.String(id), 10, 64); err != nil {
			n.num, n.name = 0, true
		}
		list = append(list, n)
		ranks[id] = 1
	}
	for _, key := range b.tracks.nums {
		pid, tid := trackIDs(key)
		note(pid)
		note(tid)
	}
	slices.SortFunc(list, b.compareIDs)
	for i, n := range list {
		ranks[n.id] = uint32(i)
	}
	return ranks
}

func (b *Builder) compareIDs(x, y numberedID) int {
	switch {
	case x.name != y.name && x.name:
		return 1
	case x.name != y.name:
		return -1
	case x.num != y.num:
		return cmp.Compare(x.num, y.num)
	}
	return cmp.Compare(b.String(x.id), b.String(y.id))
}
