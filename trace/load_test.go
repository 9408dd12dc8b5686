package trace

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// TestLoad: tables are never full, which would make searches long, and never nearly empty, which would
// waste memory; what is in them is found, and nothing else is.
func TestLoad(t *testing.T) {
	const n = 150_000
	var numbers numberTable
	names := newStringTable()
	for i := range n {
		if got := numbers.intern(uint64(i) << 20); int(got) != i {
			t.Fatalf("number %d has place %d", i, got)
		}
		if got := names.intern(fmt.Append(nil, i)); int(got) != i+1 {
			t.Fatalf("name %d has id %d", i, got)
		}
		holdsLoad(t, "numbers", len(numbers.nums), len(numbers.slots), 2*firstNumbers)
		holdsLoad(t, "names", len(names.places), len(names.slots), 2*steepSlots)
	}
	for i := range n {
		id, ok := names.find(fmt.Sprint(i))
		if int(id) != i+1 || !ok || numbers.nums[numbers.intern(uint64(i)<<20)] != uint64(i)<<20 {
			t.Fatalf("%d is at %d, %v", i, id, ok)
		}
	}
	if id, ok := names.find("none of them"); id != 0 || ok {
		t.Errorf("what is not there is %d, %v", id, ok)
	}
	if id, ok := names.find(""); id != 0 || !ok {
		t.Errorf("the empty string is %d, %v", id, ok)
	}
	if len(names.blocks) > 40 { // of 64 kB: few things for the collector to look at
		t.Errorf("%d names stand in %d blocks", n, len(names.blocks))
	}
}

// holdsLoad: a table that grows by half once it has more than steep slots is between a half and three quarters full.
func holdsLoad(t *testing.T, what string, held, slots, steep int) {
	t.Helper()
	least := slots * 3 / 8
	if slots > steep {
		least = slots * 49 / 100
	}
	if held*4 > slots*3+4 || slots > firstSlots && held < least {
		t.Fatalf("%d %s in %d slots", held, what, slots)
	}
}

// TestTextsOfEveryLength: texts of any length come back, also from a copy that was taken while the table grew.
func TestTextsOfEveryLength(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	table, want := newStringTable(), []string{""}
	var copies []texts
	edges := []int{1, 2, longName - 1, longName, longName + 1, blockSize - 1, blockSize, blockSize + 1, 3 * blockSize}
	for i := range 3000 {
		length := 10 + rng.IntN(400)
		if i%7 == 0 {
			length = edges[i/7%len(edges)]
		}
		s := fmt.Sprint(i)
		s = s[:min(length, len(s))] + strings.Repeat(string(rune('a'+i%26)), max(length-len(s), 0))
		if slices.Contains(want, s) {
			continue
		}
		if want = append(want, s); i%2 == 0 {
			table.intern([]byte(s))
		} else {
			table.internString(s, hashString(s))
		}
		if i%100 == 0 {
			copies = append(copies, table.texts)
		}
	}
	for _, c := range append(copies, table.texts) {
		for id := range c.places {
			if got := c.at(StringID(id)); got != want[id] {
				t.Fatalf("text %d of %d: %.20q (%d bytes), want %.20q (%d)", id, len(c.places), got, len(got),
					want[id], len(want[id]))
			}
		}
	}
	if len(table.places) != len(want) {
		t.Errorf("%d texts, want %d", len(table.places), len(want))
	}
}

// TestWorkers: rows are shared by as many as there are cores, and by fewer where there is little to do.
func TestWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, c := range []struct{ cores, items, rows, split, share int64 }{
		{4, 100, 0, 1, 1}, {4, 100, leastShare, 1, 1}, {4, 100, 2*leastShare - 1, 1, 1}, {4, 100, 2 * leastShare, 2, 2},
		{4, 100, 3 * leastShare, 3, 3}, {4, 100, 99 * leastShare, 4, 4}, {1, 100, 99 * leastShare, 1, 1},
		{2, 100, 99 * leastShare, 2, 2}, {4, 3, 99 * leastShare, 4, 3}, {4, 1, 99 * leastShare, 4, 1},
	} {
		runtime.GOMAXPROCS(int(c.cores))
		var splits, shares atomic.Int64
		split(int(c.rows), func(int, int) { splits.Add(1) })
		share(int(c.items), int(c.rows), func(iter.Seq[int]) { shares.Add(1) })
		if splits.Load() != c.split || shares.Load() != c.share {
			t.Errorf("%+v: split by %d, shared by %d", c, splits.Load(), shares.Load())
		}
	}
}

// TestShareStops: who stops taking items leaves the others to those who go on.
func TestShareStops(t *testing.T) {
	var done []int
	share(5, 0, func(items iter.Seq[int]) {
		for i := range items {
			if done = append(done, i); i == 2 {
				break
			}
		}
	})
	if !slices.Equal(done, []int{0, 1, 2}) {
		t.Errorf("%v", done)
	}
}

// TestArgumentsInTurn: lists of any length, repeated or not, come back as they were given, after swaps, too.
func TestArgumentsInTurn(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	draw := func() []Arg {
		list := make([]Arg, 1+rng.IntN(4))
		for i := range list {
			list[i] = Arg{Key: KeyBytes + Key(rng.IntN(3)), Kind: Kind(rng.IntN(3))}
			if list[i].Kind == Int {
				list[i].Num = rng.Int64N(4) - 1
			} else {
				list[i].Str = StringID(rng.IntN(4))
			}
		}
		return list
	}
	var table, taken argTable
	for round := range 4 {
		var refs []uint32
		var want [][]Arg
		for range 2*chunkLen/3 + round {
			list := draw()
			refs, want = append(refs, table.add(list)), append(want, list)
		}
		table.swap(&taken)
		stored := map[uint32]int{}
		for i, ref := range refs {
			if got := taken.appendTo(nil, ref); !slices.Equal(got, want[i]) {
				t.Fatalf("round %d, list %d: %v, want %v", round, i, got, want[i])
			}
			stored[ref] = len(want[i])
		}
		total := 0
		for _, n := range stored {
			total += n
		}
		if taken.count() != total {
			t.Errorf("round %d: %d arguments, want %d", round, taken.count(), total)
		}
		if taken.empty(); taken.count() != 0 {
			t.Errorf("round %d: %d arguments are left", round, taken.count())
		}
	}
}
