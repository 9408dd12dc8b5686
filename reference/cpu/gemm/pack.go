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

// packB stores the block of B by panels: wide columns, row after row. What the last one
// lacks is zero.
func (r *running[T]) packB() {
	if !r.B.Transposed {
		r.split(r.space.b, r.wide, r.B.at(r.l, r.j), r.B.Stride, r.steps, r.cols)
		return
	}
	for j := 0; j < r.cols; j += r.wide {
		to, cols := panel(r.space.b, r.wide, r.steps, j, r.cols)
		r.turn(to, r.wide, r.B.at(r.l, r.j+j), r.B.Stride, cols, r.steps)
	}
}

// packA stores rows i to end of the block of A by panels, tall rows each, column after
// column, if A is Transposed. Otherwise it is read where it is, all but the rows of a
// last panel that is not full.
func (r *running[T]) packA(i, end int) {
	if r.A.Transposed {
		r.split(r.space.a, r.tall, r.A.at(i, r.l), r.A.Stride, r.steps, end-i)
		return
	}
	if full := (end - i) / r.tall * r.tall; full < end-i {
		to, rows := panel(r.space.a, r.tall, r.steps, full, end-i)
		r.turn(to, r.tall, r.A.at(i+full, r.l), r.A.Stride, rows, r.steps)
	}
}

// panel returns the place of the panel that begins at column j, width columns of rows
// elements, and how many of the columns there are. If some are missing it is cleared.
func panel[T Float](to []T, width, rows, j, cols int) ([]T, int) {
	to = to[j*rows:][:width*rows]
	if cols-j < width {
		clear(to)
		return to, cols - j
	}
	return to, width
}

// split copies a matrix to panels.
func split[T Float](to []T, width int, from []T, stride, rows, cols int) {
	full := cols / width * width
	for i := range rows {
		line := from[i*stride:][:cols]
		for j := 0; j < full; j += width {
			copy(to[j*rows+i*width:][:width], line[j:])
		}
	}
	if full < cols {
		last, rest := panel(to, width, rows, full, cols)
		copyRows(last, width, from[full:], stride, rows, rest)
	}
}

// copyRows copies a matrix whose rows stand some elements apart.
func copyRows[T Float](to []T, apart int, from []T, stride, rows, cols int) {
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
