package ingest

import (
	"sync"

	"github.com/gaprof/gaprof/trace"
)

// What reading costs, in bytes. A text costs the density of its format per byte: columns,
// arguments and facts, a quarter of it garbage. The rest is windows, tables of the reader,
// and decompression. A file is given that much to begin with. Where names do not repeat, or
// events are spread over a million tracks, the tables take more than the length of the text
// suggests. Then the size that the reader states for them counts, plus garbage and facts.
const (
	perFile       = 8e6
	ownMemory     = 24e6 // the program before it reads anything
	shareOfTables = 1.2
	unknownText   = 16e6 // first reserved for a stream, which states no length
	leastReach    = 4e6
	keptTrack     = 200 // for each track
	keptProcess   = 2e3 // for each process

	shareOfReplays = 4 // one part of so many may be taken by traces that are kept for replays
)

// needOf is the memory that reading a text of some density and computing its facts takes
// at most.
func needOf(text int64, density float64) int64 { return int64(density*float64(text)) + perFile }

// keptOfText is how many of these bytes stay, 2 of 11: the facts, and their part of the
// report.
func keptOfText(text int64, density float64) int64 { return int64(density * float64(text) * 2 / 11) }

// textIn is the length of the longest text that fits into so much memory.
func textIn(memory int64, density float64) int64 { return int64(float64(memory-perFile) / density) }

// needOfTables is the memory that reading takes where the tables take so many bytes.
func needOfTables(bytes int64) int64 { return int64(shareOfTables * float64(bytes)) }

// keptOf is how many bytes are kept of tracks and of their processes. Tracks are ordered
// by process.
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

// budget hands out workers, and memory to read into. Waiters are served in
// the order in which they ask, if only one asks at a time.
type budget struct {
	all   int   // workers in total
	limit int64 // bytes in total

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

// take waits for workers and bytes. It fails where there are too few bytes even though
// no other file is being read.
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

// give returns workers and bytes, except for the bytes that are kept for good.
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
