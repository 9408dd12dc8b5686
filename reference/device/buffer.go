package device

import "slices"

// Block is one allocation of device memory.
type Block struct {
	Addr  int64 // as shown in traces; live blocks do not overlap
	Bytes int64
	Mem   any  // owned by the backend: a slice, a device pointer, nil in a simulation
	Freed bool // available for reuse
	Pool  int  // ID of the stream of MallocOn, to which it goes back; 0 for Malloc
}

// Buffer is a tensor in device memory: consecutive elements of a Block, in row-major
// order. A scalar has an empty shape and one element.
type Buffer struct {
	Block *Block // shared by all views
	Off   int    // index of the first element in the block
	N     int    // number of elements, the product of Shape
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

// View returns a tensor of the given shape that shares memory with b, starting at its
// element off.
func (b *Buffer) View(off int, shape ...int) *Buffer {
	n := Elements(shape)
	if off < 0 || off+n > b.N {
		panic("device: a view outside its buffer")
	}
	return &Buffer{Block: b.Block, Off: b.Off + off, N: n, DType: b.DType, Shape: slices.Clone(shape)}
}

// Bytes returns the size in bytes.
func (b *Buffer) Bytes() int64 { return int64(b.N) * b.DType.Size() }

// Host is host memory to copy to or from a device. Floating-point numbers are float64 on
// the host, whatever the precision on the device; float32 survives the round trip
// unchanged. Exactly one of the two fields is set.
type Host struct {
	Floats []float64 // for F32 and F64
	Ints   []int64   // for I64
}

// Len returns the number of elements.
func (h Host) Len() int { return len(h.Floats) + len(h.Ints) }
