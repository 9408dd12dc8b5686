package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// lab is a device whose operations are run one by one.
type lab struct {
	t   *testing.T
	d   device.Device
	s   device.Stream
	rng *rand.Rand
	dt  device.DType
}

func newLab(t *testing.T, dt device.DType) *lab {
	t.Helper()
	members, err := Backend{Poison: true}.Open(device.Config{World: 1})
	if err != nil {
		t.Fatal(err)
	}
	d := members[0].Device
	t.Cleanup(d.Close)
	return &lab{t, d, d.StreamCreateWithPriority(0), rand.New(rand.NewPCG(1, 2)), dt}
}

func (l *lab) put(values []float64, shape ...int) *device.Buffer {
	b := l.d.Malloc(l.dt, shape...)
	l.d.MemcpyHtoDAsync(l.s, b, device.Host{Floats: values})
	return b
}

func (l *lab) ints(values ...int64) *device.Buffer {
	b := l.d.Malloc(device.I64, len(values))
	l.d.MemcpyHtoDAsync(l.s, b, device.Host{Ints: values})
	return b
}

func (l *lab) random(shape ...int) *device.Buffer {
	values := make([]float64, device.Elements(shape))
	for i := range values {
		values[i] = l.rng.NormFloat64()
	}
	return l.put(values, shape...)
}

func (l *lab) empty(shape ...int) *device.Buffer { return l.d.Malloc(l.dt, shape...) }

func (l *lab) read(b *device.Buffer) []float64 {
	l.t.Helper()
	values := make([]float64, b.N)
	l.d.MemcpyDtoHAsync(l.s, device.Host{Floats: values}, b)
	l.d.StreamSynchronize(l.s)
	if err := l.d.Err(); err != nil {
		l.t.Fatal(err)
	}
	return values
}

func (l *lab) run(list ...device.Kernel) {
	for _, k := range list {
		l.d.Launch(l.s, k)
	}
}

// gradients checks what backward writes against central differences: the gradient of
// sum(up * y) by x, for each pair of an input x and its gradient.
func (l *lab) gradients(forward device.Kernel, y, up *device.Buffer, backward device.Kernel, pairs ...*device.Buffer) {
	l.t.Helper()
	l.run(forward, backward)
	value := func() float64 {
		l.run(forward)
		sum := 0.0
		for i, v := range l.read(y) {
			sum += v * l.read(up)[i]
		}
		return sum
	}
	const h = 1e-5
	for i := 0; i < len(pairs); i += 2 {
		x, got := l.read(pairs[i]), l.read(pairs[i+1])
		for j := range x {
			moved := slices.Clone(x)
			difference := func(by float64) float64 {
				moved[j] = x[j] + by
				l.d.MemcpyHtoDAsync(l.s, pairs[i], device.Host{Floats: slices.Clone(moved)})
				return value()
			}
			want := (difference(h) - difference(-h)) / (2 * h)
			if math.Abs(got[j]-want) > 1e-7*(1+math.Abs(want)) {
				l.t.Errorf("input %d element %d: gradient %v, difference %v", i/2, j, got[j], want)
			}
		}
		l.d.MemcpyHtoDAsync(l.s, pairs[i], device.Host{Floats: x})
	}
}

func TestGradients(t *testing.T) {
	for name, check := range map[string]func(l *lab){
		"linear": func(l *lab) {
			const m, n, k = 3, 4, 5
			x, w, b, y, up := l.random(m, k), l.random(n, k), l.random(n), l.empty(m, n), l.random(m, n)
			forward := ops.Linear{Y: y, X: x, W: w, B: b, M: m, N: n, K: k}
			dx, dw, db := l.empty(m, k), l.empty(n, k), l.empty(n)
			l.gradients(forward, y, up, ops.LinearInput{DX: dx, DY: up, W: w, M: m, N: n, K: k}, x, dx)
			l.gradients(forward, y, up, ops.LinearWeight{DW: dw, DY: up, X: x, M: m, N: n, K: k}, w, dw)
			l.gradients(forward, y, up, ops.LinearBias{DB: db, DY: up, M: m, N: n}, b, db)
		},
		"gelu": func(l *lab) {
			x, y, up, dx := l.put([]float64{-30, -3, -1, 0, 0.5, 2, 30}, 7), l.empty(7), l.random(7), l.empty(7)
			l.gradients(ops.Gelu{Y: y, X: x}, y, up, ops.GeluBackward{DX: dx, DY: up, X: x}, x, dx)
		},
		"layer norm": func(l *lab) {
			const rows, d = 3, 5
			x, w, b, y, up := l.random(rows, d), l.random(d), l.random(d), l.empty(rows, d), l.random(rows, d)
			mean, rstd, dx, dw, db := l.empty(rows), l.empty(rows), l.empty(rows, d), l.empty(d), l.empty(d)
			l.gradients(ops.LayerNorm{Y: y, X: x, W: w, B: b, Mean: mean, Rstd: rstd, D: d, Eps: 1e-5}, y, up,
				ops.LayerNormBackward{DX: dx, DW: dw, DB: db, DY: up, X: x, W: w, Mean: mean, Rstd: rstd,
					D: d}, x, dx, w, dw, b, db)
		},
		"attention": func(l *lab) {
			const b, n, d, heads = 2, 3, 4, 2
			q, k, v, o, up := l.random(b*n, d), l.random(b*n, d), l.random(b*n, d), l.empty(b*n, d), l.random(b*n, d)
			p, dq, dk, dv := l.empty(b, heads, n, n), l.empty(b*n, d), l.empty(b*n, d), l.empty(b*n, d)
			l.gradients(ops.Attention{O: o, P: p, Q: q, K: k, V: v, B: b, T: n, D: d, Heads: heads}, o, up,
				ops.AttentionBackward{DQ: dq, DK: dk, DV: dv, DO: up, P: p, Q: q, K: k, V: v, Work: l.empty(n, n),
					B: b, T: n, D: d, Heads: heads},
				q, dq, k, dk, v, dv)
		},
		"embedding": func(l *lab) { // a row that is used twice and one that is not used
			w, y, up, dw, index := l.random(4, 3), l.empty(3, 3), l.random(3, 3), l.empty(4, 3), l.ints(2, 0, 2)
			l.gradients(ops.Embedding{Y: y, W: w, Index: index, D: 3}, y, up,
				ops.EmbeddingBackward{DW: dw, DY: up, Index: index, D: 3}, w, dw)
		},
		"positions": func(l *lab) {
			x, w, y, up, dw := l.random(6, 2), l.random(3, 2), l.empty(6, 2), l.random(6, 2), l.empty(3, 2)
			l.gradients(ops.AddPositions{Y: y, X: x, W: w}, y, up, ops.PositionsBackward{DW: dw, DY: up}, w, dw)
		},
		"add": func(l *lab) {
			a, b, y, up, da := l.random(4), l.random(4), l.empty(4), l.random(4), l.put(make([]float64, 4), 4)
			l.gradients(ops.Add{Y: y, A: a, B: b}, y, up, ops.Accumulate{Y: da, X: up}, a, da)
		},
		"cross entropy sum":  func(l *lab) { crossEntropyGradient(l, false, 1, ops.IgnoreIndex, 0) },
		"cross entropy mean": func(l *lab) { crossEntropyGradient(l, true, 1, ops.IgnoreIndex, 0) },
	} {
		t.Run(name, func(t *testing.T) { check(newLab(t, device.F64)) })
	}
}

func crossEntropyGradient(l *lab, mean bool, targets ...int64) {
	rows := len(targets)
	logits, loss, lse, count, up := l.random(rows, 4), l.empty(), l.empty(rows), l.d.Malloc(device.I64), l.random()
	index, d := l.ints(targets...), l.empty(rows, 4)
	l.gradients(ops.CrossEntropy{Loss: loss, Logits: logits, Targets: index, LSE: lse, Count: count, V: 4,
		Mean: mean}, loss, up,
		ops.CrossEntropyBackward{DLogits: d, Logits: logits, Targets: index, LSE: lse, Count: count, Up: up, V: 4,
			Mean: mean}, logits, d)
}

// Without a single target the loss and its gradient are zero, not NaN.
func TestNoTargets(t *testing.T) {
	for _, mean := range []bool{false, true} {
		l := newLab(t, device.F32)
		logits, loss, lse, count, d := l.random(2, 3), l.empty(), l.empty(2), l.d.Malloc(device.I64), l.empty(2, 3)
		index := l.ints(ops.IgnoreIndex, ops.IgnoreIndex)
		l.run(ops.CrossEntropy{Loss: loss, Logits: logits, Targets: index, LSE: lse, Count: count, V: 3, Mean: mean},
			ops.CrossEntropyBackward{DLogits: d, Logits: logits, Targets: index, LSE: lse, Count: count,
				Up: l.put([]float64{1}), V: 3, Mean: mean})
		if got := l.read(loss)[0]; got != 0 {
			t.Errorf("mean %v: loss %v", mean, got)
		}
		if got := l.read(d); !slices.Equal(got, make([]float64, 6)) {
			t.Errorf("mean %v: gradient %v", mean, got)
		}
	}
}

// Logits that are far apart neither overflow nor lose the small ones.
func TestLargeLogits(t *testing.T) {
	l := newLab(t, device.F32)
	logits, loss, lse := l.put([]float64{1e4, 0, -1e4}, 1, 3), l.empty(), l.empty(1)
	l.run(ops.CrossEntropy{Loss: loss, Logits: logits, Targets: l.ints(1), LSE: lse, Count: l.d.Malloc(device.I64),
		V: 3})
	if got := l.read(loss)[0]; got != 1e4 {
		t.Errorf("loss %v", got)
	}
}

// Every scalar operation and every pass, in both precisions.
func TestSmallOps(t *testing.T) {
	for _, dt := range []device.DType{device.F32, device.F64} {
		l := newLab(t, dt)
		scalar := func(v float64) *device.Buffer { return l.put([]float64{v}) }
		y := l.empty()
		for _, c := range []struct {
			k    device.Kernel
			want float64
		}{
			{ops.Reciprocal{Y: y, X: scalar(4)}, 0.25},
			{ops.Reciprocal{Y: y, X: scalar(0)}, 0},
			{ops.Reciprocal{Y: y, X: l.ints(8)}, 0.125},
			{ops.MulScalar{Y: y, X: scalar(3), Value: 0.5}, 1.5},
			{ops.Mul{Y: y, A: scalar(3), B: l.ints(7)}, 21},
			{ops.AddScalar{Y: y, X: scalar(3), Value: 1}, 4},
			{ops.Clamp{Y: y, X: scalar(3), Max: 1}, 1},
			{ops.Clamp{Y: y, X: scalar(0.5), Max: 1}, 0.5},
			{ops.Sqrt{Y: y, X: scalar(9)}, 3},
			{ops.VectorNorm{Norm: y, X: l.put([]float64{3, 4}, 2)}, 5},
			{ops.VectorNorm{Norm: y, X: l.put([]float64{3, 4}, 2), Squared: true}, 25},
			{ops.OnesLike{Y: y}, 1},
		} {
			l.run(c.k)
			if got := l.read(y)[0]; got != c.want {
				t.Errorf("%s %T: %v, want %v", dt, c.k, got, c.want)
			}
		}
		a, b, norms := l.put([]float64{3, 4}, 2), l.put([]float64{12}, 1), l.empty(2)
		l.run(ops.ForeachScale{X: []*device.Buffer{a, b}, Factor: scalar(2)}, ops.Scale{X: b, Factor: scalar(0.5)},
			ops.ForeachScaleBy{X: []*device.Buffer{a, b}, Value: 0.5},
			ops.ForeachNorm{Norms: norms, X: []*device.Buffer{a, b}})
		if got := fmt.Sprint(l.read(a), l.read(b), l.read(norms)); got != "[3 4] [6] [5 6]" {
			t.Error(dt, got)
		}
	}
}

// What ranks put together for collectives, and take apart after them: three rows are two of one
// rank, one and padding of the other.
func TestShards(t *testing.T) {
	for _, dt := range []device.DType{device.F32, device.F64} {
		l := newLab(t, dt)
		a, b := l.put([]float64{1, 2, 3, 4, 5, 6}, 3, 2), l.put([]float64{7}, 1)
		flat := l.empty(10)
		whole := []*device.Buffer{l.empty(4, 2), l.empty(2)}
		l.run(ops.ChunkCat{Y: flat, X: []*device.Buffer{a, b}, Ranks: 2},
			ops.SplitWithSizesCopy{Y: whole, X: flat, Ranks: 2})
		again := []*device.Buffer{l.empty(4, 2), l.empty(2)}
		l.run(ops.ForeachCopy{Y: again, X: whole})
		const want = "[1 2 3 4 7 5 6 0 0 0] [1 2 3 4 5 6 0 0] [7 0]"
		if got := fmt.Sprint(l.read(flat), l.read(again[0]), l.read(again[1])); got != want {
			t.Errorf("%s: %s, want %s", dt, got, want)
		}
	}
}

// An operation that is not in the table, or fails, is an error of the device.
func TestFailures(t *testing.T) {
	for name, fail := range map[string]func(l *lab){
		"unknown precision": func(l *lab) { l.run(ops.Scale{X: l.ints(1), Factor: l.ints(1)}) },
		"outside the table": func(l *lab) {
			l.run(ops.Embedding{Y: l.empty(1, 2), W: l.random(2, 2), Index: l.ints(5),
				D: 2})
		},
		"unlike lengths": func(l *lab) { l.d.MemcpyHtoDAsync(l.s, l.empty(3), device.Host{Floats: []float64{1}}) },
	} {
		l := newLab(t, device.F32)
		fail(l)
		l.d.DeviceSynchronize()
		if l.d.Err() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Each operation of the table says its name, cost and operands without a panic, and
// has a name of its own.
func TestEveryOpDescribesItself(t *testing.T) {
	l := newLab(t, device.F32)
	x := l.random(2, 2)
	names := make(map[string]string)
	for _, k := range []device.Kernel{ops.Gelu{Y: x, X: x}, ops.Linear{Y: x, X: x, W: x, M: 2, N: 2, K: 2},
		ops.Add{Y: x, A: x, B: x},
		ops.LinearInput{DX: x, DY: x, W: x, M: 2, N: 2, K: 2}, ops.LinearWeight{DW: x, DY: x, X: x, M: 2, N: 2, K: 2}} {
		flops, bytes := k.Cost()
		if flops <= 0 || bytes <= 0 || len(k.Operands()) == 0 || k.Op() == "" || names[k.Name()] != "" {
			t.Errorf("%T: %d operations, %d bytes, %v", k, flops, bytes, k.Operands())
		}
		names[k.Name()] = k.Op()
	}
	if flops, bytes := (ops.Linear{Y: x, X: x, W: x, M: 2, N: 2, K: 2}).Cost(); flops != 16 || bytes != 48 {
		t.Errorf("2x2x2 product: %d operations, %d bytes", flops, bytes)
	}
}
