package trace

import (
	"hash/maphash"
	"strings"
)

// StringID is an index into the string table of a Trace; 0 is the empty string.
type StringID uint32

// texts are strings by StringID. They stand one behind the other in blocks, so that a
// million of them are few things for the collector to look at.
//
// A copy can be read while the table that it was taken from grows: of the blocks that it
// looks at only the open one changes, and of that it has a string of its own.
type texts struct {
	places []span   // by StringID
	blocks []string // the open one is empty here
	openAt int      // number of the block that is still being filled
	open   string   // what is in it
}

// span is where a string stands: the number of its block, the offset in it and the
// length, wholeBlock for all of it. Eight bytes and without a pointer, where a Go string
// has sixteen that the collector follows.
type span uint64

const (
	wholeBlock = 1<<16 - 1 // as a length: the block holds one string, of any length
	blockSize  = 1<<16 - 1 // bytes at most, but for a long string
	longName   = 1 << 10   // bytes; what is longer has a block of its own
)

// at returns the string of an id that is there.
func (t *texts) at(id StringID) string {
	p := t.places[id]
	block := t.open
	if k := int(p >> 32); k != t.openAt {
		block = t.blocks[k]
	}
	offset, length := p>>16&0xffff, p&0xffff
	if length == wholeBlock {
		return block
	}
	return block[offset : offset+length]
}

// stringTable interns byte strings by open addressing; ids follow the order of
// first appearance, so they do not depend on the hash seed. A map of strings would hold
// each key a second time, as a string header, and could not be asked by a hash that is
// known already.
type stringTable struct {
	texts
	slots []stringSlot
	room  *strings.Builder // that open stands in
	text  int64            // bytes of all blocks
	long  int64            // of those that hold one string
}

// stringSlot holds a string's hash beside its id, so that the table grows without
// looking at the strings.
type stringSlot struct {
	id1  uint32 // id+1, 0 is free
	hash uint32
}

const (
	firstSlots = 128
	steepSlots = 1 << 16 // up to so many they are doubled, then grow by half to waste less
)

// stringSeed differs from run to run: nobody can choose names that collide.
var stringSeed = maphash.MakeSeed()

func hashBytes(s []byte) uint32  { return uint32(maphash.Bytes(stringSeed, s)) }
func hashString(s string) uint32 { return uint32(maphash.String(stringSeed, s)) }

func newStringTable() stringTable {
	t := emptyStringTable()
	t.slots = make([]stringSlot, firstSlots)
	t.intern(nil)
	return t
}

// emptyStringTable is a table without slots, for few strings: find looks at every one.
func emptyStringTable() stringTable {
	return stringTable{texts: texts{blocks: []string{""}}, room: new(strings.Builder)}
}

// first is the slot in which a search begins. It grows with the hash, so the order of
// slots stays when the table grows: memory is read and written from one end to the other.
func (t *stringTable) first(hash uint32) int {
	return int(uint64(hash) * uint64(len(t.slots)) >> 32)
}

// search returns the slot of s or the free one where it belongs.
func search[S string | []byte](t *stringTable, s S, hash uint32) *stringSlot {
	for i := t.first(hash); ; i++ {
		if i == len(t.slots) {
			i = 0
		}
		slot := &t.slots[i]
		if slot.id1 == 0 || slot.hash == hash && t.at(StringID(slot.id1-1)) == string(s) {
			return slot
		}
	}
}

// intern returns the id of s, which is copied when it is new.
func (t *stringTable) intern(s []byte) StringID {
	hash := hashBytes(s)
	slot := search(t, s, hash)
	if slot.id1 == 0 {
		if len(s) > longName {
			t.keepLong(string(s))
		} else {
			t.makeRoom(len(s))
			t.room.Write(s)
			t.keep(len(s))
		}
		t.enter(slot, hash)
		return StringID(len(t.places) - 1)
	}
	return StringID(slot.id1 - 1)
}

// internString is intern for a string that is not changed and whose hash is known. A
// long one is kept as it is.
func (t *stringTable) internString(s string, hash uint32) StringID {
	slot := search(t, s, hash)
	if slot.id1 == 0 {
		id := t.store(s)
		t.enter(slot, hash)
		return id
	}
	return StringID(slot.id1 - 1)
}

// store keeps s, which is not in the table, without entering it.
func (t *stringTable) store(s string) StringID {
	if len(s) > longName {
		t.keepLong(s)
	} else {
		t.makeRoom(len(s))
		t.room.WriteString(s)
		t.keep(len(s))
	}
	return StringID(len(t.places) - 1)
}

// find returns the id of s where it was interned.
func (t *stringTable) find(s string) (StringID, bool) {
	if len(t.slots) == 0 {
		for id := range t.places {
			if t.at(StringID(id)) == s {
				return StringID(id), true
			}
		}
		return 0, false
	}
	slot := search(t, s, hashString(s))
	return StringID(max(slot.id1, 1) - 1), slot.id1 != 0
}

// makeRoom closes the open block where n bytes have no room in it, and opens one.
func (t *stringTable) makeRoom(n int) {
	if t.room.Cap()-t.room.Len() >= n {
		return
	}
	if t.room.Len() > 0 {
		t.blocks[t.openAt] = t.open
		t.blocks, t.openAt = append(t.blocks, ""), len(t.blocks)
	}
	t.room = new(strings.Builder)
	t.room.Grow(min(blockSize, longName+8*len(t.places)))
	t.text += int64(t.room.Cap())
}

// keep gives the last n bytes of the open block an id.
func (t *stringTable) keep(n int) {
	t.open = t.room.String()
	t.places = append(t.places, span(t.openAt)<<32|span(len(t.open)-n)<<16|span(n))
}

// keepLong gives s an id and a block of its own.
func (t *stringTable) keepLong(s string) {
	t.places = append(t.places, span(len(t.blocks))<<32|wholeBlock)
	t.blocks = append(t.blocks, s)
	t.text, t.long = t.text+int64(len(s)), t.long+int64(len(s))
}

// enter notes in slot that its hash is that of the last string.
func (t *stringTable) enter(slot *stringSlot, hash uint32) {
	*slot = stringSlot{uint32(len(t.places)), hash}
	if len(t.places)*4 > len(t.slots)*3 {
		t.grow()
	}
}

// grow moves the entries to more slots. It needs their hashes only, not the strings.
func (t *stringTable) grow() {
	old, n := t.slots, 2*len(t.slots)
	if len(old) > steepSlots {
		n = len(old) + len(old)/2
	}
	t.slots = make([]stringSlot, n)
	for _, slot := range old {
		if slot.id1 == 0 {
			continue
		}
		i := t.first(slot.hash)
		for t.slots[i].id1 != 0 {
			if i++; i == n {
				i = 0
			}
		}
		t.slots[i] = slot
	}
}

// bytes is what the table takes in memory. Long strings count a fifth less than their
// bytes: unlike all else they are never moved, so they leave no garbage behind.
func (t *stringTable) bytes() int64 {
	return int64(len(t.places))*8 + int64(len(t.slots))*8 + int64(len(t.blocks))*16 + t.text - t.long/5
}
