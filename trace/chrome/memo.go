package chrome

import (
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/scan"
)

// Strings and lists say by themselves where they end. So one that was read by the
// rules before is recognised by its bytes, and neither scanned nor made into an
// argument again: traces repeat the same shapes, types and names, mostly in the same
// order.

// memo is a value that was read before: its JSON text, and what it stands for as
// the value of one key, or of all that nobody asks for.
type memo struct {
	text string
	arg  trace.Arg
	next *memo // the one that stood there the last time after this one
}

// memoKey is what a memo is known by.
type memoKey struct {
	key  trace.Key
	text string
}

const (
	maxMemo  = 512     // bytes of a value that is remembered
	maxMemos = 1 << 16 // values; more are not remembered
)

// memoTable finds a memo by its first bytes, with and without the name of the event it
// is in, where it stands if it was seen there last, or next the time before; all holds
// every memo.
type memoTable struct {
	slots [4096]*memo
	all   map[memoKey]*memo
	text  int64 // bytes of all
}

func newMemoTable() memoTable { return memoTable{all: make(map[memoKey]*memo)} }

// hash is that of the first bytes of the value at i of key.
func (t *memoTable) hash(b []byte, i int, key trace.Key) uint64 {
	return scan.Load(b, i)*0x9e3779b97f4a7c15 ^ scan.Load(b, i+8)*0xc2b2ae3d27d4eb4f ^ uint64(key)*0x165667b19e3779f9
}

// named is where a value of some hash may stand in an event called name, any where it
// may stand in all.
func (t *memoTable) named(hash uint64, name trace.StringID) **memo {
	return t.any(hash ^ uint64(name)*0x27d4eb2f165667c5)
}

func (t *memoTable) any(hash uint64) **memo {
	return &t.slots[(hash^hash>>29)>>32%uint64(len(t.slots))]
}

// at tells whether the value stands at i, as the value of key.
func (m *memo) at(b []byte, i int, key trace.Key) bool {
	end := i + len(m.text)
	return m.arg.Key == key && end <= len(b) && string(b[i:end]) == m.text
}

// recall returns the value that stands at i, nil where it was not seen lately.
func (t *memoTable) recall(b []byte, i int, key trace.Key, name trace.StringID) *memo {
	hash := t.hash(b, i, key)
	named := t.named(hash, name)
	last := *named
	if last == nil {
		return nil
	}
	m := last.next
	if !m.at(b, i, key) {
		if m = last; !m.at(b, i, key) {
			if m = *t.any(hash); m == nil || !m.at(b, i, key) {
				return nil
			}
		}
		last.next = m
	}
	*named = m
	return m
}

// find returns the value b[i:end], however long ago it was seen, nil where it is new.
func (t *memoTable) find(b []byte, i, end int, key trace.Key, name trace.StringID) *memo {
	m := t.all[memoKey{key, string(b[i:end])}]
	if m != nil {
		t.put(b, i, m, name)
	}
	return m
}

// remember keeps the value b[i:end], which stands for arg.
func (t *memoTable) remember(b []byte, i, end int, arg trace.Arg, name trace.StringID) {
	if end-i > maxMemo || len(t.all) >= maxMemos {
		return
	}
	m := &memo{text: string(b[i:end]), arg: arg}
	m.next = m
	t.all[memoKey{arg.Key, m.text}] = m
	t.text += int64(len(m.text))
	t.put(b, i, m, name)
}

func (t *memoTable) put(b []byte, i int, m *memo, name trace.StringID) {
	hash := t.hash(b, i, m.arg.Key)
	named := t.named(hash, name)
	if last := *named; last != nil {
		last.next = m
	}
	*named, *t.any(hash) = m, m
}
