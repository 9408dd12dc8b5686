// Package cpu is a backend that runs on the cores of this machine, in float32 or float64.
// A stream is a goroutine with a queue, and an event is a channel that gets closed. A
// kernel holds one of the cores while it runs, so that its duration is work and not
// waiting. Sums have a fixed order, so results are bitwise reproducible.
//
//	cpu.go       the Backend, and the machine shared by its ranks
//	device.go    the device of a rank: calls become tasks on streams
//	stream.go    streams, and all tasks except collectives
//	comm.go      collectives, in which all ranks meet
//	memory.go    the allocator
//	elements.go  what kernels see of a buffer
//	table.go     the implementation of each type of operation
//	matrix.go    linear layers and attention
//	model.go     the other operations of a network
//	single.go    those of them in float32 that simd has loops for
//	rows.go      sums, products and softmax of vectors
//	gradient.go  operations on gradients, and the optimizers
//	llama.go     what networks of Llama's kind add
//	flash.go     attention that keeps no probabilities
//	elementwise.go  the operations of optimizers that are not one kernel
package cpu
