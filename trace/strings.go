package trace

import (
	"hash/maphash"
	"slices"
	"strings"
)

// StringID is an index into the string table of a Trace; 0 is the empty string.
type StringID uint32

// stringTable interns byte strings by open addressing; ids follow the order of
// first appearance, so they do not depend on the hash seed.
type stringTable struct {
	seed  maphash.Seed
	strs  []string
	slots []stringSlot // a power of two long
	room  *strings.Builder
}

// stringSlot holds a string's hash beside its id, so that the table grows without
// looking at the strings.
type stringSlot struct {
	id1  uint32 // id+1, 0 is free
	hash uint32
}

const (
	roomSize  = 64 << 10 // bytes that are taken at once for short strings
	longName  = 1 << 10  // bytes of a string that is kept by itself
	firstSize = 1024     // slots
)

func newStringTable() stringTable {
	t := stringTable{seed: maphash.MakeSeed(), slots: make([]stringSlot, firstSize), room: new(strings.Builder)}
	t.intern(nil)
	return t
}

func (t *stringTable) intern(s []byte) StringID {
	hash, mask := uint32(maphash.Bytes(t.seed, s)), uint32(len(t.slots)-1)
	for i := hash & mask; ; i = (i + 1) & mask {
		slot := &t.slots[i]
		if slot.id1 == 0 {
			return t.add(s, slot, hash)
		}
		if slot.hash == hash && t.strs[slot.id1-1] == string(s) {
			return StringID(slot.id1 - 1)
		}
	}
}

// find returns the id of s where it was interned.
func (t *stringTable) find(s string) (StringID, bool) {
	if len(t.slots) == 0 { // of a Select
		i := slices.Index(t.strs, s)
		return StringID(max(i, 0)), i >= 0
	}
	hash, mask := uint32(maphash.String(t.seed, s)), uint32(len(t.slots)-1)
	for i := hash & mask; ; i = (i + 1) & mask {
		slot := t.slots[i]
		if slot.id1 == 0 {
			return 0, false
		}
		if slot.hash == hash && t.strs[slot.id1-1] == s {
			return StringID(slot.id1 - 1), true
		}
	}
}

func (t *stringTable) add(s []byte, slot *stringSlot, hash uint32) StringID {
	t.strs = append(t.strs, t.keep(s))
	*slot = stringSlot{uint32(len(t.strs)), hash}
	if len(t.strs)*2 > len(t.slots) {
		t.grow()
	}
	return StringID(len(t.strs) - 1)
}

// keep copies s into a string. Short ones share a block of memory.
func (t *stringTable) keep(s []byte) string {
	if len(s) > longName {
		return string(s)
	}
	if t.room.Cap()-t.room.Len() < len(s) {
		t.room = new(strings.Builder)
		t.room.Grow(min(roomSize, longName+8*len(t.strs)))
	}
	start := t.room.Len()
	t.room.Write(s)
	return t.room.String()[start:]
}

func (t *stringTable) grow() {
	old := t.slots
	t.slots = make([]stringSlot, 2*len(old))
	mask := uint32(len(t.slots) - 1)
	for _, slot := range old {
		if slot.id1 == 0 {
			continue
		}
		i := slot.hash & mask
		for t.slots[i].id1 != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = slot
	}
}
