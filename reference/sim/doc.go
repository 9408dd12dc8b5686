// Package sim simulates GPUs: a device.Backend whose devices compute nothing. The program of
// each rank runs as on any device, and what it enqueues is written down as a graph: calls of
// the host, operations on streams, and what waits for what. When all devices are closed, the
// graph is run (trace/graph), and the Recorders are told everything with its virtual time.
//
//	backend.go   Backend: opens devices, runs the graph when they are closed
//	device.go    the device of a rank: streams, operations, events, waits
//	host.go      the host of a rank: calls, and the time between them
//	memory.go    the caching allocator
//	comm.go      communicators
//	cost.go      how long a kernel takes
//	finish.go    from what the ranks wrote down to times
//	tell.go      from times to Recorders
//	preset.go    Machine: a device with its host and links, by name
//	param.go     the figures of a Machine, with their units
//	presets.yaml the machines that there are, with the source of every figure
//	fit.go       a Machine from what was measured; fitlinks.go the same for collectives
//	calibrated.yaml machines that were measured
//
// Tensors have shapes and no contents. The same options give the same times, to the last
// nanosecond. Ranks that enqueue the same are simulated once: the device of the first stands
// for all of them. docs/simulation.md says what the model assumes and what it leaves out.
package sim
