package gemm

//go:generate go run -C ../../../tools ./kernels -what products -to ../reference/cpu/gemm/tiles_amd64

func init() {
	singles = append(singles,
		newEngine(6, 16, single(tileAVX2F32)),
		newEngine(8, 32, single(tileAVX512F32)))
	doubles = append(doubles,
		newEngine(6, 8, double(tileAVX2F64)),
		newEngine(8, 16, double(tileAVX512F64)))
	for _, e := range singles[1:] {
		e.turn, e.split = transposeSquares, splitPairs
	}
}

// assembly is a function of tiles_amd64.s.
type assembly[T Float] func(c *T, cs int, z *T, zs int, a *T, rs, ks int, b *T, k int, alpha T)

func single(f assembly[float32]) func(t *tile[float32]) {
	return func(t *tile[float32]) { call(f, t, 4) }
}

func double(f assembly[float64]) func(t *tile[float64]) {
	return func(t *tile[float64]) { call(f, t, 8) }
}

func call[T Float](f assembly[T], t *tile[T], size int) {
	var z *T
	if t.z != nil {
		z = &t.z[0]
	}
	f(&t.c[0], t.cs*size, z, t.zs*size, &t.a[0], t.rs*size, t.ks*size, &t.b[0], t.k, t.alpha)
}

// transposeSquares is transpose in squares of 8 x 8, as far as they go.
func transposeSquares(to []float32, apart int, from []float32, stride, rows, cols int) {
	squares := cols / 8
	i := 0
	for ; i+8 <= rows && squares > 0; i += 8 {
		transposeAVX(&to[i], apart*4, &from[i*stride], stride*4, squares)
		if rest := squares * 8; rest < cols {
			transpose(to[rest*apart+i:], apart, from[i*stride+rest:], stride, 8, cols-rest)
		}
	}
	if i < rows {
		transpose(to[i:], apart, from[i*stride:], stride, rows-i, cols)
	}
}

// splitPairs is split, two rows at a time if panels are 8 wide.
func splitPairs(to []float32, width int, from []float32, stride, rows, cols int) {
	if width != 8 || cols%8 != 0 || rows < 2 {
		split(to, width, from, stride, rows, cols)
		return
	}
	interleaveAVX(&to[0], rows*width*4, &from[0], stride*4, cols/8, rows/2)
	if last := rows - 1; rows%2 != 0 {
		for j := 0; j < cols; j += 8 {
			copy(to[j*rows+last*8:][:8], from[last*stride+j:])
		}
	}
}
