package devicetest

import (
	"slices"
	"testing"

	"github.com/gaprof/gaprof/reference/device"
)

// What is allocated is told, adds up, and does not overlap; what was freed is used again
// before anything is taken from the system, until the cache is emptied.
func testMemory(t *testing.T, s Suite) {
	tape := s.one(t, func(d *device.Rank) {
		var list []*device.Buffer
		for i := range 20 {
			list = append(list, d.Alloc(1+i*20000))
		}
		disjoint(t, list)
		for _, b := range list {
			d.Free(b)
		}
		for i := range 20 {
			list[i] = d.Alloc(1 + i*20000)
		}
		disjoint(t, list)
		for _, b := range list {
			d.Free(b)
		}
		d.EmptyCache()
		d.Free(d.Alloc(5))
	})
	addUp(t, tape.Blocks)
	if n := len(tape.Blocks); n != 82 || tape.Blocks[n-1].Allocated != 0 {
		t.Fatalf("%d events, the last %+v", n, tape.Blocks[n-1])
	}
	full, again, empty := tape.Blocks[19].Reserved, tape.Blocks[59].Reserved, tape.Blocks[81].Reserved
	if again != full || empty >= full {
		t.Errorf("reserved %d, the second time %d, once emptied %d", full, again, empty)
	}
	names := make(map[string]int)
	for _, e := range tape.Hosts {
		names[e.Name]++
	}
	if names["cudaMalloc"] == 0 || names["cudaFree"] == 0 {
		t.Errorf("calls %v", names)
	}
}

// addUp checks that what is allocated is the sum of what was, and no more than is reserved.
func addUp(t *testing.T, list []device.MemoryEvent) {
	t.Helper()
	allocated := int64(0)
	for i, e := range list {
		allocated += e.Bytes
		if e.Allocated != allocated || e.Reserved < e.Allocated || e.Bytes == 0 {
			t.Errorf("event %d: %+v, want %d allocated", i, e, allocated)
		}
	}
}

// disjoint checks that no two live blocks overlap.
func disjoint(t *testing.T, list []*device.Buffer) {
	t.Helper()
	blocks := make([]*device.Block, len(list))
	for i, b := range list {
		blocks[i] = b.Block
		if b.Block.Bytes < b.Bytes() || b.Block.Freed {
			t.Errorf("%d bytes in a block of %d", b.Bytes(), b.Block.Bytes)
		}
	}
	slices.SortFunc(blocks, func(a, b *device.Block) int { return int(a.Addr - b.Addr) })
	for i, b := range blocks[1:] {
		if b.Addr < blocks[i].Addr+blocks[i].Bytes {
			t.Errorf("blocks at %d and %d overlap", blocks[i].Addr, b.Addr)
		}
	}
}

// What was freed for one stream is not used by another.
func testMemoryOn(t *testing.T, s Suite) {
	s.one(t, func(d *device.Rank) {
		other := d.StreamCreateWithPriority(0)
		a := d.MallocOn(other, device.F32, 1<<19)
		addr := a.Block.Addr
		d.Free(a)
		b := d.Alloc(1 << 19)
		c := d.MallocOn(other, device.F32, 1<<19)
		if b.Block.Addr == addr || c.Block.Addr != addr {
			t.Errorf("freed at %d, then at %d, for the same stream at %d", addr, b.Block.Addr, c.Block.Addr)
		}
	})
}

func testFreedTwice(t *testing.T, s Suite) {
	s.one(t, func(d *device.Rank) {
		b := d.Alloc(3)
		d.Free(b)
		defer func() {
			if recover() == nil {
				t.Error("memory may be freed twice")
			}
		}()
		d.Free(b)
	})
}

// Buffers have the sizes of their types, a scalar has one element.
func testTypes(t *testing.T, s Suite) {
	s.one(t, func(d *device.Rank) {
		for _, dt := range []device.DType{device.F32, device.F64, device.I64} {
			b, scalar := d.Malloc(dt, 3, 5), d.Malloc(dt)
			if b.Bytes() != 15*dt.Size() || scalar.N != 1 || !slices.Equal(b.Shape, []int{3, 5}) {
				t.Errorf("%v: %+v, %+v", dt, b, scalar)
			}
		}
	})
}
