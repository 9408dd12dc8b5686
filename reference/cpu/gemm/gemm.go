// Package gemm multiplies row-major matrices on one core with gonum's kernels. It splits
// them into blocks such that the order of every sum is the same in every run.
package gemm

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// Float is an element type.
type Float interface{ float32 | float64 }

// gonum starts goroutines for results of four blocks of 64 x 64 or more. A kernel has only
// one core, so gonum gets at most two blocks at a time.
const rows, columns, depth = 64, 128, 256

// Matrix is a matrix stored in a slice. Element (i, j) is at index i*Stride + j or, if
// Transposed, at j*Stride + i.
type Matrix[T Float] struct {
	Data       []T
	Stride     int  // distance between rows of Data, in elements
	Transposed bool // rows of Data are columns of the matrix
}

// Mul computes C = alpha A B + beta C, with A m x k and B k x n. C must not be Transposed.
func Mul[T Float](c, a, b Matrix[T], m, n, k int, alpha, beta T) {
	for i := 0; i < m; i += rows {
		for j := 0; j < n; j += columns {
			height, width := min(rows, m-i), min(columns, n-j)
			scale := beta
			for l := 0; l < k; l += depth {
				block(c.from(i, j), a.from(i, l), b.from(l, j), height, width, min(depth, k-l), alpha, scale)
				scale = 1
			}
		}
	}
}

// from returns the submatrix starting at element (i, j).
func (m Matrix[T]) from(i, j int) Matrix[T] {
	if m.Transposed {
		i, j = j, i
	}
	m.Data = m.Data[i*m.Stride+j:]
	return m
}

func (m Matrix[T]) transpose() blas.Transpose {
	if m.Transposed {
		return blas.Trans
	}
	return blas.NoTrans
}

func block[T Float](c, a, b Matrix[T], m, n, k int, alpha, beta T) {
	var g gonum.Implementation
	switch data := any(c.Data).(type) {
	case []float32:
		g.Sgemm(a.transpose(), b.transpose(), m, n, k,
			float32(alpha), any(a.Data).([]float32), a.Stride, any(b.Data).([]float32), b.Stride,
			float32(beta), data, c.Stride)
	case []float64:
		g.Dgemm(a.transpose(), b.transpose(), m, n, k,
			float64(alpha), any(a.Data).([]float64), a.Stride, any(b.Data).([]float64), b.Stride,
			float64(beta), data, c.Stride)
	}
}
