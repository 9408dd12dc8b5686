package gemm

// space is what a product needs of memory: a block of A, if it is packed, one of B, and
// a tile at the edge of C.
type space[T Float] struct {
	a, b, edge []T
	tile       tile[T]
}

func newSpace[T Float](tall, wide int) *space[T] {
	return &space[T]{a: make([]T, (height+tall)*depth), b: make([]T, (width+wide)*depth), edge: make([]T, tall*wide)}
}

// packB stores the block of B by tiles: wide columns, row after row. What the last tile
// lacks is zero.
func (r *running[T]) packB() {
	for j := 0; j < r.cols; j += r.wide {
		to := r.space.b[j*r.steps:][:r.wide*r.steps]
		cols := min(r.wide, r.cols-j)
		if cols < r.wide {
			clear(to)
		}
		if r.B.Transposed {
			r.turn(to, r.wide, r.B.at(r.l, r.j+j), r.B.Stride, cols, r.steps)
			continue
		}
		copyRows(to, r.wide, r.B.at(r.l, r.j+j), r.B.Stride, r.steps, cols)
	}
}

// packA stores rows i to end of the block of A by tiles, column after column, if A is
// Transposed. Otherwise it is read where it is, all but the rows of a last tile that is
// not full.
func (r *running[T]) packA(i, end int) {
	from := i
	if !r.A.Transposed {
		from = i + (end-i)/r.tall*r.tall
	}
	for k := from; k < end; k += r.tall {
		to := r.space.a[(k-i)*r.steps:][:r.tall*r.steps]
		rows := min(r.tall, end-k)
		if rows < r.tall {
			clear(to)
		}
		if !r.A.Transposed {
			r.turn(to, r.tall, r.A.at(k, r.l), r.A.Stride, rows, r.steps)
			continue
		}
		copyRows(to, r.tall, r.A.at(k, r.l), r.A.Stride, r.steps, rows)
	}
}

// copyRows copies a matrix whose rows stand some elements apart.
func copyRows[T Float](to []T, apart int, from []T, stride, rows, cols int) {
	if cols == 8 {
		for i := range rows {
			*(*[8]T)(to[i*apart:]) = *(*[8]T)(from[i*stride:])
		}
		return
	}
	for i := range rows {
		copy(to[i*apart:][:cols], from[i*stride:])
	}
}

// transpose stores the rows of a matrix as columns.
func transpose[T Float](to []T, apart int, from []T, stride, rows, cols int) {
	for i := range rows {
		for j, v := range from[i*stride:][:cols] {
			to[j*apart+i] = v
		}
	}
}
