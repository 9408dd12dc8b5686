// Package device is what a training program sees of the machine it runs on, in
// CUDA's words: a rank's Device with Streams, Events and Buffers, and the
// Communicator that joins ranks. The program enqueues typed operations (Kernel)
// and never branches on what is in device memory, so that a simulated, a cpu and
// a CUDA device can run the same program. What happens is told to a Recorder.
package device
