// Package device is a training program's view of the machine it runs on, in the terms
// of CUDA: each rank has a Device with Streams, Events and Buffers, and a Communicator
// that connects it to the other ranks. The program enqueues typed operations (Kernel)
// and never branches on the contents of device memory, so that the same program runs on
// a simulated, a cpu or a CUDA device. A Recorder observes what happens.
//
//	device.go  Device, Stream, Event, Communicator, and the Backend that opens them
//	group.go   Group: ranks that communicate with each other
//	rank.go    Rank: a Device with the streams that a training loop uses
//	buffer.go  tensors in device memory
//	dtype.go   the types of their elements
//	kernel.go  operations to launch on a stream
//	record.go  Recorder, and the events it receives
//	log.go     Log, which helps backends to feed a Recorder
//
// A backend implements Backend, Device and Communicator. What it does for each type of
// operation in package ops is up to a table of its own.
package device
