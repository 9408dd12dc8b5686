// Package simd runs loops over vectors of float32 on one core, with the widest
// instructions that the machine has.
//
// All levels give the same bits: sums have sixteen lanes, of which lane i sums elements
// i, i+16 and so on, whatever the width of a register is, and products that are added
// are rounded once.
package simd
