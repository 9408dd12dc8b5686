package cpu

import (
	"github.com/gaprof/gaprof/reference/cpu/gemm"
	"github.com/gaprof/gaprof/reference/ops"
)

func foreachCopy[T gemm.Float](o ops.ForeachCopy) {
	for i, y := range o.Y {
		copy(data[T](y), data[T](o.X[i]))
	}
}

func splitWithSizesCopy[T gemm.Float](o ops.SplitWithSizesCopy) {
	x := data[T](o.X)
	for r := range o.Ranks {
		for _, b := range o.Y {
			y := data[T](b)
			part := len(y) / o.Ranks
			copy(y[r*part:][:part], x)
			x = x[part:]
		}
	}
}

func chunkCat[T gemm.Float](o ops.ChunkCat) {
	y := data[T](o.Y)
	for r := range o.Ranks {
		for _, b := range o.X {
			x, chunk := data[T](b), ops.ChunkElements(b.Shape, o.Ranks)
			n := 0
			if from := r * chunk; from < len(x) {
				n = copy(y[:chunk], x[from:])
			}
			clear(y[n:chunk])
			y = y[chunk:]
		}
	}
}
