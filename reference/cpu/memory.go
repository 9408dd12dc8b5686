package cpu

import (
	"math"
	"runtime/debug"
	"slices"

	"github.com/gaprof/gaprof/reference/device"
)

// pooled identifies blocks that can replace each other.
type pooled struct {
	dt     device.DType
	n      int // elements
	stream int // for which they were allocated; 0 for Malloc
}

const (
	rounding  = 512            // bytes; PyTorch's allocator rounds sizes up like this
	firstAddr = 0x7f0000000000 // a plausible device address
)

// Malloc implements device.Device. It prefers a freed block of the same size.
func (d *dev) Malloc(dt device.DType, shape ...int) *device.Buffer { return d.malloc(0, dt, shape) }

// MallocOn implements device.Device.
func (d *dev) MallocOn(s device.Stream, dt device.DType, shape ...int) *device.Buffer {
	return d.malloc(s.ID(), dt, shape)
}

func (d *dev) malloc(stream int, dt device.DType, shape []int) *device.Buffer {
	n := device.Elements(shape)
	unit := int(rounding / dt.Size())
	kind := pooled{dt, (max(n, 1) + unit - 1) / unit * unit, stream}
	var block *device.Block
	if free := d.pool[kind]; len(free) > 0 {
		block, d.pool[kind] = free[len(free)-1], free[:len(free)-1]
		block.Freed = false
	} else {
		block = d.fresh(kind)
	}
	d.told(block, block.Bytes)
	return &device.Buffer{Block: block, N: n, DType: dt, Shape: slices.Clone(shape)}
}

// fresh allocates what there is no freed block for.
func (d *dev) fresh(kind pooled) *device.Block {
	start := d.log.Now()
	block := &device.Block{Addr: firstAddr + d.nextAddr, Bytes: int64(kind.n) * kind.dt.Size(), Pool: kind.stream}
	d.nextAddr += block.Bytes
	d.reserved += block.Bytes
	switch kind.dt {
	case device.F32:
		block.Mem = poisoned(make([]float32, kind.n), d.poison, float32(math.NaN()))
	case device.F64:
		block.Mem = poisoned(make([]float64, kind.n), d.poison, math.NaN())
	case device.I64:
		block.Mem = poisoned(make([]int64, kind.n), d.poison, math.MinInt64)
	}
	if d.log.On() {
		d.log.Call("cudaMalloc", start, d.log.Next())
	}
	return block
}

func poisoned[T any](list []T, poison bool, with T) []T {
	if poison {
		for i := range list {
			list[i] = with
		}
	}
	return list
}

// Free implements device.Device.
func (d *dev) Free(b *device.Buffer) {
	if b.Block.Freed {
		panic("cpu: memory is freed twice")
	}
	b.Block.Freed = true
	d.told(b.Block, -b.Block.Bytes)
	if d.poison {
		d.reserved -= b.Block.Bytes
		return
	}
	kind := pooled{b.DType, int(b.Block.Bytes / b.DType.Size()), b.Block.Pool}
	d.pool[kind] = append(d.pool[kind], b.Block)
}

// EmptyCache implements device.Device. Blocks are the garbage collector's, which returns
// their pages to the system.
func (d *dev) EmptyCache() {
	start := d.log.Now()
	drain(d.streams)
	for kind, free := range d.pool {
		d.reserved -= int64(len(free)) * int64(kind.n) * kind.dt.Size()
	}
	clear(d.pool)
	debug.FreeOSMemory()
	if d.log.On() {
		d.log.Call("cudaFree", start, d.log.Next())
	}
}

func (d *dev) told(block *device.Block, bytes int64) {
	d.allocated += bytes
	if d.log.On() {
		d.log.To.Memory(device.MemoryEvent{Time: d.now(), Addr: block.Addr, Bytes: bytes,
			Allocated: d.allocated, Reserved: d.reserved})
	}
}
