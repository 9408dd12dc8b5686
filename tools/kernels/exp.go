package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func bitsOf(v float32) uint32 { return math.Float32bits(v) }

// exponentials are the coefficients of (e^r - 1 - r)/r^2 for |r| < ln(2)/2, the highest
// power first: those of Cephes' expf.
var exponentials = []float32{
	1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1,
}

// exp returns e^x of a register: 0 below -87, and never more than e^88. simd.exp in Go
// does the same.
func (l *loop) exp(x reg.VecVirtual) reg.VecVirtual {
	t := l.clamp(x, -87, 88)
	n := l.rounded(l.get(VMULPS, t, single(math.Log2E)))
	VFNMADD231PS(single(0.693359375), n, t)
	VFNMADD231PS(single(-2.12194440e-4), n, t)
	p := l.reg()
	VMOVUPS(single(exponentials[0]), p)
	for _, c := range exponentials[1:] {
		VFMADD213PS(single(c), t, p)
	}
	square := l.get(VMULPS, t, t)
	VFMADD213PS(t, square, p)
	VADDPS(single(1), p, p)
	l.timesPower(p, n)
	l.zeroBelow(p, x, -87)
	return p
}

// clamp returns x within limits. NaN stays NaN: these instructions return their right
// operand then.
func (l *loop) clamp(x reg.VecVirtual, low, high float32) reg.VecVirtual {
	t := l.reg()
	VMOVUPS(single(low), t)
	VMAXPS(x, t, t)
	limit := l.reg()
	VMOVUPS(single(high), limit)
	VMINPS(t, limit, t)
	return t
}

// rounded rounds to integers, ties to even.
func (l *loop) rounded(x reg.VecVirtual) reg.VecVirtual {
	n := l.reg()
	if l.bytes == 64 {
		VRNDSCALEPS(Imm(0), x, n)
	} else {
		VROUNDPS(Imm(0), x, n)
	}
	return n
}

// timesPower multiplies p by 2^n.
func (l *loop) timesPower(p, n reg.VecVirtual) {
	power := l.reg()
	VCVTPS2DQ(n, power)
	VPADDD(constant("bias", U32(127)), power, power)
	VPSLLD(Imm(23), power, power)
	VMULPS(power, p, p)
}

// zeroBelow clears p where x is below a limit.
func (l *loop) zeroBelow(p, x reg.VecVirtual, limit float32) {
	const less, notLess = 1, 5
	if l.bytes == 64 {
		k := K()
		VCMPPS(Imm(notLess), single(limit), x, k)
		VMOVAPS_Z(p, k, p)
		return
	}
	mask := l.reg()
	VCMPPS(Imm(less), single(limit), x, mask)
	VANDNPS(p, mask, p)
}
