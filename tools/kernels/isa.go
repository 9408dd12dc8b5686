package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// isa is an instruction set.
type isa struct {
	name  string
	bytes int // of a register
	rows  int // of a tile of a product
	reg   func() reg.VecVirtual
}

var isas = []isa{{"AVX2", 32, 6, YMM}, {"AVX512", 64, 8, ZMM}}

// number is an element type.
type number struct {
	name, goName string
	bytes        int
	load         func(...Op) // unaligned, both ways
	broadcast    func(...Op) // an element of memory or of a register to all
	fma          func(...Op) // z += x * y, operands x, y, z
	mul, add     func(...Op)
}

var numbers = []number{
	{"F32", "float32", 4, VMOVUPS, VBROADCASTSS, VFMADD231PS, VMULPS, VADDPS},
	{"F64", "float64", 8, VMOVUPD, VBROADCASTSD, VFMADD231PD, VMULPD, VADDPD},
}

func (i isa) zero(r reg.VecVirtual) {
	if i.bytes == 64 {
		VPXORD(r, r, r)
		return
	}
	VXORPS(r, r, r)
}

// address is where a parameter lies.
func address(name string) Mem {
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}
