// Package device is what a training program sees of the machine it runs on, in
// CUDA's words: a rank's Device with Streams, Events and Buffers, and the
// Communicator that joins ranks. The program enqueues typed operations (Kernel)
// and never branches on what is in device memory, so that a simulated, a cpu and
// a CUDA device can run the same program. What happens is told to a Recorder.
//
//	device.go  Device, Stream, Event, Communicator, and the Backend that opens them
//	rank.go    what the program of one rank works with: a Device and its two streams
//	buffer.go  tensors in device memory; dtype.go: the types of their elements
//	kernel.go  operations for a stream
//	record.go  Recorder: what is told, and to whom
//	log.go     Log: how a backend with a host of its own tells it
//
// A backend implements Device and Communicator, and holds a table from the types of
// package ops to what does them.
package device
