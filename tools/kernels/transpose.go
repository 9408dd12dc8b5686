package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// transpose writes transposing by squares of 8 x 8, for both instruction sets.
func transpose() {
	TEXT("transposeAVX", NOSPLIT, "func(dst *float32, ds int, src *float32, ss int, n int)")
	Pragma("noescape")
	Doc("transposeAVX makes columns of 8 rows of 8 n elements, rows of dst. Distances between rows are in bytes.")
	dst, src := newRows("dst", "ds"), newRows("src", "ss")
	n := Load(Param("n"), GP64())
	step := GP64()
	MOVQ(dst.stride, step)
	SHLQ(Imm(3), step)
	Label("square")
	SUBQ(Imm(1), n)
	JLT(LabelRef("end"))
	for i, r := range turned(src.load()) {
		VMOVUPS(r, dst.row(i))
	}
	src.move(Imm(32))
	dst.move(step)
	JMP(LabelRef("square"))
	Label("end")
	VZEROUPPER()
	RET()
}

// rows are eight rows of memory at equal distances.
type rows struct{ base, base4, stride, stride3 reg.Register }

func newRows(base, stride string) rows {
	r := rows{Load(Param(base), GP64()), GP64(), Load(Param(stride), GP64()), GP64()}
	LEAQ(Mem{Base: r.base, Index: r.stride, Scale: 4}, r.base4)
	LEAQ(Mem{Base: r.stride, Index: r.stride, Scale: 2}, r.stride3)
	return r
}

func (r rows) row(i int) Mem {
	base := r.base
	if i >= 4 {
		base = r.base4
	}
	return strided(base, r.stride, r.stride3, i%4)
}

func (r rows) move(by Op) {
	ADDQ(by, r.base)
	ADDQ(by, r.base4)
}

func (r rows) load() []reg.VecVirtual {
	list := make([]reg.VecVirtual, 8)
	for i := range list {
		list[i] = YMM()
		VMOVUPS(r.row(i), list[i])
	}
	return list
}

// turned transposes eight registers of eight elements: pairs, fours, halves.
func turned(in []reg.VecVirtual) []reg.VecVirtual {
	pairs := make([]reg.VecVirtual, 8)
	for i := 0; i < 8; i += 2 {
		pairs[i], pairs[i+1] = YMM(), YMM()
		VUNPCKLPS(in[i+1], in[i], pairs[i])
		VUNPCKHPS(in[i+1], in[i], pairs[i+1])
	}
	fours := make([]reg.VecVirtual, 8) // columns 0 to 3, and 4 to 7, of rows 0 to 3; of rows 4 to 7
	for i := range fours {
		from := i/4*4 + i%4/2
		fours[i] = YMM()
		VSHUFPS(Imm(uint64(0x44+i%2*0xaa)), pairs[from+2], pairs[from], fours[i])
	}
	out := make([]reg.VecVirtual, 8)
	for i := range out {
		out[i] = YMM()
		VPERM2F128(Imm(uint64(0x20+i/4*0x11)), fours[i%4+4], fours[i%4], out[i])
	}
	return out
}

// strided is row i, below 4, from base on.
func strided(base, stride, stride3 reg.Register, i int) Mem {
	switch i {
	case 0:
		return Mem{Base: base}
	case 3:
		return Mem{Base: base, Index: stride3, Scale: 1}
	}
	return Mem{Base: base, Index: stride, Scale: uint8(i)}
}
