// Package record makes a trace of what a program does while it does it. Whoever
// observes the program gives events to a Log, from any goroutine and in any order; the
// texts of arguments are made when the trace is. Times are those of the caller's clock,
// so a simulation is recorded like a run.
package record

import (
	"slices"
	"strconv"
	"sync"

	"github.com/gaprof/gaprof/trace"
)

// Track is a row of a viewer: a host thread or a device stream.
type Track struct {
	PID, TID    int64  // of a device: its ordinal and the stream
	Process     string // the name of the process; "" none
	Labels      string // of the process: CPU, GPU 0
	ProcessSort int64  // where viewers put the process among others; 0 anywhere
	Thread      string // the name of the thread; "" none
	ThreadSort  int64  // where viewers put the track within its process; 0 anywhere
}

// Event is something that happened.
type Event struct {
	Track      int32       // index into the tracks of the Log
	Cat        trace.Cat   // trace.CatNone for none
	Phase      trace.Phase // 0 is trace.Complete
	Name       string      // as traces have it
	Start, End int64       // ns of the caller's clock
	Corr       int64       // correlation, 0 for none
	External   int64       // External id, 0 for none
	Args       Args        // nil for none
}

// Args are the arguments of an event. They are asked for when the trace is made, so that
// making their texts does not disturb the program that is recorded.
type Args interface{ Write(w *ArgWriter) }

// Log records one process. A nil *Log records nothing, so that a program need not ask
// whether it is recorded. New makes one; the zero value has no step to add events to.
type Log struct {
	Unlaunched bool // device events whose launch is not there are kept; set it before the first event

	mu     sync.Mutex
	tracks []Track
	steps  [][]chunk // the events of each step that is kept, the present one last
}

// chunk holds events; full ones are never moved.
type chunk []Event

const chunkLen = 1024

// New returns a Log whose events stand on these tracks, and those that Track adds.
func New(tracks []Track) *Log {
	return &Log{tracks: slices.Clone(tracks), steps: make([][]chunk, 1)}
}

// Track adds a track for events to stand on and returns its index: a stream, say, that
// nobody knew of when the Log was made.
func (l *Log) Track(t Track) int32 {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tracks = append(l.tracks, t)
	return int32(len(l.tracks) - 1)
}

// Tracks returns the tracks that there are.
func (l *Log) Tracks() []Track {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.tracks)
}

// Add records an event. It may be called by several goroutines at once.
func (l *Log) Add(e Event) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	list := &l.steps[len(l.steps)-1]
	n := len(*list)
	if n == 0 || len((*list)[n-1]) == chunkLen {
		*list = append(*list, make(chunk, 0, chunkLen))
		n++
	}
	(*list)[n-1] = append((*list)[n-1], e)
}

// Step begins a step and lets go of the events of all but the last keep ones before it;
// below 0 nothing is let go. Device events whose launch is gone are left out of the trace.
func (l *Log) Step(keep int) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if gone := len(l.steps) - keep; keep >= 0 && gone > 0 {
		clear(l.steps[:gone])
		l.steps = l.steps[gone:]
	}
	l.steps = append(l.steps, nil)
}

// Len returns how many events are kept.
func (l *Log) Len() int {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.len()
}

func (l *Log) len() int {
	n := 0
	for _, step := range l.steps {
		for _, c := range step {
			n += len(c)
		}
	}
	return n
}

// ArgWriter takes the arguments of an event.
type ArgWriter struct {
	b    *trace.Builder
	list []trace.Arg
	buf  []byte
	keys []knownKey
	last int // index into keys: of the one asked for last
}

// knownKey is a key that was asked for, and which one was asked for after it.
type knownKey struct {
	name string
	key  trace.Key
	next int // index into keys
}

// Int adds a whole number.
func (w *ArgWriter) Int(key string, n int64) {
	w.list = append(w.list, trace.Arg{Key: w.key(key), Kind: trace.Int, Num: n})
}

// Text adds a string.
func (w *ArgWriter) Text(key, s string) {
	w.list = append(w.list, trace.Arg{Key: w.key(key), Kind: trace.Text, Str: w.intern(s)})
}

// JSON adds any other value by its JSON text.
func (w *ArgWriter) JSON(key, text string) {
	w.list = append(w.list, trace.Arg{Key: w.key(key), Kind: trace.JSON, Str: w.intern(text)})
}

// List adds a list by the JSON texts of its items, each with a comma after it.
func (w *ArgWriter) List(key string, items []byte) {
	w.buf = append(append(w.buf[:0], '['), items...)
	w.buf[len(w.buf)-1] = ']'
	text := w.b.Intern(w.buf)
	w.list = append(w.list, trace.Arg{Key: w.key(key), Kind: trace.JSON, Str: text})
}

// Float adds a number with its shortest decimal.
func (w *ArgWriter) Float(key string, v float64) {
	w.JSON(key, strconv.FormatFloat(v, 'g', -1, 64))
}

// key is that of a name. Most events have the arguments of another one, so that keys follow each other.
func (w *ArgWriter) key(name string) trace.Key {
	if len(w.keys) > 0 {
		if next := w.keys[w.last].next; w.keys[next].name == name {
			w.last = next
			return w.keys[next].key
		}
	}
	i := slices.IndexFunc(w.keys, func(k knownKey) bool { return k.name == name })
	if i < 0 {
		w.buf = append(w.buf[:0], name...)
		i = len(w.keys)
		w.keys = append(w.keys, knownKey{name: name, key: w.b.Key(w.buf)})
	}
	w.keys[w.last].next, w.last = i, i
	return w.keys[i].key
}

func (w *ArgWriter) intern(s string) trace.StringID {
	w.buf = append(w.buf[:0], s...)
	return w.b.Intern(w.buf)
}
