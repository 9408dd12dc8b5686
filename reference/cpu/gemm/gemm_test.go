package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/reference/cpu/simd"
)

func random[T Float](rng *rand.Rand, n int) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = T(rng.NormFloat64())
	}
	return list
}

// matrix returns a random one, with gaps of NaN between its rows.
func matrix[T Float](rng *rand.Rand, rows, cols, gap int, transposed bool) Matrix[T] {
	if transposed {
		rows, cols = cols, rows
	}
	m := Matrix[T]{Data: random[T](rng, (rows-1)*(cols+gap)+cols), Stride: cols + gap, Transposed: transposed}
	for i := range m.Data {
		if i%m.Stride >= cols {
			m.Data[i] = T(math.NaN())
		}
	}
	return m
}

// product returns a random one. The part of A that is not there is zero.
func product[T Float](m, n, k int, form, gap int, part Part) Product[T] {
	rng := rand.New(rand.NewPCG(uint64(m*n), uint64(k)))
	p := Product[T]{M: m, N: n, K: k, Alpha: T(1), Part: part, C: matrix[T](rng, m, n, gap, false),
		A: matrix[T](rng, m, k, gap, form&1 != 0), B: matrix[T](rng, k, n, gap, form&2 != 0)}
	if form&4 != 0 {
		p.Row, p.Alpha = random[T](rng, n), 0.3
	}
	for i := range m {
		for j := range k {
			if part == LowerA && j > i || part == UpperA && j < i {
				p.A.at(i, j)[0] = 0
			}
		}
	}
	return p
}

// on returns C as a level computes it; what is not needed of it is zero, and gaps are as
// they were.
func on[T Float](l simd.Level, p Product[T]) []T {
	defer simd.Use(l)()
	p.C.Data = slices.Clone(p.C.Data)
	p.Run()
	if p.Part == LowerC {
		for i := range p.M {
			clear(p.C.Data[i*p.C.Stride:][min(i+1, p.N):p.N])
		}
	}
	return p.C.Data
}

var sizes = [][3]int{
	{1, 1, 1}, {8, 32, 256}, {6, 16, 4}, {4, 8, 3}, {25, 129, 257}, {64, 64, 64}, {65, 1, 3}, {2, 300, 5},
	{20, 7, 600}, {193, 33, 9}, {3, 1030, 2}, {17, 40, 70},
}

// Every form against three loops, around the sizes of tiles and blocks.
func TestProduct(t *testing.T) {
	for _, size := range sizes {
		for form := range 8 {
			t.Run(fmt.Sprint(size, form), func(t *testing.T) {
				checkLoops(t, product[float64](size[0], size[1], size[2], form, 3, All), 1e-13)
				checkLoops(t, product[float32](size[0], size[1], size[2], form, 0, All), 1e-5)
			})
		}
	}
}

// Halves of square ones, too.
func TestParts(t *testing.T) {
	for _, n := range []int{1, 31, 64, 256, 300} {
		for form := range 2 {
			for part, size := range map[Part][2]int{LowerC: {n, 6}, LowerA: {5, n}, UpperA: {35, n}} {
				checkLoops(t, product[float64](n, size[0], size[1], form, 1, part), 1e-13)
				checkLoops(t, product[float32](n, size[0], size[1], 4+form, 0, part), 1e-5)
			}
		}
	}
}

// checkLoops compares the plain level with three loops, the others with it.
func checkLoops[T Float](t *testing.T, p Product[T], tolerance float64) {
	t.Helper()
	got := on(simd.Plain, p)
	for i := range p.M {
		for j := range p.N {
			want, has := 0.0, float64(got[i*p.C.Stride+j])
			if p.Part == LowerC && j > i {
				break
			}
			for k := range p.K {
				want += float64(p.Alpha) * float64(p.A.at(i, k)[0]) * float64(p.B.at(k, j)[0])
			}
			if p.Row != nil {
				want += float64(p.Row[j])
			}
			if !(math.Abs(has-want) <= tolerance*math.Sqrt(float64(p.K))*10) {
				t.Fatalf("c[%d][%d] = %v, want %v", i, j, has, want)
			}
		}
	}
	sameBits(t, p)
}

// sameBits compares the levels of this machine with the plain one, bit by bit.
func sameBits[T Float](t *testing.T, p Product[T]) {
	t.Helper()
	want := on(simd.Plain, p)
	for _, l := range simd.Levels()[1:] {
		for i, v := range on(l, p) {
			if w := want[i]; math.Float64bits(float64(v)) != math.Float64bits(float64(w)) && (v == v || w == w) {
				t.Fatalf("%d x %d x %d, %d: %s has %v at %d, plain %v", p.M, p.N, p.K, p.Part, l, v, i, w)
			}
		}
	}
}

func FuzzProduct(f *testing.F) {
	for i, size := range sizes {
		f.Add(uint16(size[0]), uint16(size[1]), uint16(size[2]), uint8(i), uint8(i%3), uint8(i), int8(0), uint16(i))
	}
	f.Fuzz(func(t *testing.T, m, n, k uint16, form, gap, part uint8, exponent int8, odd uint16) {
		rows, cols, sum := int(m)%300+1, int(n)%1100+1, int(k)%600+1
		for rows*cols*sum > 1<<16 {
			rows, cols, sum = rows/2+1, cols/2+1, sum/2+1
		}
		which := Part(part % 4)
		if which >= LowerA {
			sum = rows
		}
		p := product[float32](rows, cols, sum, int(form%8), int(gap%9), which)
		p.Alpha = float32(math.Ldexp(1.1, int(exponent)))
		p.A.Data[int(odd)%len(p.A.Data)] *= float32(math.Ldexp(1, int(exponent)))
		sameBits(t, p)
		sameBits(t, product[float64](rows, cols, sum, int(form%8), int(gap%9), which))
	})
}

// Matrices that are too small are refused: assembly would write on.
func TestTooSmall(t *testing.T) {
	for want, spoil := range map[string]func(p *Product[float32]){
		"gemm: C has":             func(p *Product[float32]) { p.C.Data = p.C.Data[1:] },
		"gemm: A has":             func(p *Product[float32]) { p.A.Data = p.A.Data[1:] },
		"gemm: B has":             func(p *Product[float32]) { p.B.Stride-- },
		"gemm: C is transposed":   func(p *Product[float32]) { p.Row = p.Row[1:] },
		"gemm: half of an A":      func(p *Product[float32]) { p.Part = UpperA },
		"gemm: a product of 0 x ": func(p *Product[float32]) { p.M = 0 },
	} {
		p := product[float32](9, 8, 7, 4, 0, All)
		spoil(&p)
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, want) {
					t.Errorf("%s, want %s", got, want)
				}
			}()
			p.Run()
		}()
	}
}

func BenchmarkProduct(b *testing.B) {
	for _, size := range [][3]int{{64, 64, 64}, {1024, 64, 64}, {256, 256, 256}, {512, 512, 512}} {
		for _, l := range simd.Levels() {
			for _, form := range []int{0, 1, 2} {
				b.Run(fmt.Sprint(size, " ", l, " ", []string{"nn", "tn", "nt"}[form]), func(b *testing.B) {
					defer simd.Use(l)()
					p := product[float32](size[0], size[1], size[2], form, 0, All)
					for b.Loop() {
						p.Run()
					}
					operations := 2 * float64(size[0]*size[1]*size[2])
					b.ReportMetric(operations*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
				})
			}
		}
	}
}
