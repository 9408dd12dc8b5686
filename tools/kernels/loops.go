package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/reg"
)

func loops() {
	for _, list := range [][]kernel{network, norms, updates} {
		for _, k := range list {
			k.write()
		}
	}
}

var network = []kernel{
	{name: "addLoop", doc: "is y = a + b.", vectors: []string{"y", "a", "b"}, body: func(l *loop) {
		l.store(l.get(VADDPS, l.load("a"), l.mem("b")), "y")
	}},
	{name: "scaleLoop", doc: "is y = x * f.", vectors: []string{"y", "x"}, scalars: []string{"f"}, body: func(l *loop) {
		l.store(l.get(VMULPS, l.scalar["f"], l.mem("x")), "y")
	}},
	{name: "expLoop", doc: "is e = exp(x - shift), y = e * f; the sums of e.", vectors: []string{"y", "x"},
		scalars: []string{"shift", "f"}, sums: []string{"s"}, body: func(l *loop) {
			e := l.exp(l.get(VSUBPS, l.load("x"), l.scalar["shift"]))
			l.add("s", e)
			VMULPS(l.scalar["f"], e, e)
			l.store(e, "y")
		}},
	{name: "maxLoop", doc: "is the largest of x.", vectors: []string{"x"}, most: true, body: func(l *loop) {
		VMAXPS(l.mem("x"), l.largest[l.at], l.largest[l.at])
	}},
	{name: "geluLoop", doc: "is y = gelu(x).", vectors: []string{"y", "x"}, body: func(l *loop) {
		x := l.load("x")
		_, s, _, _ := l.sigmoid(x)
		VMULPS(x, s, s)
		l.store(s, "y")
	}},
	{name: "geluBackwardLoop", doc: "is dx = dy * gelu'(x).", vectors: []string{"dx", "dy", "x"}, body: geluBackward},
}

// The constants of gelu(x) = x * sigmoid(z), z = linear*x + cubic*x^3: 2 sqrt(2/pi), and
// that times 0.044715. Beyond the limit the sigmoid is 0 or 1.
const linear, cubic, limit = 1.5957691216, 0.0713548162726, 9.9

// sigmoid returns for x, within limits, the sigmoid s of gelu, e with s = 1/(1+e), and
// x^2.
func (l *loop) sigmoid(x reg.VecVirtual) (within, s, e, square reg.VecVirtual) {
	within = l.clamp(x, -limit, limit)
	square = l.get(VMULPS, within, within)
	z := l.reg()
	VMOVUPS(single(cubic), z)
	VFMADD213PS(single(linear), square, z)
	VMULPS(within, z, z)
	zero := l.reg()
	l.zero(zero)
	e = l.exp(l.get(VSUBPS, zero, z))
	one := l.reg()
	VMOVUPS(single(1), one)
	s = l.get(VDIVPS, one, l.get(VADDPS, e, one))
	return within, s, e, square
}

// geluBackward: gelu' = s + x s (1-s) z', and 1-s = e s.
func geluBackward(l *loop) {
	x, s, e, square := l.sigmoid(l.load("x"))
	slope := l.reg()
	VMOVUPS(single(3*cubic), slope)
	VFMADD213PS(single(linear), square, slope)
	VMULPS(s, e, e)
	VMULPS(s, x, x)
	VMULPS(e, x, x)
	VFMADD213PS(s, x, slope)
	VMULPS(l.mem("dy"), slope, slope)
	l.store(slope, "dx")
}
