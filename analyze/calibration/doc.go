// Package calibration takes from recorded traces what a simulation of the same machine needs: what calls of the runtime
// cost, what lies between kernels, what matrix products and kernels limited by memory take by their sizes, and
// collectives by their bytes. What a trace does not show stays unknown, with the reason.
//
//	samples.go     what is taken of one rank, while its trace is at hand
//	host.go        calls, operators and collectives on the host
//	device.go      starts of kernels: on an idle device, after each other, after another stream
//	operators.go   matrix products and memory traffic, by the shapes of operators
//	operands.go    shapes as sizes
//	together.go    all ranks: figures with their quartiles
//	transfers.go   what collectives take without waiting for ranks, and lines through that
//	uneven.go      how unevenly ranks come to their collectives
package calibration
