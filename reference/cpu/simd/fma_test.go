package simd

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// once is a*b + c in exact arithmetic, rounded once. It does not know signs of zero.
func once(a, b, c float32) float32 {
	x := new(big.Float).SetPrec(600).SetFloat64(float64(a))
	x.Mul(x, new(big.Float).SetFloat64(float64(b)))
	f, _ := x.Add(x, new(big.Float).SetFloat64(float64(c))).Float32()
	return f
}

// Values whose sums lie in the middle between two float32, and next to it.
func TestFMA(t *testing.T) {
	tiny := float32(0x1p-149)
	for _, v := range [][3]float32{
		{0x1p-24, 1, 1}, {3 * 0x1p-24, 1, 1}, {0x1p-12 + 0x1p-35, 0x1p-12, 1}, {0x1p-12 - 0x1p-36, 0x1p-12, 1},
		{-0x1p-12 - 0x1p-35, 0x1p-12, 1 + 0x1p-23}, {0x1p-70, 0x1p-70, 1}, {tiny, 0.5, 0}, {tiny, 0.5, tiny},
		{tiny, -0.5, tiny}, {tiny, 0.75, 2 * tiny}, {0x1p-63 + 0x1p-86, 0x1p-64, 0x1p-126}, {3, 5, -15},
		{0x1p-75 * (1 + 0x1p-11), 0x1p-75 * (1 - 0x1p-11 + 0x1p-22), 0x1p-127},
		{math.MaxFloat32, 1, 0x1p103}, {math.MaxFloat32, 1, 0x1.fffffep102}, {math.MaxFloat32, 2, -math.MaxFloat32},
	} {
		checkFMA(t, v[0], v[1], v[2])
	}
}

// Random bits; and sums so close to the middle between two float32 that float64 has them
// in the middle, above and below.
func TestRandomFMA(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const half, up, down = 0x1p-24, 1 - 0x1p-11 + 0x1p-22, 1 - 0x1p-18
	for range 100_000 {
		checkFMA(t, math.Float32frombits(rng.Uint32()), math.Float32frombits(rng.Uint32()),
			math.Float32frombits(rng.Uint32()))
		c := float32(1 + float64(rng.IntN(1<<23))*0x1p-23)
		s := float32(math.Ldexp(1, -rng.IntN(149)))
		checkFMA(t, s*(1+0x1p-11), half*up, s*c)
		checkFMA(t, s*(1+0x1p-18), half*down, s*c)
		checkFMA(t, s*(1+0x1p-18), -half*down, s*c)
		checkFMA(t, s*(1+0x1p-11), -half*up, -s*c)
	}
	if v := FMA(float32(math.Inf(1)), 0, 1); v == v {
		t.Error(v)
	}
}

func checkFMA(t *testing.T, a, b, c float32) {
	t.Helper()
	if !finite(a) || !finite(b) || !finite(c) {
		return
	}
	if got, want := FMA(a, b, c), once(a, b, c); got != want {
		t.Fatalf("%g * %g + %g = %g, want %g", a, b, c, got, want)
	}
}

func finite(v float32) bool { return v-v == 0 }
