// Package straggler says what slow workers cost a job, and what it would gain without them,
// from a table of its operations ([optable.Table]).
//
// It follows "Understanding Stragglers in Large Model Training Using What-if Analysis" (Lin
// et al., OSDI 2025): each step of the table becomes a graph of what waits for what in a job
// with pipeline, data and tensor parallelism of the kind of Megatron; operations get the time
// that they take without waiting for others; and replays with the time of some operations
// made ideal say what these cost.
//
//	rows.go     operations in order, by step and worker
//	edges.go    what waits for what within a worker
//	peers.go    which operations of several workers wait for each other
//	work.go     the time that operations take, observed and ideal
//	slowdown.go replays, and the figures made of them
//	result.go   what is reported
package straggler
