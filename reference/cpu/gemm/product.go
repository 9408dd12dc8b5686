package gemm

import "fmt"

// Float is an element type.
type Float interface{ float32 | float64 }

// Matrix is a matrix stored in a slice. Element (i, j) is at index i*Stride + j or, if
// Transposed, at j*Stride + i.
type Matrix[T Float] struct {
	Data       []T
	Stride     int  // distance between rows of Data, in elements
	Transposed bool // rows of Data are columns of the matrix
}

// Product is C = Alpha A B, plus Row in every row.
type Product[T Float] struct {
	C, A, B Matrix[T] // M x N, not Transposed; M x K; K x N
	M, N, K int       // at least 1
	Alpha   T
	Row     []T // N elements; nil for none
	Part    Part
}

// Part says what of a product is needed, or not zero anyway.
type Part int

// Parts of a product.
const (
	All    Part = iota
	LowerC      // what C has above its diagonal is not needed, and undefined
	LowerA      // A is zero above its diagonal
	UpperA      // A is zero below its diagonal
)

// Blocks: depth x width elements of B and height x depth of A are packed, if at all, and
// used while they are in the second cache; of B, a tile's width in the first one. Sums
// depend on depth alone.
const height, width, depth = 192, 1024, 256

// Run computes C.
func (p Product[T]) Run() {
	p.check()
	e := engineOf[T]()
	s := e.spaces.Get().(*space[T])
	defer e.spaces.Put(s)
	run := running[T]{Product: p, engine: e, space: s}
	for run.j = 0; run.j < p.N; run.j += width {
		run.cols = min(width, p.N-run.j)
		for run.l = 0; run.l < p.K; run.l += depth {
			run.steps = min(depth, p.K-run.l)
			run.packB()
			run.rows()
		}
	}
}

func (p Product[T]) check() {
	switch {
	case p.M < 1 || p.N < 1 || p.K < 1:
		panic(fmt.Sprintf("gemm: a product of %d x %d x %d", p.M, p.N, p.K))
	case p.C.Transposed || p.Row != nil && len(p.Row) < p.N:
		panic("gemm: C is transposed, or Row too short")
	case (p.Part == LowerA || p.Part == UpperA) && p.M != p.K:
		panic("gemm: half of an A that is not square")
	}
	p.C.check("C", p.M, p.N)
	p.A.check("A", p.M, p.K)
	p.B.check("B", p.K, p.N)
}

// check panics if a matrix of m x n is not all there.
func (m Matrix[T]) check(name string, rows, cols int) {
	if m.Transposed {
		rows, cols = cols, rows
	}
	if m.Stride < cols || len(m.Data) < (rows-1)*m.Stride+cols {
		panic(fmt.Sprintf("gemm: %s has %d elements, not %d x %d, %d apart", name, len(m.Data), rows, cols, m.Stride))
	}
}

// at returns what is stored from element (i, j) on.
func (m Matrix[T]) at(i, j int) []T {
	if m.Transposed {
		i, j = j, i
	}
	return m.Data[i*m.Stride+j:]
}

// running is a product at one of its blocks: columns j and on, step l of the sum and on.
type running[T Float] struct {
	Product[T]
	*engine[T]
	*space[T]
	j, cols  int
	l, steps int
}

// rows goes through the rows of C, as many at a time as A has in a block.
func (r *running[T]) rows() {
	most := height / r.tall * r.tall
	for i := 0; i < r.M; i += most {
		end := min(r.M, i+most)
		r.packA(i, end)
		for j := 0; j < r.cols; j += r.wide {
			for k := i; k < end; k += r.tall {
				r.tile(i, k, j)
			}
		}
	}
}

// tile computes the tile whose first element is (i, r.j+j); the block of A begins in row
// from.
func (r *running[T]) tile(from, i, j int) {
	skip, steps := r.needed(i, j)
	if steps < 0 {
		return
	}
	t := &r.space.tile
	*t = tile[T]{rows: min(r.tall, r.M-i), cols: min(r.wide, r.cols-j), k: steps, alpha: r.Alpha}
	t.b = r.space.b[j*r.steps+skip*r.wide:]
	t.c, t.cs = r.C.at(i, r.j+j), r.C.Stride
	if r.A.Transposed || t.rows < r.tall {
		t.a, t.rs, t.ks = r.space.a[(i-from)*r.steps+skip*r.tall:], 1, r.tall
	} else {
		t.a, t.rs, t.ks = r.A.at(i, r.l+skip), r.A.Stride, 1
	}
	switch {
	case !r.first(i):
		t.z, t.zs = t.c, t.cs
	case r.Row != nil:
		t.z = r.Row[r.j+j:]
	}
	r.compute(t, r.space.edge)
}

// needed returns how many steps of the block are skipped and how many are left for a
// tile; fewer than 0 if there is nothing to do.
func (r *running[T]) needed(i, j int) (skip, steps int) {
	switch r.Part {
	case LowerC:
		if r.j+j >= i+r.tall {
			return 0, -1
		}
	case LowerA:
		steps = min(r.steps, i+r.tall-r.l)
		if steps <= 0 {
			steps = -1
		}
		return 0, steps
	case UpperA:
		skip = max(0, i-r.l)
		if skip >= r.steps {
			return 0, -1
		}
	}
	return skip, r.steps - skip
}

// first reports whether nothing has been written yet to the tiles in row i.
func (r *running[T]) first(i int) bool {
	if r.Part == UpperA {
		return r.l <= i && i < r.l+depth
	}
	return r.l == 0
}
