// Package cpu runs the operations of the reference trainer on the cores of this
// machine, in float32 or float64. A stream is a goroutine with a queue, an event a
// channel that is closed; a kernel holds one of the machine's cores while it runs, so
// that its duration is work. Sums are taken in one order: bits repeat.
package cpu
