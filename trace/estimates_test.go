package trace

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

// TestSizes: what an entry of a table is said to take is what its types take.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		what string
		got  int64
		want uintptr
	}{
		{"a label", labelBytes, unsafe.Sizeof(label{})},
		{"a thread", threadBytes, unsafe.Sizeof(thread{})},
		{"a process", processBytes, (unsafe.Sizeof(StringID(0)) + 4 + unsafe.Sizeof(process{}) + 1) * 8 / 5},
		{"a row of a part", partRowBytes, unsafe.Sizeof(partRow{})},
		{"a track", builtBytes, unsafe.Sizeof(Track{})},
		{"an argument", argBytes, unsafe.Sizeof(Key(0)) + unsafe.Sizeof(uint8(0)) + unsafe.Sizeof(int64(0))},
		{"the order of a track", orderBytes, 16 + unsafe.Sizeof(numberedID{}) + unsafe.Sizeof(TrackID(0)) +
			unsafe.Sizeof(uint32(0))},
	} {
		if c.got != int64(c.want) {
			t.Errorf("%s is said to take %d bytes, not %d", c.what, c.got, c.want)
		}
	}
}

// TestTablesCount: each table counts all that it holds: entries, slots and texts.
func TestTablesCount(t *testing.T) {
	var n numberTable
	for i := range uint64(5000) {
		n.intern(i * i)
	}
	if want := 5000*unsafe.Sizeof(n.nums[0]) +
		uintptr(len(n.slots))*unsafe.Sizeof(n.slots[0]); n.bytes() != int64(want) {
		t.Errorf("5000 numbers are said to take %d bytes, not %d", n.bytes(), want)
	}
	var few argTable
	few.add([]Arg{{Key: KeyBytes, Num: 1}, {Key: KeyStream, Num: 2}})
	if n := few.bytes(); n < 2*argBytes || n > 64*argBytes {
		t.Errorf("two arguments are said to take %d bytes", n)
	}
	var a argTable
	for i := range int64(chunkLen + 10) {
		a.add([]Arg{{Key: KeyBytes, Num: i}})
	}
	var other argTable
	other.swap(&a)
	if other.bytes() < (chunkLen+10)*argBytes || other.bytes() > 2*chunkLen*argBytes || a.bytes() != 0 {
		t.Errorf("a chunk and ten arguments are said to take %d bytes", other.bytes())
	}
	before := other.bytes()
	if other.empty(); other.bytes() < before {
		t.Errorf("emptied chunks are said to take %d bytes of %d", other.bytes(), before)
	}
	threads := labelTable{}
	threads.set(label{what: processName, pid: 3, text: "four"})
	threads.set(label{what: processTags, pid: 3, text: "tags!"})
	threads.set(label{what: processName, pid: 4, text: "a longer one"})
	threads.set(label{what: processName, pid: 4, text: "one"})
	if got := threads.bytes(); got != 2*processBytes+4+5+3 {
		t.Errorf("two processes are said to take %d bytes", got)
	}
}

// TestStringsCount: short strings count the blocks that they stand in, long ones four fifths of themselves.
func TestStringsCount(t *testing.T) {
	s := newStringTable()
	base, text := s.bytes(), 0
	for i := range 20_000 {
		name := fmt.Sprintf("the name of operator %d", i)
		s.intern([]byte(name))
		text += len(name)
	}
	tables := int64(20_001*unsafe.Sizeof(span(0))+uintptr(len(s.slots))*unsafe.Sizeof(stringSlot{})) - base
	text += s.room.Cap() - s.room.Len() // for the next ones
	if got := s.bytes() - base - tables; got < int64(text) || got > int64(text+60*len(s.blocks)) {
		t.Errorf("%d bytes of names and of room are said to take %d", text, got)
	}
	for _, long := range []string{strings.Repeat("a", 1<<20), strings.Repeat("b", longName+1)} {
		before, slots := s.bytes(), len(s.slots)
		id := s.intern([]byte(long))
		want := int64(len(long) - len(long)/5)
		if got := s.bytes() - before - int64(len(s.slots)-slots)*8 - 8 - 16; got < want-1 || got > want+1 ||
			s.at(id) != long {
			t.Errorf("%d bytes of one name are said to take %d, not %d", len(long), got, want)
		}
	}
}

// TestBytesOfAll: what a Builder is said to take, and to take more when it builds, is about what it takes.
func TestBytesOfAll(t *testing.T) {
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for what, add := range map[string]func(b *Builder, i int){
		"rows": func(b *Builder, i int) {
			b.Add(&Row{Start: int64(i), Dur: 1, Phase: Complete, Track: b.Track(0, 0), Corr: int64(i), Offset: -1})
		},
		"names":   func(b *Builder, i int) { b.Intern(fmt.Appendf(nil, "a name of %d", i)) },
		"long":    func(b *Builder, i int) { b.Intern(fmt.Appendf(nil, "%d%s", i, strings.Repeat("x", 3000))) },
		"tracks":  func(b *Builder, i int) { b.Track(StringID(i%1000), StringID(i)) },
		"numbers": func(b *Builder, i int) { b.t.ids.id(-int64(i)) },
		"arguments": func(b *Builder, i int) {
			b.Store([]Arg{{Key: KeyBytes, Num: int64(i)}, {Key: KeyStream, Num: int64(i * i)}})
		},
		"threads":   func(b *Builder, i int) { b.NameThread(TrackID(i), fmt.Sprint("thread number ", i)) },
		"processes": func(b *Builder, i int) { b.NameProcess(StringID(i), fmt.Sprint("process number ", i)) },
	} {
		b := NewBuilder()
		before, said := heap(), b.Bytes()
		for i := range 60_000 {
			add(b, i)
		}
		took, told := heap()-before, b.Bytes()-said
		if told < took/2 || told > took*3/2 {
			t.Errorf("%s: %d bytes are said to be %d", what, took, told)
		}
		runtime.KeepAlive(b)
	}
}

// TestBuildBytes: building takes memory for rows, tracks, processes and large ids, each counted.
func TestBuildBytes(t *testing.T) {
	b := NewBuilder()
	was := b.BuildBytes()
	grew := func() int64 { n := b.BuildBytes() - was; was += n; return n }
	b.Track(1, 1)
	if got := grew(); got != orderBytes+builtBytes+factBytes+rankBytes {
		t.Errorf("a track of a new process: %d", got)
	}
	b.Track(1, 2)
	if got := grew(); got != orderBytes+builtBytes+factBytes {
		t.Errorf("one more track: %d", got)
	}
	b.Track(1, 2)
	b.Track(1, 1)
	if got := grew(); got != 0 {
		t.Errorf("known tracks: %d", got)
	}
	b.Add(&Row{Start: 1, Corr: -1, External: -2, Offset: -1})
	if got := grew(); got != moveBytes+factBytes {
		t.Errorf("a row with two large ids: %d", got)
	}
}

// TestSpread: numbers and names spread over the slots of their tables, whatever they have in common.
func TestSpread(t *testing.T) {
	for what, number := range map[string]func(k uint64) uint64{
		"small": func(k uint64) uint64 { return k }, "high": func(k uint64) uint64 { return k << 32 },
		"negative": func(k uint64) uint64 { return -k }, "pages": func(k uint64) uint64 { return k << 12 },
		"pairs": func(k uint64) uint64 { return (k/16)<<32 | k%16 },
	} {
		table := numberTable{slots: make([]uint32, 4096)}
		met := map[int]bool{}
		for k := range uint64(1000) {
			met[table.first(number(k+1))] = true
		}
		if len(met) < 700 { // of 1000 drawn ones 887
			t.Errorf("1000 %s numbers meet in %d slots", what, len(met))
		}
	}
	table := stringTable{slots: make([]stringSlot, 4096)}
	met := map[int]bool{}
	for k := range 1000 {
		met[table.first(hashBytes(fmt.Append(nil, k)))] = true
	}
	if len(met) < 700 {
		t.Errorf("1000 strings meet in %d slots", len(met))
	}
	var args argTable
	lists := map[uint64]bool{}
	for k := range int64(100) {
		for key := KeyBytes; key < KeyBytes+4; key++ {
			lists[hashArgs([]Arg{{Key: key, Num: k}, {Key: KeyStream, Num: 7}})%uint64(len(args.recent))] = true
			lists[hashArgs([]Arg{{Key: KeyStream, Num: 7}, {Key: key, Num: k << 20}})%uint64(len(args.recent))] = true
		}
	}
	if len(lists) < 350 { // of 800 drawn ones 555
		t.Errorf("800 lists of arguments meet in %d slots", len(lists))
	}
}

// TestPartsReuse: a part that is cut once more uses its room again.
func TestPartsReuse(t *testing.T) {
	from, to := NewPartBuilder(), NewBuilder()
	parts := [2]Part{}
	round := 0
	cycle := func() {
		for i := range 2 * chunkLen {
			from.Add(&Row{Phase: Complete, Offset: -1, Track: from.Track(0, 0), Args: []Arg{{Key: KeyBytes,
				Num: int64(i)}}})
		}
		p := &parts[round%2]
		from.Cut(p)
		round++
	}
	for range 4 {
		cycle()
	}
	held := parts[0].Bytes() + parts[1].Bytes() + from.Bytes()
	if n := testing.AllocsPerRun(4, cycle); n > 2*chunkLen+20 { // the lists of this test
		t.Errorf("%v allocations", n)
	}
	if more := parts[0].Bytes() + parts[1].Bytes() + from.Bytes(); more > held {
		t.Errorf("%d bytes became %d", held, more)
	}
	to.Append(&parts[1])
	if to.Len() != 2*chunkLen || len(to.t.args.chunks) != 2 {
		t.Errorf("%d rows, %d chunks", to.Len(), len(to.t.args.chunks))
	}
}

// TestAppendSharesArguments: rows of a part that share arguments share them after it was appended.
func TestAppendSharesArguments(t *testing.T) {
	from, to := NewPartBuilder(), NewBuilder()
	const lists, rows = 5000, 20_000 // more lists than are remembered of late
	var stored [lists]Stored
	for i := range stored {
		stored[i] = from.Store([]Arg{{Key: KeyBytes, Num: int64(i)}, {Key: KeyStream, Num: 7}})
	}
	for i := range rows {
		from.Add(&Row{Start: int64(i), Phase: Complete, Track: from.Track(0, 0), Stored: stored[i%lists], Offset: -1})
	}
	var p Part
	from.Cut(&p)
	to.Append(&p)
	if n := to.t.args.count(); n != 2*lists {
		t.Errorf("%d lists of two arguments became %d arguments", lists, n)
	}
	got := to.Build()
	for i := range rows {
		if n, ok := got.Event(i).ArgInt(KeyBytes); n != int64(i%lists) || !ok {
			t.Fatalf("row %d: %d, %v", i, n, ok)
		}
	}
}

// TestAppendKnows: names that came in parts are known: each has one id, by which it is found.
func TestAppendKnows(t *testing.T) {
	all := NewBuilder()
	all.Intern([]byte("name3"))
	hands := []*Builder{NewPartBuilder(), NewPartBuilder()}
	var p Part
	for k := range 12 {
		addSome(hands[k%2], 100*k, 100*k+130)
		hands[k%2].Cut(&p)
		all.Append(&p)
	}
	before := all.NumStrings()
	for id := range before {
		if got := all.Intern([]byte(all.String(StringID(id)))); int(got) != id {
			t.Errorf("%q has ids %d and %d", all.String(StringID(id)), id, got)
		}
	}
	if all.NumStrings() != before {
		t.Errorf("%d strings are not known", all.NumStrings()-before)
	}
	keys, cats, tracks := len(all.keys.names), len(all.cats.names), len(all.tracks.nums)
	for k := range 12 {
		addSome(all, 100*k, 100*k+130)
	}
	if len(all.keys.names) != keys || len(all.cats.names) != cats || len(all.tracks.nums) != tracks {
		t.Error("keys, categories or tracks are not known")
	}
}

// TestThreadsInTurn: threads are named in any order.
func TestThreadsInTurn(t *testing.T) {
	for _, order := range [][]TrackID{{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {2, 2, 0, 9}} {
		var table labelTable
		for _, id := range order {
			table.set(label{what: threadName, track: id, text: fmt.Sprint("thread ", id)})
			table.set(label{what: threadSort, track: id, num: int64(id) + 1})
		}
		for _, id := range order {
			if got := table.threadOf(id); got.name != fmt.Sprint("thread ", id) || got.sort != int64(id)+1 {
				t.Errorf("%v: %+v", order, got)
			}
		}
		if got := table.threadOf(10); got != (thread{}) {
			t.Errorf("%+v", got)
		}
	}
}

// TestFindInSelected: what was selected is found by its text, and nothing else is.
func TestFindInSelected(t *testing.T) {
	whole := newAdder().add(Complete, "a", 1, 1).add(Complete, "b", 2, 1).add(Complete, "c", 3, 1).Build()
	part := whole.Select([]int32{0, 2})
	for _, name := range []string{"", "a", "c"} {
		if id, ok := part.Find(name); !ok || part.String(id) != name {
			t.Errorf("%q is %q, %v", name, part.String(id), ok)
		}
	}
	for _, name := range []string{"b", "A", "1"} {
		if id, ok := part.Find(name); ok || id != 0 {
			t.Errorf("%q is found as %q", name, part.String(id))
		}
	}
	if whole.KeyName(Key(len(whole.keys))) != "" || whole.CatName(Cat(len(whole.cats))) != "" {
		t.Error("a key or a category after the last one has a name")
	}
	if whole.String(StringID(whole.NumStrings())) != "" || whole.String(StringID(whole.NumStrings()-1)) == "" {
		t.Error("the last string")
	}
}
