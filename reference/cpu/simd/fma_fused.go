//go:build arm64 || ppc64 || ppc64le || riscv64 || loong64 || s390x

package simd

// FMA returns a*b + c, rounded once: the compiler makes one instruction of it.
func FMA(a, b, c float32) float32 { return a*b + c }
