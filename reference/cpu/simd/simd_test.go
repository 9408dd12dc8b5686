package simd

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// loop is a function of this package on vectors of equal length and two numbers. It
// returns what it computes besides the vectors.
type loop struct {
	name string
	run  func(v [5][]float32, a, b float32) []float64
}

var all = []loop{
	{"Add", func(v [5][]float32, a, b float32) []float64 { Add(v[0], v[1], v[2]); return nil }},
	{"Scale", func(v [5][]float32, a, b float32) []float64 { Scale(v[0], v[1], a); return nil }},
	{"Sum", func(v [5][]float32, a, b float32) []float64 { return []float64{Sum(v[0])} }},
	{"Squares", func(v [5][]float32, a, b float32) []float64 { return []float64{Squares(v[0], float64(a)/3)} }},
	{"Dot", func(v [5][]float32, a, b float32) []float64 { return []float64{Dot(v[0], v[1])} }},
	{"Max", func(v [5][]float32, a, b float32) []float64 { return []float64{float64(Max(v[0]))} }},
	{"Exp", func(v [5][]float32, a, b float32) []float64 { return []float64{Exp(v[0], v[1], a, b)} }},
	{"Gelu", func(v [5][]float32, a, b float32) []float64 { Gelu(v[0], v[1]); return nil }},
	{"GeluBackward", func(v [5][]float32, a, b float32) []float64 { GeluBackward(v[0], v[1], v[2]); return nil }},
	{"SoftmaxBackward", func(v [5][]float32, a, b float32) []float64 { SoftmaxBackward(v[0], v[1], a); return nil }},
	{"SGD", func(v [5][]float32, a, b float32) []float64 { SGD(v[0], v[1], a, b, a); return nil }},
	{"AdamW", func(v [5][]float32, a, b float32) []float64 {
		AdamW{a, b, 1 - b, a, 1 - a, b, a, a, b}.Update(v[0], v[1], v[2], v[3])
		return nil
	}},
	{"Norm.Forward", func(v [5][]float32, a, b float32) []float64 {
		Norm{a, b}.Forward(v[0], v[1], v[2], v[3])
		return nil
	}},
	{"Norm.Sums", func(v [5][]float32, a, b float32) []float64 {
		sum, dot := Norm{a, b}.Sums(v[0], v[1], v[2], v[3], v[4])
		return []float64{sum, dot}
	}},
	{"Norm.Backward", func(v [5][]float32, a, b float32) []float64 {
		Norm{a, b}.Backward(v[0], v[1], v[2], v[3], b, a)
		return nil
	}},
}

// sameBits runs a loop on all levels of this machine. NaN is like NaN.
func (l loop) sameBits(t *testing.T, v [5][]float32, a, b float32) {
	t.Helper()
	var want string
	for _, level := range Levels() {
		var mine [5][]float32
		for i := range v {
			mine[i] = slices.Clone(v[i])
		}
		back := Use(level)
		returned := l.run(mine, a, b)
		back()
		got := fmt.Sprintf("%x %x", returned, mine)
		if level == Plain {
			want = got
		} else if got != want {
			t.Fatalf("%s(%v, %v, %v) on %s:\n%s, plain:\n%s", l.name, v, a, b, level, got, want)
		}
	}
}

var special = []float32{
	0, float32(math.Copysign(0, -1)), 1, -1, 0x1p-149, -0x1p-130, 87, -87, 88.5, -88.5, -200, 9.9, -9.9, 1e-20, 1e20,
	math.MaxFloat32, -math.MaxFloat32, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 0.5,
}

// Lengths around the sixteen elements of a turn; ordinary values, and rarely special ones.
func TestLevels(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, l := range all {
		for _, n := range []int{1, 15, 16, 17, 31, 32, 40, 64, 100} {
			for rare := range 4 {
				var v [5][]float32
				for i := range v {
					v[i] = make([]float32, n)
					for j := range v[i] {
						v[i][j] = float32(rng.NormFloat64())
						if rare > 0 && rng.IntN(6*rare) == 0 {
							v[i][j] = special[rng.IntN(len(special))]
						}
					}
				}
				l.sameBits(t, v, float32(rng.Float64()), float32(rng.Float64()))
			}
		}
	}
}

func FuzzLoops(f *testing.F) {
	bits := make([]byte, 0, 4*5*len(special))
	for i := range 5 * len(special) {
		bits = binary.LittleEndian.AppendUint32(bits, math.Float32bits(special[i*8%len(special)]))
	}
	for i := range all {
		f.Add(uint8(i), bits, float32(0.9), float32(3))
	}
	f.Fuzz(func(t *testing.T, which uint8, bits []byte, a, b float32) {
		n := min(len(bits)/20, 70)
		if n == 0 {
			return
		}
		var v [5][]float32
		for i := range v {
			for j := range n {
				v[i] = append(v[i], math.Float32frombits(binary.LittleEndian.Uint32(bits[4*(i*n+j):])))
			}
		}
		all[int(which)%len(all)].sameBits(t, v, a, b)
	})
}

// What is computed, against float64 and the standard library.
func TestValues(t *testing.T) {
	x := make([]float32, 0, 4000)
	for i := range 4000 {
		x = append(x, float32(i-2000)/100)
	}
	y := make([]float32, len(x))
	want := 0.0
	sum := Exp(y, x, 1, 0.5)
	for i, v := range x {
		e := math.Exp(float64(v) - 1)
		want += e
		near(t, "exp", v, float64(y[i]), e*0.5, 1.5e-7)
	}
	near(t, "the sum of exp", 0, sum, want, 1e-6)
	Gelu(y, x)
	slope := make([]float32, len(x))
	ones := slices.Repeat([]float32{2}, len(x))
	GeluBackward(slope, ones, x)
	for i, v := range x {
		gelu := func(x float64) float64 { return x * (1 + math.Tanh(0.7978845608028654*(x+0.044715*x*x*x))) / 2 }
		near(t, "gelu", v, float64(y[i]), gelu(float64(v)), 3e-7)
		const h = 1e-5
		near(t, "gelu'", v, float64(slope[i]), (gelu(float64(v)+h)-gelu(float64(v)-h))/h, 1e-6)
	}
	near(t, "Max", 0, float64(Max(x[:1999])), -0.02, 1e-7)
	near(t, "Sum", 0, Sum(x), -20, 1e-5)
	near(t, "Dot", 0, Dot(x, ones), -40, 1e-5)
	near(t, "Squares", 0, Squares(x[:2001], -10), 66766.7, 1e-5)
}

// near compares relatively, or absolutely where values are below 1.
func near(t *testing.T, what string, at float32, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want))) {
		t.Errorf("%s of %v is %v, want %v", what, at, got, want)
	}
}

// In relative terms, too, where e^x is small; and what is said of the ends.
func TestExpEnds(t *testing.T) {
	for x := float32(-86.9); x < 88; x += 0.37 {
		if e := float64(exp(x)) / math.Exp(float64(x)); math.Abs(e-1) > 1.2e-7 {
			t.Errorf("exp(%v) is %v of right", x, e)
		}
	}
	if a, b, c := exp(-87.1), exp(float32(math.Inf(-1))), exp(float32(math.NaN())); a != 0 || b != 0 || c == c {
		t.Error(a, b, c)
	}
	if exp(1000) != exp(88) || exp(0) != 1 {
		t.Error(exp(1000), exp(88), exp(0))
	}
}

func BenchmarkLoops(b *testing.B) {
	const n = 4096
	for _, l := range all {
		for _, level := range Levels() {
			b.Run(l.name+"/"+level.String(), func(b *testing.B) {
				defer Use(level)()
				var v [5][]float32
				for i := range v {
					v[i] = slices.Repeat([]float32{0.5, 0.25}, n/2)
				}
				for b.Loop() {
					l.run(v, 0.5, 0.5)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/element")
			})
		}
	}
}
