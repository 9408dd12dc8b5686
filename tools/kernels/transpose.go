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

// interleave writes packing by panels of 8 columns: of two rows of a panel at a time, which
// fill a line of the cache.
func interleave() {
	TEXT("interleaveAVX", NOSPLIT, "func(dst *float32, ds int, src *float32, ss int, panels, pairs int)")
	Pragma("noescape")
	Doc("interleaveAVX copies 2 pairs rows of 8 panels elements to panels of 8 columns each, whose rows stand one",
		"after the other. Distances between panels (ds) and rows (ss) are in bytes.")
	dst, src, pairs := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("pairs"), GP64())
	ds, ss, panels := Load(Param("ds"), GP64()), Load(Param("ss"), GP64()), Load(Param("panels"), GP64())
	from, to, n := GP64(), GP64(), GP64()
	Label("pair")
	SUBQ(Imm(1), pairs)
	JLT(LabelRef("end"))
	MOVQ(src, from)
	MOVQ(dst, to)
	MOVQ(panels, n)
	Label("panel")
	first, second := YMM(), YMM()
	VMOVUPS(Mem{Base: from}, first)
	VMOVUPS(Mem{Base: from, Index: ss, Scale: 1}, second)
	VMOVUPS(first, Mem{Base: to})
	VMOVUPS(second, Mem{Base: to, Disp: 32})
	ADDQ(Imm(32), from)
	ADDQ(ds, to)
	SUBQ(Imm(1), n)
	JNZ(LabelRef("panel"))
	LEAQ(Mem{Base: src, Index: ss, Scale: 2}, src)
	ADDQ(Imm(64), dst)
	JMP(LabelRef("pair"))
	Label("end")
	VZEROUPPER()
	RET()
}
