package chrome

import "github.com/gaprof/gaprof/trace"

// Strings and lists say by themselves where they end. So one that was read by the
// rules before is recognised by its bytes, and neither scanned nor made into an
// argument again: traces repeat the same shapes, types and names.

// memo is a value that was read before: its JSON text, and what it stands for as
// the value of one key, or of all that nobody asks for.
type memo struct {
	text string
	arg  trace.Arg
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

// memoTable finds a memo by its first bytes and the name of the event, in one of
// two slots, where it stands if it was seen lately; all holds every memo.
type memoTable struct {
	slots [2048][2]memo
	all   map[memoKey]memo
}

// slot is where the value at i of key may stand, in an event called name.
func (t *memoTable) slot(b []byte, i int, key trace.Key, name trace.StringID) *[2]memo {
	h := load(b, i)*0x9e3779b97f4a7c15 ^ load(b, i+8)*0xc2b2ae3d27d4eb4f ^ (uint64(name)<<16|uint64(key))*0x165667b19e3779f9
	return &t.slots[(h^h>>29)>>32&2047]
}

// at tells whether the value stands at i, as the value of key.
func (m *memo) at(b []byte, i int, key trace.Key) bool {
	end := i + len(m.text)
	return m.text != "" && m.arg.Key == key && end <= len(b) && string(b[i:end]) == m.text
}

// recall returns the value that stands at i, if it was seen lately.
func (t *memoTable) recall(b []byte, i int, key trace.Key, name trace.StringID) *memo {
	s := t.slot(b, i, key, name)
	if s[0].at(b, i, key) {
		return &s[0]
	}
	if s[1].at(b, i, key) {
		s[0], s[1] = s[1], s[0]
		return &s[0]
	}
	return nil
}

// find returns the value b[i:end], however long ago it was seen.
func (t *memoTable) find(b []byte, i, end int, key trace.Key, name trace.StringID) (m memo, ok bool) {
	if m, ok = t.all[memoKey{key, string(b[i:end])}]; ok {
		t.put(b, i, m, name)
	}
	return m, ok
}

// remember keeps the value b[i:end], which stands for arg.
func (t *memoTable) remember(b []byte, i, end int, arg trace.Arg, name trace.StringID) {
	if end-i > maxMemo || len(t.all) >= maxMemos {
		return
	}
	m := memo{string(b[i:end]), arg}
	t.all[memoKey{arg.Key, m.text}] = m
	t.put(b, i, m, name)
}

func (t *memoTable) put(b []byte, i int, m memo, name trace.StringID) {
	s := t.slot(b, i, m.arg.Key, name)
	s[0], s[1] = m, s[0]
}
