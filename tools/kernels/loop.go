package main

import (
	"fmt"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lanes is how many elements a turn of a loop takes, in both instruction sets.
const lanes = 16

// kernel is a loop over vectors of n elements, n a multiple of 16. The function that
// comes of it has the pointers, n, the scalars, the sums and whether to use AVX-512.
type kernel struct {
	name, doc string
	vectors   []string // *float32
	scalars   []string // float32
	doubles   []string // float64
	sums      []string // *[16]float64: a lane each, to which the loop adds
	most      bool     // *[16]float32 m: the largest of each lane
	body      func(l *loop)
}

// loop is a kernel in one instruction set, at one of the registers of a turn.
type loop struct {
	isa
	kernel
	at      int
	vector  map[string]reg.Register
	scalar  map[string]reg.VecVirtual
	sum     map[string][]reg.VecVirtual
	largest []reg.VecVirtual
}

func (k kernel) write() {
	signature := ""
	add := func(names []string, kind string) {
		for _, name := range names {
			signature += name + " " + kind + ", "
		}
	}
	add(k.vectors, "*float32")
	add([]string{"n"}, "int")
	add(k.scalars, "float32")
	add(k.doubles, "float64")
	add(k.sums, "*[16]float64")
	if k.most {
		add([]string{"m"}, "*[16]float32")
	}
	TEXT(k.name, NOSPLIT, "func("+signature+"wide bool)")
	Pragma("noescape")
	Doc(wrapped(k.name + " " + k.doc)...)
	wide := Load(Param("wide"), GP8())
	TESTB(wide, wide)
	JNZ(LabelRef("AVX512"))
	for _, i := range isas {
		k.in(i)
	}
}

// wrapped breaks a comment into lines.
func wrapped(text string) (list []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if len(line)+len(word) > 85 {
			list, line = append(list, line), ""
		}
		line = strings.TrimLeft(line+" "+word, " ")
	}
	return append(list, line)
}

// in writes the kernel in one instruction set.
func (k kernel) in(i isa) {
	Label(i.name)
	l := &loop{isa: i, kernel: k, vector: make(map[string]reg.Register), scalar: make(map[string]reg.VecVirtual),
		sum: make(map[string][]reg.VecVirtual)}
	l.start()
	n := Load(Param("n"), GP64())
	next, end := i.name+"_turn", i.name+"_end"
	Label(next)
	SUBQ(Imm(lanes), n)
	JLT(LabelRef(end))
	for l.at = 0; l.at < l.registers(); l.at++ {
		k.body(l)
	}
	for _, name := range k.vectors {
		ADDQ(Imm(4*lanes), l.vector[name])
	}
	JMP(LabelRef(next))
	Label(end)
	l.finish()
	VZEROUPPER()
	RET()
}

// registers is how many a turn has for each vector.
func (l *loop) registers() int { return 4 * lanes / l.bytes }

func (l *loop) start() {
	for _, name := range l.vectors {
		l.vector[name] = Load(Param(name), GP64())
	}
	for _, name := range l.scalars {
		l.scalar[name] = l.reg()
		VBROADCASTSS(address(name), l.scalar[name])
	}
	for _, name := range l.doubles {
		l.scalar[name] = l.reg()
		VBROADCASTSD(address(name), l.scalar[name])
	}
	l.state(func(r reg.VecVirtual, m Mem) { VMOVUPS(m, r) })
}

// finish writes back what the loop has gathered.
func (l *loop) finish() { l.state(func(r reg.VecVirtual, m Mem) { VMOVUPS(r, m) }) }

// state calls f for all registers that live as long as the loop, and where they come from.
func (l *loop) state(f func(r reg.VecVirtual, m Mem)) {
	visit := func(list *[]reg.VecVirtual, name string, count int) {
		base := Load(Param(name), GP64())
		for i := range count {
			if len(*list) < count {
				*list = append(*list, l.reg())
			}
			f((*list)[i], Mem{Base: base, Disp: i * l.bytes})
		}
	}
	for _, name := range l.sums {
		list := l.sum[name]
		visit(&list, name, 2*l.registers())
		l.sum[name] = list
	}
	if l.most {
		visit(&l.largest, "m", l.registers())
	}
}

// mem is the part of a vector at which the turn is.
func (l *loop) mem(name string) Mem { return Mem{Base: l.vector[name], Disp: l.at * l.bytes} }

func (l *loop) load(name string) reg.VecVirtual {
	r := l.reg()
	VMOVUPS(l.mem(name), r)
	return r
}

func (l *loop) store(r reg.VecVirtual, name string) { VMOVUPS(r, l.mem(name)) }

// binary is an instruction with two sources, in Go's order: the second is the left one.
type binary func(ops ...Op)

// get returns left OP right in a new register.
func (l *loop) get(op binary, left, right Op) reg.VecVirtual {
	r := l.reg()
	op(right, left, r)
	return r
}

// add adds a register to a sum, as float64.
func (l *loop) add(name string, v reg.VecVirtual) {
	for half := range 2 {
		to := l.sum[name][2*l.at+half]
		VADDPD(l.widened(v, half), to, to)
	}
}

// addProduct adds a product of two registers to a sum, as float64.
func (l *loop) addProduct(name string, v, w reg.VecVirtual) {
	for half := range 2 {
		x := l.widened(v, half)
		VFMADD231PD(l.widened(w, half), x, l.sum[name][2*l.at+half])
	}
}

// widened returns half of a register as float64.
func (l *loop) widened(v reg.VecVirtual, half int) reg.VecVirtual {
	r := l.reg()
	switch {
	case l.bytes == 64 && half == 0:
		VCVTPS2PD(v.AsY(), r)
	case l.bytes == 64:
		y := YMM()
		VEXTRACTF64X4(Imm(1), v, y)
		VCVTPS2PD(y, r)
	case half == 0:
		VCVTPS2PD(v.AsX(), r)
	default:
		x := XMM()
		VEXTRACTF128(Imm(1), v, x)
		VCVTPS2PD(x, r)
	}
	return r
}

var constants = make(map[string]Mem)

// constant is a value in all lanes, in memory.
func constant(name string, value Constant) Mem {
	if m, ok := constants[name]; ok {
		return m
	}
	m := GLOBL(name, RODATA|NOPTR)
	for i := range lanes {
		DATA(4*i, value)
	}
	constants[name] = m
	return m
}

func single(value float32) Mem { return constant(fmt.Sprintf("f%08x", bitsOf(value)), F32(value)) }
