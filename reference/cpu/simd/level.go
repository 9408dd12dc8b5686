package simd

import "golang.org/x/sys/cpu"

//go:generate go run -C ../../../tools ./kernels -what loops -to ../reference/cpu/simd/loops_amd64

// Level is a set of instructions.
type Level int

// All levels give the same bits. Plain is Go, the others are assembly for amd64.
const (
	Plain Level = iota
	AVX2        // with FMA
	AVX512
)

// best is the highest level of this machine. GODEBUG=cpu.avx512f=off lowers it.
var best = func() Level {
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		return AVX512
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		return AVX2
	}
	return Plain
}()

var level = best

// InUse is the level at which loops run: the highest of this machine, but for Use.
func InUse() Level { return level }

// Use changes the level, for tests, and returns what changes it back. Nothing else may
// run.
func Use(l Level) (back func()) {
	before := level
	level = min(l, best)
	return func() { level = before }
}

// Levels are those of this machine, the plain one first.
func Levels() []Level { return []Level{Plain, AVX2, AVX512}[:best+1] }

// String returns plain, avx2 or avx512.
func (l Level) String() string { return [...]string{"plain", "avx2", "avx512"}[l] }

// fast returns how many of n elements are for assembly; the others, after them, are for
// plain Go.
func fast(n int) int {
	if level == Plain {
		return 0
	}
	return n / lanes * lanes
}

// wide is what assembly is told.
func wide() bool { return level == AVX512 }
