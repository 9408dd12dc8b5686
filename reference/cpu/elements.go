package cpu

import (
	"github.com/gaprof/gaprof/reference/cpu/gemm"
	"github.com/gaprof/gaprof/reference/device"
)

// data returns the elements of a buffer.
func data[T gemm.Float | int64](b *device.Buffer) []T {
	return b.Block.Mem.([]T)[b.Off : b.Off+b.N]
}

// first returns the value of a scalar, which may be a count.
func first[T gemm.Float](b *device.Buffer) T {
	if b.DType == device.I64 {
		return T(data[int64](b)[0])
	}
	return data[T](b)[0]
}
