package template

import (
	"bytes"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/scan"
)

// A trace uses few categories, processes and threads, over and over. The tables of this
// file answer for them without hashing: each is a row of slots, found by the text's first
// bytes and length, that hold the last text seen there. Their zero values are empty.

const slots = 256 // a power of two

// slotOf spreads short texts over the slots.
func slotOf(s []byte) uint64 {
	h := uint64(len(s))
	if n := len(s); n >= 8 {
		h ^= scan.Load(s, 0) ^ scan.Load(s, n-8)<<1
	} else {
		for _, c := range s {
			h = h<<8 | uint64(c)
		}
	}
	return h * spread >> 56
}

// hash is that of the sixteen bytes at i; its upper bits depend on all of them.
func hash(b []byte, i int) uint64 {
	return scan.Load(b, i)*spread ^ scan.Load(b, i+8)*spreadMore
}

// Odd numbers whose bits look drawn: multiplied by them, texts that differ anywhere differ
// in their upper bits.
const (
	spread     = 0x9e3779b97f4a7c15
	spreadMore = 0xc2b2ae3d27d4eb4f
	spreadKey  = 0x165667b19e3779f9
	spreadName = 0x27d4eb2f165667c5
)

// Labels is a cache of process and thread ids that are numbers.
type Labels [slots]struct {
	v    int64
	id   trace.StringID
	used bool
}

// Find returns the id of the text of v, which is interned in to where it is new.
func (t *Labels) Find(v int64, text []byte, to *trace.Builder) trace.StringID {
	s := &t[uint64(v)%slots]
	if !s.used || s.v != v {
		s.v, s.used = v, true
		s.id = to.Intern(text)
	}
	return s.id
}

// Cats is a cache of categories.
type Cats [slots]struct {
	name string
	cat  trace.Cat
	used bool
}

// Find returns the category called name, which is added to to where it is new. Of names
// separated by commas the first known one counts.
func (t *Cats) Find(name []byte, to *trace.Builder) trace.Cat {
	s := &t[slotOf(name)]
	if !s.used || s.name != string(name) {
		s.name, s.used = string(name), true
		s.cat = catOf(name, to)
	}
	return s.cat
}

func catOf(name []byte, to *trace.Builder) trace.Cat {
	if _, ok := trace.KnownCat(name); ok || !bytes.Contains(name, []byte(",")) {
		return to.Cat(name)
	}
	for part := range bytes.SplitSeq(name, []byte(",")) {
		if c, ok := trace.KnownCat(bytes.TrimSpace(part)); ok {
			return c
		}
	}
	first, _, _ := bytes.Cut(name, []byte(","))
	return to.Cat(bytes.TrimSpace(first))
}

// Tracks is a cache of tracks by process and thread.
type Tracks [slots]struct {
	pid, tid trace.StringID
	id       trace.TrackID
	used     bool
}

// Find returns the track of a process and a thread, which is added to to where it is new.
func (t *Tracks) Find(pid, tid trace.StringID, to *trace.Builder) trace.TrackID {
	s := &t[(uint64(pid)*31+uint64(tid))%slots]
	if !s.used || s.pid != pid || s.tid != tid {
		s.pid, s.tid, s.used = pid, tid, true
		s.id = to.Track(pid, tid)
	}
	return s.id
}
