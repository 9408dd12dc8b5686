package trace

// ID is a correlation, flow or External id as a column holds it: the number itself
// where that is small, as nearly all are, else the place of the number in a table.
// Within one Trace equal IDs are equal numbers; Trace.Number tells the number.
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

func (t *idTable) large(n int64) ID { return firstLarge + ID(t.intern(uint64(n))) }

func (t *idTable) number(id ID) int64 {
	if id < firstLarge {
		return int64(id)
	}
	return int64(t.nums[id-firstLarge])
}

// Number is the number that id stands for.
func (t *Trace) Number(id ID) int64 { return t.ids.number(id) }
