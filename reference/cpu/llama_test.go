package cpu

import (
	"math"
	"slices"
	"testing"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// table is a table of RoPE with angles of all quadrants.
func (l *lab) table(length, size int) *device.Buffer {
	var values []float64
	for i := range length * size / 2 {
		sin, cos := math.Sincos(0.7 * float64(i))
		values = append(values, cos, sin)
	}
	return l.put(values, length, size)
}

// flashLab is attention over random inputs: queries of more heads than keys, with every
// buffer that it writes.
type flashLab struct {
	forward  ops.FlashAttention
	backward ops.FlashAttentionBackward
}

func newFlashLab(l *lab, h ops.Heads) flashLab {
	wide := func() *device.Buffer { return l.random(h.B*h.T, h.Q*h.Size) }
	slim := func() *device.Buffer { return l.random(h.B*h.T, h.KV*h.Size) }
	f := ops.FlashAttention{O: wide(), LSE: l.empty(h.B, h.Q, h.T), Q: wide(), K: slim(), V: slim(), Heads: h}
	return flashLab{f, ops.FlashAttentionBackward{DQ: wide(), DK: slim(), DV: slim(), DO: wide(), O: f.O, LSE: f.LSE,
		Q: f.Q, K: f.K, V: f.V, Heads: h}}
}

func TestLlamaGradients(t *testing.T) {
	for name, check := range map[string]func(l *lab){
		"rms norm": func(l *lab) {
			const rows, d = 3, 5
			x, w, y, up := l.random(rows, d), l.random(d), l.empty(rows, d), l.random(rows, d)
			rstd, dx, dw := l.empty(rows), l.empty(rows, d), l.empty(d)
			l.gradients(ops.RMSNorm{Y: y, X: x, W: w, Rstd: rstd, D: d, Eps: 1e-3}, y, up,
				ops.RMSNormBackward{DX: dx, DW: dw, DY: up, X: x, W: w, Rstd: rstd, D: d}, x, dx, w, dw)
		},
		"rope": func(l *lab) {
			x, y, up, dx := l.random(6, 8), l.empty(6, 8), l.random(6, 8), l.empty(6, 8)
			turn := ops.RoPE{Y: y, X: x, Table: l.table(5, 4), T: 3, Heads: 2, Size: 4}
			back := turn
			back.Y, back.X, back.Conjugate = dx, up, true
			l.gradients(turn, y, up, back, x, dx)
		},
		"silu": func(l *lab) {
			x, y, up, dx := l.put([]float64{-30, -3, -1, 0, 0.5, 2, 30}, 7), l.empty(7), l.random(7), l.empty(7)
			l.gradients(ops.Silu{Y: y, X: x}, y, up, ops.SiluBackward{DX: dx, DY: up, X: x}, x, dx)
		},
		"product": func(l *lab) {
			a, b, y, up, da := l.random(5), l.random(5), l.empty(5), l.random(5), l.empty(5)
			l.gradients(ops.Product{Y: y, A: a, B: b}, y, up, ops.Product{Y: da, A: up, B: b}, a, da)
		},
		"swiglu": func(l *lab) {
			gate, up, y, dy, dGate, dUp := l.random(9), l.random(9), l.empty(9), l.random(9), l.empty(9), l.empty(9)
			l.gradients(ops.SwiGLU{Y: y, Gate: gate, Up: up}, y, dy,
				ops.SwiGLUBackward{DGate: dGate, DUp: dUp, DY: dy, Gate: gate, Up: up}, gate, dGate, up, dUp)
		},
		"flash attention": func(l *lab) {
			f := newFlashLab(l, ops.Heads{B: 2, T: 3, Q: 4, KV: 2, Size: 2})
			l.gradients(f.forward, f.forward.O, f.backward.DO, f.backward,
				f.forward.Q, f.backward.DQ, f.forward.K, f.backward.DK, f.forward.V, f.backward.DV)
		},
		"flash attention over blocks": func(l *lab) {
			f := newFlashLab(l, ops.Heads{B: 1, T: flashRows + 2, Q: 1, KV: 1, Size: 1})
			l.gradients(f.forward, f.forward.O, f.backward.DO, f.backward, f.forward.K, f.backward.DK)
		},
	} {
		t.Run(name, func(t *testing.T) { check(newLab(t, device.F64)) })
	}
}

// The operations in float32 give what they give in float64.
func TestLlamaSingles(t *testing.T) {
	for name, run := range map[string]func(l *lab) []*device.Buffer{
		"rms norm": func(l *lab) []*device.Buffer {
			const rows, d = 5, 37
			x, w, y, up := l.random(rows, d), l.random(d), l.empty(rows, d), l.random(rows, d)
			rstd, dx, dw := l.empty(rows), l.empty(rows, d), l.empty(d)
			l.run(ops.RMSNorm{Y: y, X: x, W: w, Rstd: rstd, D: d, Eps: 1e-5},
				ops.RMSNormBackward{DX: dx, DW: dw, DY: up, X: x, W: w, Rstd: rstd, D: d})
			return []*device.Buffer{y, rstd, dx, dw}
		},
		"swiglu": func(l *lab) []*device.Buffer { // more than is done at a time, and far out
			const n = 700
			gate, up, dy := l.random(n), l.random(n), l.random(n)
			l.run(ops.Scale{X: gate, Factor: l.put([]float64{40})})
			y, dGate, dUp, s, ds := l.empty(n), l.empty(n), l.empty(n), l.empty(n), l.empty(n)
			l.run(ops.SwiGLU{Y: y, Gate: gate, Up: up}, ops.Silu{Y: s, X: gate},
				ops.SiluBackward{DX: ds, DY: dy, X: gate},
				ops.SwiGLUBackward{DGate: dGate, DUp: dUp, DY: dy, Gate: gate, Up: up})
			return []*device.Buffer{y, dGate, dUp, s, ds}
		},
		"flash attention": func(l *lab) []*device.Buffer {
			f := newFlashLab(l, ops.Heads{B: 2, T: 2*flashRows + 6, Q: 4, KV: 2, Size: 18})
			l.run(f.forward, f.backward)
			return []*device.Buffer{f.forward.O, f.forward.LSE, f.backward.DQ, f.backward.DK, f.backward.DV}
		},
	} {
		t.Run(name, func(t *testing.T) {
			single, double := newLab(t, device.F32), newLab(t, device.F64)
			got, want := run(single), run(double)
			for i := range want {
				agree(t, i, single.read(got[i]), double.read(want[i]))
			}
		})
	}
}

// Flash attention is attention: with as many heads of keys, with its parts in one buffer, and
// with keys repeated for the queries that share them.
func TestFlashIsAttention(t *testing.T) {
	const b, n, size, q = 2, flashRows + 5, 3, 4
	for _, kv := range []int{4, 2, 1} {
		l := newLab(t, device.F64)
		f := newFlashLab(l, ops.Heads{B: b, T: n, Q: q, KV: kv, Size: size})
		l.run(f.forward, f.backward)
		d := q * size
		repeat := func(x *device.Buffer) *device.Buffer {
			var out []float64
			values := l.read(x)
			for from := 0; from < len(values); from += size {
				for range q / kv {
					out = append(out, values[from:from+size]...)
				}
			}
			return l.put(out, b*n, d)
		}
		o, p, dq, dk, dv := l.empty(b*n, d), l.empty(b, q, n, n), l.empty(b*n, d), l.empty(b*n, d), l.empty(b*n, d)
		k, v := repeat(f.forward.K), repeat(f.forward.V)
		l.run(ops.Attention{O: o, P: p, Q: f.forward.Q, K: k, V: v, B: b, T: n, D: d, Heads: q},
			ops.AttentionBackward{DQ: dq, DK: dk, DV: dv, DO: f.backward.DO, P: p, Q: f.forward.Q, K: k, V: v,
				Work: l.empty(n, n), B: b, T: n, D: d, Heads: q})
		agree(t, 0, l.read(f.forward.O), l.read(o))
		agree(t, 1, l.read(f.backward.DQ), l.read(dq))
		agree(t, 2, l.read(f.backward.DK), shared(l.read(dk), q/kv, size))
		agree(t, 3, l.read(f.backward.DV), shared(l.read(dv), q/kv, size))
	}
}

// shared adds up what the heads that share keys have.
func shared(values []float64, times, size int) []float64 {
	out := make([]float64, len(values)/times)
	for i, v := range values {
		out[i/size/times*size+i%size] += v
	}
	return out
}

// Queries, keys and values that are columns of one buffer give the same bits.
func TestFlashOfParts(t *testing.T) {
	l := newLab(t, device.F32)
	h := ops.Heads{B: 2, T: 70, Q: 3, KV: 3, Size: 4}
	f := newFlashLab(l, h)
	d := h.Q * h.Size
	packed := l.empty(h.B*h.T, 3*d)
	l.run(f.forward, f.backward,
		ops.Concat{Y: packed, X: []*device.Buffer{f.forward.Q, f.forward.K, f.forward.V}, D: d})
	want := [][]float64{l.read(f.forward.O), l.read(f.backward.DQ), l.read(f.backward.DK), l.read(f.backward.DV)}
	part := func(i int) *device.Buffer {
		b := *packed
		b.Off, b.N = i*d, h.B*h.T*d
		return &b
	}
	f.forward.Q, f.forward.K, f.forward.V, f.forward.Stride = part(0), part(1), part(2), 3*d
	f.backward.Q, f.backward.K, f.backward.V, f.backward.Stride = part(0), part(1), part(2), 3*d
	l.run(ops.OnesLike{Y: f.forward.O}, ops.OnesLike{Y: f.backward.DQ}, f.forward, f.backward)
	for i, b := range []*device.Buffer{f.forward.O, f.backward.DQ, f.backward.DK, f.backward.DV} {
		if !slices.Equal(l.read(b), want[i]) {
			t.Errorf("output %d differs", i)
		}
	}
}
