package ops

import "github.com/gaprof/gaprof/reference/device"

// ForeachCopy is Y = X for many tensors at once.
type ForeachCopy struct {
	Y, X []*device.Buffer // of equal sizes
}

// Name returns the name of the device function.
func (o ForeachCopy) Name() string { return kernelName("multi_tensor_copy", o.Type()) }

// Op returns aten::_foreach_copy_.
func (o ForeachCopy) Op() string { return "aten::_foreach_copy_" }

// Cost returns operations and bytes moved.
func (o ForeachCopy) Cost() (flops, moved int64) { return 0, bytes(o.Y...) + bytes(o.X...) }

// Operands returns the inputs.
func (o ForeachCopy) Operands() []device.Operand { return lists(o.Y, o.X) }

// Type returns the precision.
func (o ForeachCopy) Type() device.DType { return o.Y[0].DType }

// SplitWithSizesCopy takes apart what an all-gather of several tensors has put together: X
// has for every rank its part of Y[0], of Y[1] and so on; afterwards each Y has its parts
// in the order of ranks.
type SplitWithSizesCopy struct {
	Y     []*device.Buffer // whole, with as many elements of each rank
	X     *device.Buffer   // as long as all of Y
	Ranks int
}

// Name returns the name of the device function.
func (o SplitWithSizesCopy) Name() string { return kernelName("split_with_sizes_copy", o.Type()) }

// Op returns aten::split_with_sizes_copy.
func (o SplitWithSizesCopy) Op() string { return "aten::split_with_sizes_copy" }

// Cost returns operations and bytes moved.
func (o SplitWithSizesCopy) Cost() (flops, moved int64) { return 0, bytes(o.X) + bytes(o.Y...) }

// Operands returns the inputs.
func (o SplitWithSizesCopy) Operands() []device.Operand {
	return []device.Operand{byRank(o.X, o.Ranks), {Type: "ScalarList"}, {Type: "Scalar", Value: "1"},
		listByRank(o.Y, o.Ranks)}
}

// Type returns the precision.
func (o SplitWithSizesCopy) Type() device.DType { return o.X.DType }

// ChunkCat puts together what is reduce-scattered at once: Y has for every rank its chunk of
// X[0], of X[1] and so on. Chunks are of rows, as many for all ranks, with zeros for those
// that X does not have.
type ChunkCat struct {
	Y     *device.Buffer
	X     []*device.Buffer
	Ranks int
}

// ChunkElements returns the size of a rank's chunk of a tensor.
func ChunkElements(shape []int, ranks int) int {
	return (shape[0] + ranks - 1) / ranks * device.Elements(shape[1:])
}

// Name returns the name of the device function.
func (o ChunkCat) Name() string { return kernelName("chunk_cat", o.Type()) }

// Op returns aten::_chunk_cat.
func (o ChunkCat) Op() string { return "aten::_chunk_cat" }

// Cost returns operations and bytes moved.
func (o ChunkCat) Cost() (flops, moved int64) { return 0, bytes(o.Y) + bytes(o.X...) }

// Operands returns the inputs.
func (o ChunkCat) Operands() []device.Operand {
	return []device.Operand{device.TensorList(o.X), {Type: "Scalar", Value: "0"}, {Type: "Scalar"},
		byRank(o.Y, o.Ranks)}
}

// Type returns the precision.
func (o ChunkCat) Type() device.DType { return o.Y.DType }

// byRank is a flat buffer of equal parts of ranks.
func byRank(b *device.Buffer, ranks int) device.Operand {
	return device.Operand{Shape: []int{ranks, b.N / ranks}, Type: b.DType.String()}
}

func listByRank(list []*device.Buffer, ranks int) device.Operand {
	o := device.Operand{Type: "TensorList"}
	for _, b := range list {
		o.List = append(o.List, []int{ranks, b.N / ranks})
	}
	return o
}
