package trace

import "math/rand/v2"

// numberTable interns numbers by open addressing, in order of first appearance. A Go map
// would take four times the memory, and twice that while it grows. Its zero value is empty.
type numberTable struct {
	nums  []uint64
	slots []uint32 // one more than the place in nums, 0 is free
}

// numberSeeds differ from run to run: nobody can choose numbers that collide.
var numberSeeds = [2]uint64{rand.Uint64() | 1, rand.Uint64() | 1}

const firstNumbers = 64 // slots

// first is the slot in which a search for n begins.
func (t *numberTable) first(n uint64) int {
	n = (n ^ n>>32) * numberSeeds[0]
	n = (n ^ n>>32) * numberSeeds[1]
	return int(n >> 32 * uint64(len(t.slots)) >> 32)
}

// search returns the slot of n or the free one where it belongs.
func (t *numberTable) search(n uint64) *uint32 {
	for i := t.first(n); ; i++ {
		if i == len(t.slots) {
			i = 0
		}
		if slot := &t.slots[i]; *slot == 0 || t.nums[*slot-1] == n {
			return slot
		}
	}
}

// intern returns the place of n in nums.
func (t *numberTable) intern(n uint64) uint32 {
	if len(t.nums)*4 >= len(t.slots)*3 {
		t.grow()
	}
	slot := t.search(n)
	if *slot == 0 {
		t.nums = append(t.nums, n)
		*slot = uint32(len(t.nums))
	}
	return *slot - 1
}

func (t *numberTable) grow() {
	t.slots = make([]uint32, max(firstNumbers, len(t.slots)+len(t.slots)/2))
	for i, n := range t.nums {
		*t.search(n) = uint32(i + 1)
	}
}

func (t *numberTable) bytes() int64 { return int64(len(t.nums))*8 + int64(len(t.slots))*4 }

// ID is a correlation, flow or External id as a column holds it: the number itself
// where that is small, as nearly all are, else the place of the number in a table. So a
// column takes four bytes a row and not eight. Within one Trace equal IDs are equal
// numbers; Trace.Number tells the number. 0 is 0.
type ID uint32

// firstLarge is the first number that stands in the table.
const firstLarge = 1 << 31

// idTable holds the numbers that are negative or large, each once.
type idTable struct{ numberTable }

func (t *idTable) id(n int64) ID {
	if uint64(n) < firstLarge {
		return ID(n)
	}
	return t.large(n)
}

// large is apart from id so that id is inlined where rows are added.
func (t *idTable) large(n int64) ID { return firstLarge + ID(t.intern(uint64(n))) }

func (t *idTable) number(id ID) int64 {
	if id < firstLarge {
		return int64(id)
	}
	return int64(t.nums[id-firstLarge])
}
