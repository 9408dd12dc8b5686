// Package cpu runs the operations of the reference trainer on the cores of this
// machine, in float32 or float64. A stream is a goroutine with a queue, an event a
// channel that is closed; a kernel holds one of the machine's cores while it runs, so
// that its duration is work. Sums are taken in one order: bits repeat.
//
//	cpu.go       the Backend, and the machine that ranks share
//	device.go    a rank's device: calls become tasks on streams
//	stream.go    streams, and the tasks that are not collectives
//	comm.go      collectives: a rendezvous of all ranks
//	memory.go    the allocator
//	table.go     from the type of an operation to its implementation
//	matrix.go    linear layers and attention
//	model.go     the other operations of a network
//	gradient.go  operations on gradients, and the optimizers
package cpu
