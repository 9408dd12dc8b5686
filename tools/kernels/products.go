package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// wide is the width of a tile, in registers; unroll is how many steps of the sum are
// written one after the other.
const wide, unroll = 2, 4

func products() {
	for _, i := range isas {
		for _, n := range numbers {
			(&tile{isa: i, number: n}).write()
		}
	}
	transpose()
	interleave()
}

// tile is the innermost loop: rows x wide registers of C stay in registers while k
// runs.
type tile struct {
	isa
	number
	acc        [][]reg.VecVirtual
	a, a4      reg.Register // rows 0 to 3 of A, and 4 to 7
	rs, rs3, k reg.Register // distance between rows of A; three times that; between columns
	b          reg.Register
}

func (t *tile) write() {
	name := fmt.Sprintf("tile%s%s", t.isa.name, t.number.name)
	const signature = "func(c *%[1]s, cs int, z *%[1]s, zs int, a *%[1]s, rs, ks int, b *%[1]s, k int, alpha %[1]s)"
	TEXT(name, NOSPLIT, fmt.Sprintf(signature, t.goName))
	Pragma("noescape")
	Doc(fmt.Sprintf("%s sets %d rows of %d elements of c to alpha * (the product of a and b),",
		name, t.rows, wide*t.isa.bytes/t.number.bytes),
		"plus z unless that is nil. Distances between rows (cs, zs, rs) and columns (ks) are in",
		"bytes; the rows of b, as many as k, stand one after the other.")
	t.start()
	t.sum()
	t.scale()
	t.store()
}

// start loads what the loop needs.
func (t *tile) start() {
	t.a, t.b = Load(Param("a"), GP64()), Load(Param("b"), GP64())
	t.rs, t.k = Load(Param("rs"), GP64()), Load(Param("ks"), GP64())
	t.a4, t.rs3 = GP64(), GP64()
	LEAQ(Mem{Base: t.a, Index: t.rs, Scale: 4}, t.a4)
	LEAQ(Mem{Base: t.rs, Index: t.rs, Scale: 2}, t.rs3)
	t.acc = make([][]reg.VecVirtual, t.rows)
	for i := range t.acc {
		for range wide {
			r := t.reg()
			t.zero(r)
			t.acc[i] = append(t.acc[i], r)
		}
	}
}

// sum runs over k, several steps at a time and then one by one.
func (t *tile) sum() {
	n := Load(Param("k"), GP64())
	row := wide * t.isa.bytes
	Label("many")
	SUBQ(Imm(unroll), n)
	JLT(LabelRef("few"))
	for u := range unroll {
		t.step(u * row)
	}
	ADDQ(U32(uint32(unroll*row)), t.b)
	JMP(LabelRef("many"))
	Label("few")
	ADDQ(Imm(unroll), n)
	Label("one")
	SUBQ(Imm(1), n)
	JLT(LabelRef("end"))
	t.step(0)
	ADDQ(U32(uint32(row)), t.b)
	JMP(LabelRef("one"))
	Label("end")
}

// step adds a column of A times a row of B.
func (t *tile) step(at int) {
	b := make([]reg.VecVirtual, wide)
	for j := range b {
		b[j] = t.reg()
		t.load(Mem{Base: t.b, Disp: at + j*t.isa.bytes}, b[j])
	}
	for i := range t.acc {
		a := t.reg()
		t.broadcast(t.element(i), a)
		for j := range b {
			t.fma(a, b[j], t.acc[i][j])
		}
	}
	ADDQ(t.k, t.a)
	ADDQ(t.k, t.a4)
}

// element is the one of A in row i of the current column.
func (t *tile) element(i int) Mem {
	base := t.a
	if i >= 4 {
		base = t.a4
	}
	return strided(base, t.rs, t.rs3, i%4)
}

func (t *tile) scale() {
	alpha := t.reg()
	t.broadcast(address("alpha"), alpha)
	z := Load(Param("z"), GP64())
	TESTQ(z, z)
	JZ(LabelRef("alone"))
	zs := Load(Param("zs"), GP64())
	for _, row := range t.acc {
		for j, r := range row {
			before := t.reg()
			t.load(Mem{Base: z, Disp: j * t.isa.bytes}, before)
			t.fma(alpha, r, before)
			t.load(before, r)
		}
		ADDQ(zs, z)
	}
	JMP(LabelRef("store"))
	Label("alone")
	for _, row := range t.acc {
		for _, r := range row {
			t.mul(alpha, r, r)
		}
	}
}

func (t *tile) store() {
	Label("store")
	c, cs := Load(Param("c"), GP64()), Load(Param("cs"), GP64())
	for _, row := range t.acc {
		for j, r := range row {
			t.load(r, Mem{Base: c, Disp: j * t.isa.bytes})
		}
		ADDQ(cs, c)
	}
	VZEROUPPER()
	RET()
}
