package trace

import "hash/maphash"

// StringID is an index into the string table of a Trace; 0 is the empty string.
type StringID uint32

// stringTable interns byte strings by open addressing; ids follow the order of
// first appearance, so they do not depend on the hash seed.
type stringTable struct {
	seed  maphash.Seed
	strs  []string
	slots []uint32 // id+1, 0 is free; a power of two long
	tags  []uint32 // upper hash bits of each slot's string
}

func newStringTable() stringTable {
	t := stringTable{seed: maphash.MakeSeed(), slots: make([]uint32, 1024), tags: make([]uint32, 1024)}
	t.intern(nil)
	return t
}

func (t *stringTable) intern(s []byte) StringID {
	h := maphash.Bytes(t.seed, s)
	mask := uint64(len(t.slots) - 1)
	tag := uint32(h >> 32)
	for i := h & mask; ; i = (i + 1) & mask {
		id := t.slots[i]
		if id == 0 {
			return t.add(s, i, tag)
		}
		if t.tags[i] == tag && t.strs[id-1] == string(s) {
			return StringID(id - 1)
		}
	}
}

func (t *stringTable) add(s []byte, slot uint64, tag uint32) StringID {
	t.strs = append(t.strs, string(s))
	t.slots[slot], t.tags[slot] = uint32(len(t.strs)), tag
	if len(t.strs)*2 > len(t.slots) {
		t.grow()
	}
	return StringID(len(t.strs) - 1)
}

func (t *stringTable) grow() {
	n := len(t.slots) * 2
	t.slots, t.tags = make([]uint32, n), make([]uint32, n)
	mask := uint64(n - 1)
	for id, s := range t.strs {
		h := maphash.String(t.seed, s)
		i := h & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i], t.tags[i] = uint32(id+1), uint32(h>>32)
	}
}
