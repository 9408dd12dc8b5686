package timeline

import (
	"strings"

	"github.com/gaprof/gaprof/trace"
)

// Unknown is an id or a stream that the trace does not tell.
const Unknown = -1

// SyncWait is a synchronization record of the profiler (category cuda_sync): the host or a
// stream waits for work on a device. Records are evidence of what waits for what; they are
// no activity, and most traces have none.
type SyncWait struct {
	Row    int32
	Kind   SyncKind
	Device string // process of the row: the device ordinal
	Stream int64  // that waits, or that is waited for (StreamSync); Unknown where it is none

	// What an event wait waits for: the recording of an event. Profilers before March 2026
	// often did not know it (-1) or left it out; both are Unknown here.
	OnStream   int64 // on which the event was recorded
	Recorded   int64 // correlation id of the call that recorded it
	RecordCall int32 // row of that call; -1 where it is not in the recording
}

// SyncKind is what kind of wait a record is, by its name.
type SyncKind uint8

// The kinds of waits.
const (
	OtherSync   SyncKind = iota // any other name
	StreamWait                  // a stream waits for an event: "Stream Wait Event"
	EventSync                   // the host waits for an event: "Event Sync"
	StreamSync                  // the host waits for a stream: "Stream Sync"
	ContextSync                 // the host waits for a device: "Context Sync"
)

// syncKinds are the kinds by the names that Kineto gives (syncTypeString in CuptiStrings.cpp).
var syncKinds = map[string]SyncKind{
	"Stream Wait Event": StreamWait, "Event Sync": EventSync, "Stream Sync": StreamSync, "Context Sync": ContextSync,
}

// SyncWaits lists the synchronization records on the devices of a rank, by track and start.
// It goes over all rows of the rank and is meant to be asked once. Where the ranks of a
// merged file share a device, each is given the waits of all. The stream is that of
// the arguments: Kineto draws the waits of the host for a stream on a row of their own, whose
// number is the stream's plus 1,000,000 and no stream.
func (r *Rank) SyncWaits() []SyncWait {
	own := make(map[string]bool)
	for _, d := range r.Devices {
		own[d.PID] = true
	}
	var list []SyncWait
	for _, track := range r.Trace.Tracks() {
		if !own[track.PID] {
			continue
		}
		for row := track.First; row < track.First+track.N; row++ {
			if r.Col.Cat[row] == trace.CatCUDASync && r.Col.Phase[row] == trace.Complete {
				list = append(list, r.syncWait(int32(row), track.PID))
			}
		}
	}
	if len(list) > 0 {
		r.findRecords(list)
	}
	return list
}

func (r *Rank) syncWait(row int32, device string) SyncWait {
	e := r.Trace.Event(int(row))
	w := SyncWait{Row: row, Kind: syncKinds[r.Name(row)], Device: device, RecordCall: -1}
	w.Stream = argOrUnknown(e, trace.KeyStream)
	if w.Kind == StreamWait || w.Kind == EventSync {
		w.OnStream, w.Recorded = argOrUnknown(e, trace.KeyWaitStream), argOrUnknown(e, trace.KeyWaitRecord)
		return w
	}
	w.OnStream, w.Recorded = Unknown, Unknown
	return w
}

// argOrUnknown reads an id that is not negative; Unknown is anything else, also -1 and the
// 4294967295 that CUPTI has for no stream.
func argOrUnknown(e trace.Event, key trace.Key) int64 {
	n, ok := e.ArgInt(key)
	if !ok || n < 0 || n == 1<<32-1 {
		return Unknown
	}
	return n
}

// findRecords fills in the calls that recorded the events that are waited for.
func (r *Rank) findRecords(list []SyncWait) {
	records := make(map[trace.StringID]bool) // names of such calls
	for id := range r.Trace.NumStrings() {
		if strings.Contains(r.Trace.String(trace.StringID(id)), "EventRecord") {
			records[trace.StringID(id)] = true
		}
	}
	calls := make(map[int64]int32) // by correlation id
	for _, id := range r.Host {
		track := r.Trace.Tracks()[id]
		for row := int32(track.First); row < int32(track.First+track.N); row++ {
			if r.Col.Cat[row].IsRuntime() && r.Col.Corr[row] != 0 && records[r.Col.Name[row]] {
				calls[r.Trace.Number(r.Col.Corr[row])] = row
			}
		}
	}
	for i := range list {
		if row, ok := calls[list[i].Recorded]; ok && list[i].Recorded != Unknown {
			list[i].RecordCall = row
		}
	}
}
