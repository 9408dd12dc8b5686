package gemm

import (
	"math"

	"github.com/gaprof/gaprof/reference/cpu/simd"
)

// Tiles of the plain implementation are plainWide wide.
const plainTall, plainWide = 4, 8

func plain32(t *tile[float32]) {
	for i := range t.rows {
		var sums [plainWide]float32
		for k := range t.k {
			a := t.a[i*t.rs+k*t.ks]
			for j, b := range (*[plainWide]float32)(t.b[k*plainWide:]) {
				sums[j] = simd.FMA(a, b, sums[j])
			}
		}
		for j, sum := range sums {
			if t.z == nil {
				t.c[i*t.cs+j] = t.alpha * sum
			} else {
				t.c[i*t.cs+j] = simd.FMA(t.alpha, sum, t.z[i*t.zs+j])
			}
		}
	}
}

func plain64(t *tile[float64]) {
	for i := range t.rows {
		var sums [plainWide]float64
		for k := range t.k {
			a := t.a[i*t.rs+k*t.ks]
			for j, b := range (*[plainWide]float64)(t.b[k*plainWide:]) {
				sums[j] = math.FMA(a, b, sums[j])
			}
		}
		for j, sum := range sums {
			if t.z == nil {
				t.c[i*t.cs+j] = t.alpha * sum
			} else {
				t.c[i*t.cs+j] = math.FMA(t.alpha, sum, t.z[i*t.zs+j])
			}
		}
	}
}
