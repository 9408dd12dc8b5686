package simd

import "golang.org/x/sys/cpu"

// Level is a set of instructions.
type Level int

// All levels give the same bits. Plain is Go, the others are assembly for amd64.
const (
	Plain Level = iota
	AVX2        // with FMA
	AVX512
)

// Best is the highest level of this machine. GODEBUG=cpu.avx512f=off lowers it.
var Best = best()

func best() Level {
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		return AVX512
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		return AVX2
	}
	return Plain
}

// Levels are those of this machine, the plain one first.
func Levels() []Level { return []Level{Plain, AVX2, AVX512}[:Best+1] }

// String returns plain, avx2 or avx512.
func (l Level) String() string { return [...]string{"plain", "avx2", "avx512"}[l] }
