package trace

// Kind tells what an argument's value is.
type Kind uint8

// The kinds of values. Everything that is neither an integer nor a string
// (fractions, lists, objects, true, false, null) is kept as its JSON text.
const (
	Int  Kind = iota // an int64; quoted integers are read as such
	Text             // a string
	JSON             // the text of any other JSON value
)

// Arg is one argument of an event.
type Arg struct {
	Key  Key      // what the argument is called, see Trace.KeyName
	Kind Kind     // which of the two fields below holds the value
	Num  int64    // the value where Kind is Int, else 0
	Str  StringID // the text where Kind is Text or JSON, else 0
}

// argTable holds the arguments of all events: sparse, in the order of Add. An event points
// to its first argument by a reference, one more than its place, so that 0 is an event
// without arguments; the last one is marked.
//
// Chunks are never moved: growing one list of all would copy gigabytes and hold both for a
// while. A list that was seen lately is not stored again, because a trace repeats the same
// shapes and streams over and over. To find every equal list would take a map as large as
// the table and save little more.
type argTable struct {
	chunks []argChunk
	free   []argChunk   // emptied chunks
	recent [1024]uint32 // references by hash of the list; 0 is none
}

// argChunk is a stretch of arguments, each list one field of them.
type argChunk struct {
	keys  []Key
	kinds []uint8 // Kind, with lastArg on an event's last
	vals  []int64 // a number or a StringID
}

const (
	lastArg  = 0x80
	chunkLen = 1 << 14 // arguments
)

// add stores args and returns the reference of the first, 0 where there are none.
func (t *argTable) add(args []Arg) uint32 {
	if len(args) == 0 {
		return 0
	}
	slot := &t.recent[hashArgs(args)%uint64(len(t.recent))]
	if *slot != 0 && t.equal(*slot, args) {
		return *slot
	}
	ref := uint32(1)
	if n := len(t.chunks); n > 0 {
		ref = uint32((n-1)*chunkLen + len(t.chunks[n-1].keys) + 1)
	}
	for i := range args {
		kind := uint8(args[i].Kind)
		if i == len(args)-1 {
			kind |= lastArg
		}
		t.append(args[i].Key, kind, args[i].val())
	}
	*slot = ref
	return ref
}

// append stores one argument in the last chunk, or in a new one where that is full.
func (t *argTable) append(key Key, kind uint8, val int64) {
	n := len(t.chunks)
	if n == 0 && len(t.free) == 0 { // grows as append has it: most small traces fill no chunk
		t.chunks, n = append(t.chunks, argChunk{}), 1
	} else if n == 0 || len(t.chunks[n-1].keys) == chunkLen {
		t.chunks, n = append(t.chunks, t.newChunk()), n+1
	}
	c := &t.chunks[n-1]
	c.keys = append(c.keys, key)
	c.kinds = append(c.kinds, kind)
	c.vals = append(c.vals, val)
}

// newChunk returns a chunk with room for chunkLen arguments, or for as many as the one
// had that is used again.
func (t *argTable) newChunk() argChunk {
	if n := len(t.free); n > 0 {
		c := t.free[n-1]
		t.free = t.free[:n-1]
		return c
	}
	return argChunk{make([]Key, 0, chunkLen), make([]uint8, 0, chunkLen), make([]int64, 0, chunkLen)}
}

// empty takes everything out and keeps the chunks for reuse.
func (t *argTable) empty() {
	for _, c := range t.chunks {
		t.free = append(t.free, argChunk{c.keys[:0], c.kinds[:0], c.vals[:0]})
	}
	t.chunks, t.recent = t.chunks[:0], [1024]uint32{}
}

// val is what the table stores of a.
func (a *Arg) val() int64 {
	if a.Kind == Int {
		return a.Num
	}
	return int64(a.Str)
}

func hashArgs(args []Arg) uint64 {
	h := uint64(len(args))
	for i := range args {
		h = (h ^ uint64(args[i].Key)<<48 ^ uint64(args[i].val())) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return h
}

// equal reports whether the list at ref is args.
func (t *argTable) equal(ref uint32, args []Arg) bool {
	for i := range args {
		a, last := t.at(ref - 1 + uint32(i))
		if a.Key != args[i].Key || a.Kind != args[i].Kind || a.val() != args[i].val() {
			return false
		}
		if last {
			return i == len(args)-1
		}
	}
	return false
}

// at returns an argument by its place, one less than a reference; last says that it is the
// last one of its event.
func (t *argTable) at(i uint32) (a Arg, last bool) {
	c, k := &t.chunks[i/chunkLen], i%chunkLen
	kind := c.kinds[k]
	a = Arg{Key: c.keys[k], Kind: Kind(kind &^ lastArg)}
	if a.Kind == Int {
		a.Num = c.vals[k]
	} else {
		a.Str = StringID(c.vals[k])
	}
	return a, kind&lastArg != 0
}

// appendTo adds the list at ref, which may be 0, to args.
func (t *argTable) appendTo(args []Arg, ref uint32) []Arg {
	if ref == 0 {
		return args
	}
	for i := ref - 1; ; i++ {
		a, last := t.at(i)
		args = append(args, a)
		if last {
			return args
		}
	}
}

// swap exchanges what t and other hold, but for what t remembers of its latest lists:
// they are not in it any more.
func (t *argTable) swap(other *argTable) {
	t.chunks, other.chunks = other.chunks, t.chunks
	t.free, other.free = other.free, t.free
	t.recent = [len(t.recent)]uint32{}
}

// count is how many arguments the table holds, in all chunks.
func (t *argTable) count() int {
	n := 0
	for _, c := range t.chunks {
		n += len(c.keys)
	}
	return n
}
