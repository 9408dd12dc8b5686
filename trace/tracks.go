package trace

import (
	"cmp"
	"slices"
	"strconv"
)

// TrackID is an index into the tracks of a Trace, or of the Builder that gave it: Build
// puts tracks in order and gives them other numbers.
type TrackID int32

// Track is one row of a viewer: a host thread or a device stream. PID and TID
// are kept as text because writers use numbers and names alike; for device
// activity they are the device ordinal and the stream.
type Track struct {
	PID         string // of the process, as the file writes it; "" where it gives none
	TID         string // of the thread, as the file writes it; "" where it gives none
	ProcessName string // "" where the file does not say
	ProcessTags string // process_labels, such as "CPU" or "GPU 0"; "" where the file does not say
	ThreadName  string // "" where the file does not say
	ProcessSort int64  // where viewers put the process among others; 0 where the file does not say
	ThreadSort  int64  // where viewers put the thread within its process; 0 where the file does not say
	First       int    // row of the first event on this track; 0 where N is 0
	N           int    // number of events on this track, which stand in consecutive rows
	Activity    bool   // whether any of them is device activity, see Cat.IsActivity
}

// trackKey is what a track is known by: a process and a thread.
func trackKey(pid, tid StringID) uint64 { return uint64(pid)<<32 | uint64(tid) }

// trackIDs takes a trackKey apart.
func trackIDs(key uint64) (pid, tid StringID) { return StringID(key >> 32), StringID(key) }

// trackTable holds the tracks of a Builder by TrackID, in the order in which they
// appeared, as the numbers that trackKey makes, and what the file says of them.
type trackTable struct {
	numberTable
	pids   numberTable // of processes
	labels labelTable
	last   uint64 // the previous lookup; events of one track follow each other
	lastID TrackID
}

// id returns the number of the track that key is the trackKey of.
func (t *trackTable) id(key uint64) TrackID {
	if known := len(t.nums); key != t.last || known == 0 {
		t.last, t.lastID = key, TrackID(t.intern(key))
		if len(t.nums) > known {
			t.pids.intern(key >> 32)
		}
	}
	return t.lastID
}

// all returns the ids of all tracks, in the order in which they appeared.
func (t *trackTable) all() []TrackID {
	all := make([]TrackID, len(t.nums))
	for i := range all {
		all[i] = TrackID(i)
	}
	return all
}

// list makes the tracks called order, in that order, without rows. Texts are those that
// StringIDs of the table stand for.
func (t *trackTable) list(order []TrackID, texts *texts) []Track {
	list := make([]Track, len(order))
	for i, id := range order {
		pid, tid := trackIDs(t.nums[id])
		process, thread := t.labels.processes[pid], t.labels.threadOf(id)
		list[i] = Track{
			PID: texts.at(pid), TID: texts.at(tid),
			ProcessName: process.name, ProcessTags: process.tags, ProcessSort: process.sort,
			ThreadName: thread.name, ThreadSort: thread.sort,
		}
	}
	return list
}

// sorted returns the ids of all tracks by process and thread, so that the order of events
// in the file does not matter.
func (t *trackTable) sorted(texts *texts) []TrackID {
	type ranked struct {
		rank uint64
		id   TrackID
	}
	ranks, list := t.rankIDs(texts), make([]ranked, len(t.nums))
	for i, key := range t.nums {
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

// rankIDs returns, by StringID, the place of each id of a process or a thread among
// them all: numbers by value and before names. So each text is read as a number once,
// and not whenever two are compared.
func (t *trackTable) rankIDs(texts *texts) []uint32 {
	most := StringID(0)
	for _, key := range t.nums {
		pid, tid := trackIDs(key)
		most = max(most, pid, tid)
	}
	ranks := make([]uint32, most+1)
	var list []numberedID
	note := func(id StringID) {
		if ranks[id] == 0 {
			list = append(list, numberID(id, texts.at(id)))
			ranks[id] = 1
		}
	}
	for _, key := range t.nums {
		pid, tid := trackIDs(key)
		note(pid)
		note(tid)
	}
	slices.SortFunc(list, func(x, y numberedID) int { return compareIDs(x, y, texts) })
	for i, n := range list {
		ranks[n.id] = uint32(i)
	}
	return ranks
}

// numberedID is the id of a process or a thread, and its number where it is one. A file
// can have as many of them as events, so the text is not in it.
type numberedID struct {
	num  int64 // 0 where the text is no number
	name bool  // the text is no number
	id   StringID
}

func numberID(id StringID, text string) numberedID {
	num, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return numberedID{name: true, id: id}
	}
	return numberedID{num: num, id: id}
}

func compareIDs(x, y numberedID, texts *texts) int {
	switch {
	case x.name != y.name && x.name:
		return 1
	case x.name != y.name:
		return -1
	case x.num != y.num:
		return cmp.Compare(x.num, y.num)
	}
	return cmp.Compare(texts.at(x.id), texts.at(y.id))
}
