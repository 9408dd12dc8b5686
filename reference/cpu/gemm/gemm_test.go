package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func random[T Float](n int) []T {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	list := make([]T, n)
	for i := range list {
		list[i] = T(rng.NormFloat64())
	}
	return list
}

func (m Matrix[T]) at(i, j int) float64 { return float64(m.from(i, j).Data[0]) }

// Every form against three loops, around the sizes of the blocks.
func TestMul(t *testing.T) {
	for _, size := range [][3]int{{1, 1, 1}, {63, 129, 257}, {64, 128, 256}, {65, 1, 3}, {2, 300, 5}, {200, 7, 600}} {
		for form := range 4 {
			t.Run(fmt.Sprint(size, form), func(t *testing.T) {
				check[float64](t, size, form, 1e-13)
				check[float32](t, size, form, 1e-5)
			})
		}
	}
}

func check[T Float](t *testing.T, size [3]int, form int, tolerance float64) {
	m, n, k := size[0], size[1], size[2]
	a := Matrix[T]{random[T](m * k), k, form&1 != 0}
	if a.Transposed {
		a.Stride = m
	}
	b := Matrix[T]{random[T](k * n), n, form&2 != 0}
	if b.Transposed {
		b.Stride = k
	}
	c := Matrix[T]{Data: random[T](m * n), Stride: n}
	before := slices.Clone(c.Data)
	Mul(c, a, b, m, n, k, 0.5, 2)
	for i := range m {
		for j := range n {
			want := 2 * float64(before[i*n+j])
			for l := range k {
				want += 0.5 * a.at(i, l) * b.at(l, j)
			}
			if got := c.at(i, j); math.Abs(got-want) > tolerance*math.Sqrt(float64(k))*10 {
				t.Fatalf("c[%d][%d] = %v, want %v", i, j, got, want)
			}
		}
	}
}

// What C held does not matter where beta is zero.
func TestMulOverwrites(t *testing.T) {
	nan := math.NaN()
	c := Matrix[float64]{Data: []float64{nan, nan, nan, nan}, Stride: 2}
	Mul(c, Matrix[float64]{Data: []float64{1, 2}, Stride: 1}, Matrix[float64]{Data: []float64{3, 4}, Stride: 2}, 2, 2,
		1, 1, 0)
	if !slices.Equal(c.Data, []float64{3, 4, 6, 8}) {
		t.Error(c.Data)
	}
}

func BenchmarkMul(b *testing.B) {
	for _, n := range []int{64, 256, 512} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x, y, z := random[float32](n*n), random[float32](n*n), make([]float32, n*n)
			for b.Loop() {
				Mul(Matrix[float32]{Data: z, Stride: n}, Matrix[float32]{Data: x, Stride: n},
					Matrix[float32]{Data: y, Stride: n, Transposed: true}, n, n, n, 1, 0)
			}
			b.ReportMetric(2*float64(n*n*n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
