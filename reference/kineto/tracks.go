package kineto

import (
	"fmt"
	"strconv"
	"sync"

	"github.com/gaprof/gaprof/trace/record"
)

// Indices of the tracks that every rank has. Further streams get tracks of their own when
// they first appear: if they shared one, their events would overlap, while readers expect
// a stream to do one thing at a time.
const (
	hostTrack int32 = iota
	waitTrack       // waits of the host; they overlap with what streams do
	computeTrack
	commTrack
	numTracks
)

// Streams have the numbers of PyTorch's compute and NCCL streams, never 0. -1 is the
// number that Kineto uses for synchronization of the whole device.
const waitStream, computeStream, commStream = -1, 7, 20

// hostThread returns the track of the dispatch thread. Ranks are goroutines of one process,
// but tools identify ranks by process, so each gets a process id of its own: that of the
// process with four digits for the rank appended.
func hostThread(process int64, rank int) record.Track {
	pid := process*10000 + int64(rank)
	return record.Track{PID: pid, TID: pid, Process: "gaprof", Labels: "CPU", ProcessSort: pid,
		Thread: fmt.Sprintf("thread %d (dispatch of rank %d)", pid, rank), ThreadSort: pid}
}

// streamOf returns the track of a stream.
func streamOf(rank int, stream int64) record.Track {
	return record.Track{PID: int64(rank), TID: stream, Process: "gaprof", Labels: "GPU " + strconv.Itoa(rank),
		ProcessSort: 5000000 + int64(rank), Thread: fmt.Sprintf("stream %d ", stream), ThreadSort: stream}
}

// tracks returns the tracks that every rank has.
func tracks(process int64, rank int) []record.Track {
	list := make([]record.Track, numTracks)
	list[hostTrack] = hostThread(process, rank)
	list[waitTrack] = streamOf(rank, waitStream)
	list[computeTrack] = streamOf(rank, computeStream)
	list[commTrack] = streamOf(rank, commStream)
	return list
}

// streamTracks maps streams to tracks. It is used by the goroutines of all streams.
type streamTracks struct {
	rank int
	log  *record.Log

	mu   sync.Mutex
	more map[int]int32 // tracks of further streams
}

func (s *streamTracks) of(stream int) int32 {
	switch stream {
	case computeStream:
		return computeTrack
	case commStream:
		return commTrack
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	track, ok := s.more[stream]
	if !ok {
		track = s.log.Track(streamOf(s.rank, int64(stream)))
		s.more[stream] = track
	}
	return track
}
