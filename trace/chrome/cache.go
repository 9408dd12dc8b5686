package chrome

import (
	"bytes"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/scan"
	"github.com/gaprof/gaprof/trace/chrome/token"
)

// A trace uses few categories, processes and threads, over and over. The
// tables here answer for them without hashing: each is a row of slots, found by
// the text's first bytes and length, that hold the last text seen there.

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
	return h * 0x9e3779b97f4a7c15 >> 56
}

// label is a process or thread id that is a number.
type label struct {
	v    int64
	id   trace.StringID
	used bool
}

// lookupKey asks the model for a key; correlation_id is XLA's name for one.
func (d *reader) lookupKey(name []byte) (key trace.Key, keep bool) {
	if string(name) == "correlation_id" {
		return trace.KeyCorrelation, true
	}
	if key, keep = trace.FixedKey(name); keep || !d.opts.KeepArgs {
		return key, keep
	}
	key = d.b.Key(name)
	return key, key != trace.KeyNone || len(name) == 0
}

// catTable knows categories.
type catTable [slots]struct {
	name string
	cat  trace.Cat
	used bool
}

func (t *catTable) find(d *reader, name []byte) trace.Cat {
	s := &t[slotOf(name)]
	if !s.used || s.name != string(name) {
		s.name, s.used = string(name), true
		s.cat = d.lookupCat(name)
	}
	return s.cat
}

// lookupCat returns the category called name, or the first known one of a list.
func (d *reader) lookupCat(name []byte) trace.Cat {
	if _, ok := trace.KnownCat(name); ok || !bytes.Contains(name, []byte(",")) {
		return d.b.Cat(name)
	}
	for part := range bytes.SplitSeq(name, []byte(",")) {
		if c, ok := trace.KnownCat(bytes.TrimSpace(part)); ok {
			return c
		}
	}
	first, _, _ := bytes.Cut(name, []byte(","))
	return d.b.Cat(bytes.TrimSpace(first))
}

// trackTable knows tracks by process and thread.
type trackTable [slots]struct {
	pid, tid trace.StringID
	id       trace.TrackID
	used     bool
}

func (d *reader) track(pid, tid trace.StringID) trace.TrackID {
	s := &d.tracks[(uint64(pid)*31+uint64(tid))%slots]
	if !s.used || s.pid != pid || s.tid != tid {
		s.pid, s.tid, s.used = pid, tid, true
		s.id = d.b.Track(pid, tid)
	}
	return s.id
}

// name is a name that was read before, without its quotes.
type name struct {
	text string
	id   trace.StringID
	next *name // the one that stood there the last time after this one
}

// nameTable knows names by their first sixteen bytes, so that one that stood there
// last, or next the time before, is compared, and neither scanned nor hashed.
type nameTable struct {
	slots [4 * slots]*name
	all   map[trace.StringID]*name
}

// mostNames is how many names are known at a time: with more, learning starts anew.
const mostNames = 1 << 13

// put notes that the name called text stands in slot.
func (t *nameTable) put(slot **name, id trace.StringID, text string) {
	n := t.all[id]
	if n == nil {
		if len(t.all) == mostNames || t.all == nil {
			*t = nameTable{all: make(map[trace.StringID]*name)}
		}
		n = &name{text: text, id: id}
		n.next, t.all[id] = n, n
	}
	if last := *slot; last != nil {
		last.next = n
	}
	*slot = n
}

// at tells whether the name and the quote behind it stand at i.
func (n *name) at(b []byte, i int) bool {
	end := i + len(n.text)
	return end < len(b) && b[end] == '"' && string(b[i:end]) == n.text
}

// plainName reads a quoted name without escapes at i; ok is false for all else.
func (d *reader) plainName(i int) (id trace.StringID, next int, ok bool) {
	b := d.Buf[:d.N]
	if d.Buf[i] != '"' || d.Mode != token.Strict || d.opts.rules || i+18 > len(b) {
		return 0, i, false
	}
	i++
	slot := &d.names.slots[(scan.Load(b, i)*0x9e3779b97f4a7c15^scan.Load(b, i+8)*0xc2b2ae3d27d4eb4f)>>54]
	if last := *slot; last != nil {
		if n := last.next; n.at(b, i) {
			*slot = n
			return n.id, i + len(n.text) + 1, true
		}
		if last.at(b, i) {
			last.next = last
			return last.id, i + len(last.text) + 1, true
		}
	}
	end, raw := scan.String(d.Buf, i)
	if raw || end < 0 || end+1-i > token.MaxText {
		return 0, i, false
	}
	before := d.b.NumStrings()
	if id = d.b.Intern(b[i:end]); int(id) < before { // names that come once are not worth it
		d.names.put(slot, id, d.b.String(id))
	}
	return id, end + 1, true
}
