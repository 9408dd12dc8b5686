package main

import (
	. "github.com/mmcloughlin/avo/build"
)

var updates = []kernel{
	{name: "adamWLoop", doc: "with d = grad * f: m = b1 * m + c1 * d, v = b2 * v + c2 * d * d, p = p * decay - rate * m / (sqrt(v) * root + eps).",
		vectors: []string{"p", "grad", "m", "v"}, body: adamW,
		scalars: []string{"f", "b1", "c1", "b2", "c2", "decay", "rate", "root", "eps"}},
	{name: "sgdLoop", doc: "is p = p * decay - rate * (grad * f).", vectors: []string{"p", "grad"},
		scalars: []string{"f", "decay", "rate"}, body: func(l *loop) {
			d := l.get(VMULPS, l.scalar["f"], l.mem("grad"))
			VMULPS(l.scalar["rate"], d, d)
			p := l.load("p")
			VFMSUB213PS(d, l.scalar["decay"], p)
			l.store(p, "p")
		}},
}

func adamW(l *loop) {
	d := l.get(VMULPS, l.scalar["f"], l.mem("grad"))
	m := l.get(VMULPS, l.scalar["c1"], d)
	VFMADD231PS(l.mem("m"), l.scalar["b1"], m)
	l.store(m, "m")
	v := l.get(VMULPS, l.scalar["c2"], d)
	VMULPS(d, v, v)
	VFMADD231PS(l.mem("v"), l.scalar["b2"], v)
	l.store(v, "v")
	VSQRTPS(v, v)
	VFMADD213PS(l.scalar["eps"], l.scalar["root"], v)
	VMULPS(l.scalar["rate"], m, m)
	VDIVPS(v, m, m)
	p := l.load("p")
	VFMSUB213PS(m, l.scalar["decay"], p)
	l.store(p, "p")
}
