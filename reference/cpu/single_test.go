package cpu

import (
	"math"
	"testing"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// Operations by simd's loops in float32 give what their definitions give in float64, for
// sizes that fill turns of a loop and sizes that do not.
func TestSingles(t *testing.T) {
	for name, run := range map[string]func(l *lab) []*device.Buffer{
		"layer norm": func(l *lab) []*device.Buffer {
			const rows, d = 5, 37
			x, w, b, y, up := l.random(rows, d), l.random(d), l.random(d), l.empty(rows, d), l.random(rows, d)
			mean, rstd, dx, dw, db := l.empty(rows), l.empty(rows), l.empty(rows, d), l.empty(d), l.empty(d)
			l.run(ops.LayerNorm{Y: y, X: x, W: w, B: b, Mean: mean, Rstd: rstd, D: d, Eps: 1e-5},
				ops.LayerNormBackward{DX: dx, DW: dw, DB: db, DY: up, X: x, W: w, Mean: mean, Rstd: rstd, D: d})
			return []*device.Buffer{y, mean, rstd, dx, dw, db}
		},
		"gelu": func(l *lab) []*device.Buffer {
			x, up, y, dx := l.random(50), l.random(50), l.empty(50), l.empty(50)
			l.run(ops.Gelu{Y: y, X: x}, ops.GeluBackward{DX: dx, DY: up, X: x})
			return []*device.Buffer{y, dx}
		},
		"attention":                  func(l *lab) []*device.Buffer { return attend(l, 2, 70, 36, 3) },
		"attention over whole turns": func(l *lab) []*device.Buffer { return attend(l, 1, 64, 64, 1) },
		"cross entropy": func(l *lab) []*device.Buffer {
			const rows, v = 3, 700
			logits, loss, lse, d := l.random(rows, v), l.empty(), l.empty(rows), l.empty(rows, v)
			count := l.d.Malloc(device.I64)
			index := l.ints(699, ops.IgnoreIndex, 3)
			l.run(
				ops.CrossEntropy{Loss: loss, Logits: logits, Targets: index, LSE: lse, Count: count, V: v, Mean: true},
				ops.CrossEntropyBackward{DLogits: d, Logits: logits, Targets: index, LSE: lse, Count: count,
					Up: l.random(), V: v, Mean: true})
			return []*device.Buffer{loss, lse, d}
		},
		"optimizers": func(l *lab) []*device.Buffer {
			p, g, f, q := l.random(41), l.random(41), l.random(), l.random(41)
			m, v := l.put(make([]float64, 41), 41), l.put(make([]float64, 41), 41)
			list := func(b *device.Buffer) []*device.Buffer { return []*device.Buffer{b} }
			step := ops.AdamW{P: list(p), G: list(g), M: list(m), V: list(v), Factor: f, LR: 0.1,
				Decay: 0.2, Beta1: 0.9, Beta2: 0.95, Eps: 1e-8, Step: 1}
			l.run(step, ops.SGD{P: list(q), G: list(g), Factor: f, LR: 0.3, Decay: 0.2})
			step.Step++
			l.run(step)
			return []*device.Buffer{p, m, v, q}
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

// attend returns all that attention and its backward write.
func attend(l *lab, b, n, d, heads int) []*device.Buffer {
	q, k, v, o, up := l.random(b*n, d), l.random(b*n, d), l.random(b*n, d), l.empty(b*n, d), l.random(b*n, d)
	p, dq, dk, dv := l.empty(b, heads, n, n), l.empty(b*n, d), l.empty(b*n, d), l.empty(b*n, d)
	l.run(ops.Attention{O: o, P: p, Q: q, K: k, V: v, B: b, T: n, D: d, Heads: heads},
		ops.AttentionBackward{DQ: dq, DK: dk, DV: dv, DO: up, P: p, Q: q, K: k, V: v, Work: l.empty(n, n),
			B: b, T: n, D: d, Heads: heads})
	return []*device.Buffer{o, p, dq, dk, dv}
}

func agree(t *testing.T, output int, got, want []float64) {
	t.Helper()
	for i, v := range got {
		if !(math.Abs(v-want[i]) <= 1e-5*max(1, math.Abs(want[i]))) {
			t.Errorf("output %d: [%d] is %v, want %v", output, i, v, want[i])
			return
		}
	}
}
