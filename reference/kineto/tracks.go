package kineto

import (
	"fmt"
	"os"
	"strconv"
	"sync"

	"github.com/gaprof/gaprof/trace/record"
)

// Tracks that every rank has, by index. Streams that the device has beyond the two that
// the trainer makes get tracks of their own as they appear: on one of these their events
// would overlap, and readers take a track for something that does one thing at a time.
const (
	hostTrack int32 = iota
	waitTrack       // waits of the host: they overlap what runs on the streams
	computeTrack
	commTrack
	numTracks
)

// Streams have the numbers that PyTorch's compute and NCCL streams have, never 0. The
// wait track has the number that Kineto gives to synchronization of the whole device.
const waitStream, computeStream, commStream = -1, 7, 20

// hostThread is the dispatch thread of a rank. Ranks are goroutines of one process, but
// programs take a process for a rank, so each gets a number of its own: the process id
// with four digits of rank.
func hostThread(rank int) record.Track {
	pid := int64(os.Getpid())*10000 + int64(rank)
	return record.Track{PID: pid, TID: pid, Process: "gaprof", Labels: "CPU", ProcessSort: pid,
		Thread: fmt.Sprintf("thread %d (dispatch of rank %d)", pid, rank), ThreadSort: pid}
}

func streamOf(rank int, stream int64) record.Track {
	return record.Track{PID: int64(rank), TID: stream, Process: "gaprof", Labels: "GPU " + strconv.Itoa(rank),
		ProcessSort: 5000000 + int64(rank), Thread: fmt.Sprintf("stream %d ", stream), ThreadSort: stream}
}

// tracks are those that a rank has from the beginning.
func tracks(rank int) []record.Track {
	list := make([]record.Track, numTracks)
	list[hostTrack] = hostThread(rank)
	list[waitTrack] = streamOf(rank, waitStream)
	list[computeTrack] = streamOf(rank, computeStream)
	list[commTrack] = streamOf(rank, commStream)
	return list
}

// streamTracks finds the track of a stream. Streams ask for it from their own
// goroutines.
type streamTracks struct {
	rank int
	log  *record.Log

	mu   sync.Mutex
	more map[int]int32 // tracks of streams beyond the two
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
