// Package gemm multiplies row-major matrices on one core, in blocks that stay in its
// caches, with assembly for AVX2 and AVX-512 and plain Go elsewhere. All give the same
// bits: an element of the result is a sum over stretches of 256 products, in each of
// which the products are added one after the other, rounded once each.
//
//	product.go  what is asked for, and the order of blocks
//	pack.go     blocks of the operands as the innermost loop wants them
//	engine.go   the implementations of the innermost loop
//	plain.go    the one in Go
//	tiles_amd64.s, written by tools/kernels: those in assembly
package gemm
