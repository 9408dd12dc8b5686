package gemm

import (
	"sync"

	"github.com/gaprof/gaprof/reference/cpu/simd"
)

// tile is what the innermost loop gets. Distances are in elements.
type tile[T Float] struct {
	c, z       []T // z is added, unless it is nil
	cs, zs     int // between rows
	rows, cols int // of c; the others are not written
	a, b       []T // column by column, row by row
	rs, ks     int // of a, between rows and between columns
	k          int // steps of the sum
	alpha      T
}

// engine is an implementation of the innermost loop.
type engine[T Float] struct {
	tall, wide int // of its tiles
	run        func(t *tile[T])
	turn       mover[T] // as transpose
	split      mover[T] // as split
	spaces     sync.Pool
}

// mover copies a matrix whose rows stand stride elements apart, into another order.
type mover[T Float] func(to []T, width int, from []T, stride, rows, cols int)

func newEngine[T Float](tall, wide int, run func(t *tile[T])) *engine[T] {
	e := &engine[T]{tall: tall, wide: wide, run: run, turn: transpose[T], split: split[T]}
	e.spaces.New = func() any { return newSpace[T](tall, wide) }
	return e
}

// engines are those of this machine by level, the plain one first.
type engines[T Float] []*engine[T]

var (
	singles = engines[float32]{newEngine(plainTall, plainWide, plain32)}
	doubles = engines[float64]{newEngine(plainTall, plainWide, plain64)}
)

func engineOf[T Float]() *engine[T] {
	if list, ok := any(singles).(engines[T]); ok {
		return list[simd.InUse()]
	}
	return any(doubles).(engines[T])[simd.InUse()]
}

// compute runs a tile. One at the edge of C goes by way of a full one.
func (e *engine[T]) compute(t *tile[T], edge []T) {
	if t.rows == e.tall && t.cols == e.wide {
		e.run(t)
		return
	}
	c, cs := t.c, t.cs
	if t.z != nil {
		copyRows(edge, e.wide, t.z, t.zs, t.rows, t.cols)
		t.z, t.zs = edge, e.wide
	}
	t.c, t.cs = edge, e.wide
	e.run(t)
	copyRows(c, cs, edge, e.wide, t.rows, t.cols)
}
