package template

import "github.com/gaprof/gaprof/trace"

// Value is a value that was read before: its JSON text, and what it stands for as the
// value of one key, or of all that nobody asks for.
type Value struct {
	text string
	arg  trace.Arg
	next *Value // the one that stood there the last time after this one
}

// Len is the length of the text in bytes.
func (v *Value) Len() int { return len(v.text) }

// Arg is what the value stands for; its key is trace.KeyNone where nobody asks for it.
func (v *Value) Arg() trace.Arg { return v.arg }

// at reports whether the value stands at i, as the value of key.
func (v *Value) at(b []byte, i int, key trace.Key) bool {
	end := i + len(v.text)
	return v.arg.Key == key && end <= len(b) && string(b[i:end]) == v.text
}

// valueKey is what a Value is known by.
type valueKey struct {
	key  trace.Key
	text string
}

const maxValue = 512 // bytes of a value that is remembered

// MaxValues is how many values are known; more are not remembered.
const MaxValues = 1 << 16

// Values is a value cache. Strings and lists say by themselves where they end, so one
// that was read by the rules before is recognised by its bytes, and neither scanned nor
// made into an argument again: traces repeat the same shapes, types and names, mostly in
// the same order. A value is found by its first bytes, with and without the name of the
// event it is in, where it stands if it was seen there last, or next the time before;
// all holds every value.
type Values struct {
	slots [4096]*Value
	all   map[valueKey]*Value
	text  int64 // bytes of all
}

// NewValues returns an empty cache.
func NewValues() Values { return Values{all: make(map[valueKey]*Value)} }

// Len is the number of values that are known.
func (t *Values) Len() int { return len(t.all) }

// TextLen is the bytes of their texts.
func (t *Values) TextLen() int64 { return t.text }

// hash is that of the first bytes of the value at i of key.
func (t *Values) hash(b []byte, i int, key trace.Key) uint64 {
	return hash(b, i) ^ uint64(key)*spreadKey
}

// named is where a value of some hash may stand in an event called name, any where it
// may stand in all.
func (t *Values) named(hash uint64, name trace.StringID) **Value {
	return t.any(hash ^ uint64(name)*spreadName)
}

func (t *Values) any(hash uint64) **Value {
	return &t.slots[(hash^hash>>29)>>32%uint64(len(t.slots))]
}

// Recall returns the value that stands at i, nil where it was not seen lately.
func (t *Values) Recall(b []byte, i int, key trace.Key, name trace.StringID) *Value {
	hash := t.hash(b, i, key)
	named := t.named(hash, name)
	last := *named
	if last == nil {
		return nil
	}
	v := last.next
	if !v.at(b, i, key) {
		if v = last; !v.at(b, i, key) {
			if v = *t.any(hash); v == nil || !v.at(b, i, key) {
				return nil
			}
		}
		last.next = v
	}
	*named = v
	return v
}

// Find returns the value b[i:end], however long ago it was seen, nil where it is new.
func (t *Values) Find(b []byte, i, end int, key trace.Key, name trace.StringID) *Value {
	v := t.all[valueKey{key, string(b[i:end])}]
	if v != nil {
		t.put(b, i, v, name)
	}
	return v
}

// Remember keeps the value b[i:end], which stands for arg.
func (t *Values) Remember(b []byte, i, end int, arg trace.Arg, name trace.StringID) {
	if end-i > maxValue || len(t.all) >= MaxValues {
		return
	}
	v := &Value{text: string(b[i:end]), arg: arg}
	v.next = v
	t.all[valueKey{arg.Key, v.text}] = v
	t.text += int64(len(v.text))
	t.put(b, i, v, name)
}

func (t *Values) put(b []byte, i int, v *Value, name trace.StringID) {
	hash := t.hash(b, i, v.arg.Key)
	named := t.named(hash, name)
	if last := *named; last != nil {
		last.next = v
	}
	*named, *t.any(hash) = v, v
}
