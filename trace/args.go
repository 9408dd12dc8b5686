package trace

import "strconv"

// Key names an argument of an event. The constants below are the same in every
// Trace; other names get the numbers after them in order of appearance.
type Key uint16

// The arguments that the analysis asks for, by the names that Kineto writes.
// correlation and External id have columns of their own.
const (
	KeyNone Key = iota
	KeyCorrelation
	KeyExternalID
	KeyDevice
	KeyStream
	KeyBytes
	KeyInputDims
	KeyInputType
	KeyConcreteInputs
	KeyCollective
	KeyInElems
	KeyOutElems
	KeyDtype
	KeyGroupSize
	KeyGroupName
	KeyGroupDesc
	KeyGroupRanks
	KeyRank
	KeySeq
	KeyName
	KeyLabels
	KeySortIndex
	numFixedKeys
)

var keyNames = [numFixedKeys]string{
	KeyNone:           "",
	KeyCorrelation:    "correlation",
	KeyExternalID:     "External id",
	KeyDevice:         "device",
	KeyStream:         "stream",
	KeyBytes:          "bytes",
	KeyInputDims:      "Input Dims",
	KeyInputType:      "Input type",
	KeyConcreteInputs: "Concrete Inputs",
	KeyCollective:     "Collective name",
	KeyInElems:        "In msg nelems",
	KeyOutElems:       "Out msg nelems",
	KeyDtype:          "dtype",
	KeyGroupSize:      "Group size",
	KeyGroupName:      "Process Group Name",
	KeyGroupDesc:      "Process Group Description",
	KeyGroupRanks:     "Process Group Ranks",
	KeyRank:           "Rank",
	KeySeq:            "Seq",
	KeyName:           "name",
	KeyLabels:         "labels",
	KeySortIndex:      "sort_index",
}

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
	Key  Key
	Kind Kind
	Num  int64    // the value where Kind is Int
	Str  StringID // the text where Kind is Text or JSON
}

// argTable holds the arguments of all events: sparse, in the order of Add.
// An event points to its first argument; the last one is marked. Chunks are
// never moved, and a list that was seen lately is not stored again: a trace
// repeats the same shapes and streams over and over.
type argTable struct {
	chunks []argChunk
	free   []argChunk   // emptied chunks
	recent [1024]uint32 // references by hash of the list
}

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

func (t *argTable) append(key Key, kind uint8, val int64) {
	n := len(t.chunks)
	if n == 0 && len(t.free) == 0 {
		t.chunks, n = append(t.chunks, argChunk{}), 1
	} else if n == 0 || len(t.chunks[n-1].keys) == chunkLen {
		t.chunks, n = append(t.chunks, t.newChunk()), n+1
	}
	c := &t.chunks[n-1]
	c.keys, c.kinds, c.vals = append(c.keys, key), append(c.kinds, kind), append(c.vals, val)
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

// Args returns the kept arguments of the event, in the order of the file.
func (e Event) Args() []Arg { return e.AppendArgs(nil) }

// AppendArgs adds the kept arguments of the event to args, in the order of the file.
func (e Event) AppendArgs(args []Arg) []Arg {
	ref := e.t.col.Args[e.i]
	if ref == 0 {
		return args
	}
	for i := ref - 1; ; i++ {
		a, last := e.t.args.at(i)
		args = append(args, a)
		if last {
			return args
		}
	}
}

// Arg returns the argument called key; ok is false where the event has none.
func (e Event) Arg(key Key) (a Arg, ok bool) {
	ref := e.t.col.Args[e.i]
	if ref == 0 {
		return Arg{}, false
	}
	for i := ref - 1; ; i++ {
		a, last := e.t.args.at(i)
		if a.Key == key {
			return a, true
		}
		if last {
			return Arg{}, false
		}
	}
}

// ArgInt returns the argument called key as an integer.
func (e Event) ArgInt(key Key) (int64, bool) {
	a, ok := e.Arg(key)
	if !ok || a.Kind != Int {
		return 0, false
	}
	return a.Num, true
}

// ArgText returns the argument called key as text: a string as it is, an
// integer in decimal, anything else as its JSON text. It is empty where absent.
func (e Event) ArgText(key Key) string {
	a, ok := e.Arg(key)
	if !ok {
		return ""
	}
	return e.TextOf(a)
}

// TextOf is one of the event's arguments as text, as ArgText has it.
func (e Event) TextOf(a Arg) string {
	if a.Kind == Int {
		return strconv.FormatInt(a.Num, 10)
	}
	return e.t.String(a.Str)
}
