package ingest

import (
	"sync"

	"github.com/gaprof/gaprof/trace"
)

// What reading costs, in bytes. What a text takes, its columns, arguments and facts, is by
// the density of its format, a quarter of it garbage; the rest is windows, tables of the
// reader, and decompression. That is what a file is given to begin with. Where names do not
// repeat, or events are spread over a million tracks, the tables take more than the length
// of the text suggests. Then what the reader says of them counts, with its garbage and facts.
const (
	perFile       = 8e6
	ownMemory     = 24e6 // the program without any file
	shareOfTables = 1.2
	unknownText   = 16e6 // of what says no length: reserved at first
	leastReach    = 4e6
	keptTrack     = 200 // a track
	keptProcess   = 2e3
)

// needOf is the memory that reading a text of some density and computing its facts takes
// at most.
func needOf(text int64, density float64) int64 { return int64(density*float64(text)) + perFile }

// keptOfText is how many of these bytes stay, 2 of 11: the facts, and what the report says
// of them.
func keptOfText(text int64, density float64) int64 { return int64(density * float64(text) * 2 / 11) }

// textIn is the longest text that so much memory is enough for.
func textIn(memory int64, density float64) int64 { return int64(float64(memory-perFile) / density) }

// needOfTables is the memory that it takes where the tables say that they take so much.
func needOfTables(bytes int64) int64 { return int64(shareOfTables * float64(bytes)) }

// keptOf is what is kept of tracks and of the processes they are in, by which they are
// ordered.
func keptOf(tracks []trace.Track) int64 {
	n := int64(0)
	for i := range tracks {
		n += keptTrack
		if i == 0 || tracks[i].PID != tracks[i-1].PID {
			n += keptProcess
		}
	}
	return n
}

// reachIn is how many bytes of text one event may span: an event is in memory as a whole,
// up to four times over while the window grows and what is nested in it is followed.
func reachIn(memory int64) int { return int(max(memory/16, leastReach)) }

// budget hands out workers, and memory to read into. Those who wait get their turn in
// the order in which they ask, if only one asks at a time.
type budget struct {
	all   int   // workers there are
	limit int64 // bytes there are

	mu      sync.Mutex
	changed *sync.Cond // something was given back
	workers int        // free
	used    int64      // bytes
	facts   int64      // of used: what is kept of files that have been read
}

func newBudget(l Limits) *budget {
	b := &budget{workers: l.Workers, all: l.Workers, limit: l.Memory, used: ownMemory}
	b.changed = sync.NewCond(&b.mu)
	return b
}

// take waits for some workers and bytes. It fails where there are too few bytes though
// nobody else reads.
func (b *budget) take(workers int, bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.workers < workers || b.workers < b.all && b.used+bytes > b.limit {
		b.changed.Wait()
	}
	if b.used+bytes > b.limit {
		return false
	}
	b.workers -= workers
	b.used += bytes
	return true
}

// grow takes more bytes for a reader that has its workers, without waiting.
func (b *budget) grow(bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used+bytes > b.limit {
		return false
	}
	b.used += bytes
	return true
}

// give gives workers and bytes back, but for the bytes that are kept for good.
func (b *budget) give(workers int, bytes, kept int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.workers += workers
	b.used += kept - bytes
	b.facts += kept
	b.changed.Broadcast()
}

// kept is how many bytes are kept for good.
func (b *budget) kept() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.facts
}

// left is how many bytes are free.
func (b *budget) left() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limit - b.used
}
