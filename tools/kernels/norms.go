package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/reg"
)

var norms = []kernel{
	{name: "sumLoop", doc: "sums x.", vectors: []string{"x"}, sums: []string{"s"},
		body: func(l *loop) { l.add("s", l.load("x")) }},
	{name: "squaresLoop", doc: "sums (x - mean)^2.", vectors: []string{"x"}, doubles: []string{"mean"},
		sums: []string{"s"}, body: squares},
	{name: "dotLoop", doc: "sums a * b.", vectors: []string{"a", "b"}, sums: []string{"s"},
		body: func(l *loop) { l.addProduct("s", l.load("a"), l.load("b")) }},
	{name: "softmaxBackwardLoop", doc: "is d = p * (d - dot).", vectors: []string{"d", "p"}, scalars: []string{"dot"},
		body: func(l *loop) {
			l.store(l.get(VMULPS, l.get(VSUBPS, l.load("d"), l.scalar["dot"]), l.mem("p")), "d")
		}},
	{name: "normLoop", doc: "is y = (x - mean) * rstd * w + b.", vectors: []string{"y", "x", "w", "b"},
		scalars: []string{"mean", "rstd"}, body: func(l *loop) {
			hat := l.hat()
			b := l.load("b")
			VFMADD231PS(l.mem("w"), hat, b)
			l.store(b, "y")
		}},
	{name: "normSumsLoop", doc: "with hat = (x - mean) * rstd and g = dy * w: dw += dy * hat, db += dy, the sums of g and of g * hat.",
		vectors: []string{"dw", "db", "dy", "x", "w"}, scalars: []string{"mean", "rstd"}, sums: []string{"s", "dot"},
		body: normSums},
	{name: "normBackwardLoop", doc: "is dx = rstd * (dy * w - a - hat * b).", vectors: []string{"dx", "dy", "x", "w"},
		scalars: []string{"mean", "rstd", "a", "b"}, body: func(l *loop) {
			hat := l.hat()
			g := l.get(VMULPS, l.load("dy"), l.mem("w"))
			VSUBPS(l.scalar["a"], g, g)
			VFNMADD231PS(l.scalar["b"], hat, g)
			VMULPS(l.scalar["rstd"], g, g)
			l.store(g, "dx")
		}},
}

// hat is (x - mean) * rstd.
func (l *loop) hat() reg.VecVirtual {
	hat := l.get(VSUBPS, l.load("x"), l.scalar["mean"])
	VMULPS(l.scalar["rstd"], hat, hat)
	return hat
}

func squares(l *loop) {
	x := l.load("x")
	for half := range 2 {
		d := l.widened(x, half)
		VSUBPD(l.scalar["mean"], d, d)
		VFMADD231PD(d, d, l.sum["s"][2*l.at+half])
	}
}

func normSums(l *loop) {
	hat, dy := l.hat(), l.load("dy")
	dw := l.load("dw")
	VFMADD231PS(dy, hat, dw)
	l.store(dw, "dw")
	l.store(l.get(VADDPS, dy, l.mem("db")), "db")
	VMULPS(l.mem("w"), dy, dy)
	l.add("s", dy)
	l.addProduct("dot", dy, hat)
}
