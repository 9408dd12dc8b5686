package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/trace/graph"
)

// The sizes of PyTorch's caching allocator, c10/cuda/CUDACachingAllocator, in bytes.
const (
	rounding     = 512      // all blocks are multiples of it
	smallSize    = 1 << 20  // up to here blocks are small
	smallSegment = 2 << 20  // of small blocks
	largeSegment = 20 << 20 // of blocks up to mostShared
	mostShared   = 10 << 20 // larger blocks have a segment each
	roundLarge   = 2 << 20  // which is a multiple of it
)

const firstAddr = 0x7f0000000000 // a plausible device address

// allocator is PyTorch's: it takes segments from the device and cuts blocks out of them, the
// smallest free one that suffices, and keeps what is freed.
type allocator struct {
	limit               int64 // bytes of the device
	pools               map[poolKey]*pool
	next                int64 // address of the next segment
	allocated, reserved int64
	most                int64 // that was reserved at a time
}

// poolKey says which blocks can replace each other.
type poolKey struct {
	stream int
	small  bool
}

// pool holds the free blocks of a kind, by size and address.
type pool struct{ free []*chunk }

// chunk is a piece of a segment, allocated or free.
type chunk struct {
	addr, size int64
	key        poolKey
	prev, next *chunk // neighbors in its segment; nil at its ends
}

func newAllocator(limit int64) *allocator {
	return &allocator{limit: limit, pools: make(map[poolKey]*pool), next: firstAddr}
}

func (a *chunk) compare(b *chunk) int {
	return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.addr, b.addr))
}

func (p *pool) insert(c *chunk) {
	i, _ := slices.BinarySearchFunc(p.free, c, (*chunk).compare)
	p.free = slices.Insert(p.free, i, c)
}

func (p *pool) remove(c *chunk) {
	i, _ := slices.BinarySearchFunc(p.free, c, (*chunk).compare)
	p.free = slices.Delete(p.free, i, i+1)
}

// take returns the smallest free block of at least size bytes, nil without one.
func (p *pool) take(size int64) *chunk {
	i, _ := slices.BinarySearchFunc(p.free, &chunk{size: size}, (*chunk).compare)
	if i == len(p.free) {
		return nil
	}
	c := p.free[i]
	p.free = slices.Delete(p.free, i, i+1)
	return c
}

// poolOf returns the pool of blocks of a size.
func (a *allocator) poolOf(stream int, size int64) (poolKey, *pool) {
	key := poolKey{stream, size <= smallSize}
	p := a.pools[key]
	if p == nil {
		p = &pool{}
		a.pools[key] = p
	}
	return key, p
}

// segment is how large a segment for a block is.
func segment(size int64) int64 {
	switch {
	case size <= smallSize:
		return smallSegment
	case size < mostShared:
		return largeSegment
	}
	return (size + roundLarge - 1) / roundLarge * roundLarge
}

// split cuts off what of a block is not needed, if that is worth it.
func (a *allocator) split(c *chunk, size int64, p *pool) {
	left := c.size - size
	if left < rounding || !c.key.small && left <= smallSize {
		return
	}
	rest := &chunk{addr: c.addr + size, size: left, key: c.key, prev: c, next: c.next}
	if c.next != nil {
		c.next.prev = rest
	}
	c.next, c.size = rest, size
	p.insert(rest)
}

// grow takes a segment from the device.
func (a *allocator) grow(key poolKey, size int64) *chunk {
	c := &chunk{addr: a.next, size: segment(size), key: key}
	a.next += c.size
	a.reserved += c.size
	a.most = max(a.most, a.reserved)
	return c
}

// give returns a block, united with free neighbors.
func (a *allocator) give(c *chunk) {
	p := a.pools[c.key]
	if b := c.prev; b != nil && p.has(b) {
		p.remove(b)
		b.size, b.next = b.size+c.size, c.next
		if c.next != nil {
			c.next.prev = b
		}
		c = b
	}
	if b := c.next; b != nil && p.has(b) {
		p.remove(b)
		c.size, c.next = c.size+b.size, b.next
		if b.next != nil {
			b.next.prev = c
		}
	}
	p.insert(c)
}

// has reports whether a block is free.
func (p *pool) has(c *chunk) bool {
	i, found := slices.BinarySearchFunc(p.free, c, (*chunk).compare)
	return found && p.free[i] == c
}

// empty gives segments back of which nothing is allocated, and returns how many.
func (a *allocator) empty() int {
	n := 0
	for _, p := range a.pools {
		p.free = slices.DeleteFunc(p.free, func(c *chunk) bool {
			whole := c.prev == nil && c.next == nil
			if whole {
				a.reserved -= c.size
				n++
			}
			return whole
		})
	}
	return n
}

// Malloc implements device.Device.
func (d *dev) Malloc(dt device.DType, shape ...int) *device.Buffer { return d.malloc(0, dt, shape) }

// MallocOn implements device.Device.
func (d *dev) MallocOn(s device.Stream, dt device.DType, shape ...int) *device.Buffer {
	return d.malloc(s.ID(), dt, shape)
}

func (d *dev) malloc(stream int, dt device.DType, shape []int) *device.Buffer {
	n := device.Elements(shape)
	size := (max(int64(n)*dt.Size(), 1) + rounding - 1) / rounding * rounding
	a := d.memory
	key, p := a.poolOf(stream, size)
	c := p.take(size)
	if c == nil {
		if a.reserved+segment(size) > a.limit && a.most <= a.limit {
			d.EmptyCache()
		}
		c = a.grow(key, size)
		d.wrote("cudaMalloc", d.call(d.figure(malloc)))
	}
	a.split(c, size, p)
	a.allocated += c.size
	d.allotted(c, c.size)
	block := &device.Block{Addr: c.addr, Bytes: c.size, Mem: c, Pool: stream}
	return &device.Buffer{Block: block, N: n, DType: dt, Shape: slices.Clone(shape)}
}

// Free implements device.Device.
func (d *dev) Free(b *device.Buffer) {
	if b.Block.Freed {
		panic("sim: memory is freed twice")
	}
	b.Block.Freed = true
	c := b.Block.Mem.(*chunk)
	d.memory.allocated -= c.size
	d.allotted(c, -c.size)
	d.memory.give(c)
}

// EmptyCache implements device.Device.
func (d *dev) EmptyCache() {
	on := d.tails()
	for range d.memory.empty() {
		d.wrote("cudaFree", d.waiting(d.figure(free), on...))
		on = []graph.Node(nil)
	}
}

// allotted writes an allocation or a release down.
func (d *dev) allotted(c *chunk, bytes int64) {
	if d.to != nil {
		tells(&d.journal, toldMemory, &d.journal.memory, madeMemory{at: d.here(), MemoryEvent: device.MemoryEvent{
			Addr: c.addr, Bytes: bytes, Allocated: d.memory.allocated, Reserved: d.memory.reserved}})
	}
}

// need is what a device has reserved at a time, at most, in bytes.
func (r *run) need() int64 {
	need := int64(0)
	for _, d := range r.devices {
		need = max(need, d.memory.most)
	}
	return need
}

// fits refuses a run that wants more memory than a device has.
func (r *run) fits() error {
	m, need := r.machine, r.need()
	if has := int64(m.values[memory]); need > has {
		reason := fmt.Sprintf("%s has %s, and the run wants %s of each", m.Name, gigabytes(has), gigabytes(need))
		return &device.Refusal{Option: "device", Reason: reason, WayOut: wayOut(need)}
	}
	return nil
}

func gigabytes(n int64) string { return fmt.Sprintf("%.1f GB", float64(n)/1e9) }

// wayOut is what to do about a run that needs so many bytes.
func wayOut(need int64) string {
	var enough []string
	for _, name := range Devices() {
		if m, err := Lookup(name); err == nil && int64(m.values[memory]) >= need {
			enough = append(enough, fmt.Sprintf("sim:%s (%s)", name, gigabytes(int64(m.values[memory]))))
		}
	}
	text := "take a smaller `local-batch-size`, `sequence-length` or model"
	if len(enough) > 0 {
		return "take " + strings.Join(enough, " or ") + ", or t" + text[1:]
	}
	return text
}
