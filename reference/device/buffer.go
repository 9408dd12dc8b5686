package device

import "slices"

// Block is one allocation of device memory.
type Block struct {
	Addr  int64 // as traces show it; blocks that are live do not overlap
	Bytes int64
	Mem   any  // the backend's own: a slice, a device pointer, nothing in a simulation
	Freed bool // it waits to be given out again
}

// Buffer is a tensor in device memory: some elements of a Block, row-major, the
// last index fastest. A scalar has no shape and one element.
type Buffer struct {
	Block *Block // shared by all views of the same memory
	Off   int    // first element in the block
	N     int    // elements: the product of Shape
	DType DType
	Shape []int // outermost first; empty for a scalar
}

// Elements returns the number of elements of a shape.
func Elements(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// View returns a tensor of the given shape that begins off elements into b and
// shares its memory.
func (b *Buffer) View(off int, shape ...int) *Buffer {
	n := Elements(shape)
	if off < 0 || off+n > b.N {
		panic("device: a view outside its buffer")
	}
	return &Buffer{Block: b.Block, Off: b.Off + off, N: n, DType: b.DType, Shape: slices.Clone(shape)}
}

// Bytes returns the size in bytes.
func (b *Buffer) Bytes() int64 { return int64(b.N) * b.DType.Size() }

// Host is memory of the host that is copied to or from a device: floating point
// numbers are float64 on the host whatever the device holds, and every float32
// passes through unchanged. Exactly one of the two is set.
type Host struct {
	Floats []float64 // for F32 and F64
	Ints   []int64   // for I64
}

// Len returns the number of elements.
func (h Host) Len() int { return len(h.Floats) + len(h.Ints) }
