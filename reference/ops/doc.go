// Package ops holds the operations of the reference trainer as plain values with
// their buffers and sizes: what is asked for, not how it is done. Each is a
// device.Kernel under the name that PyTorch gives the operator in a trace; backends
// hold a table from the type of an operation to an implementation.
//
// Buffers are row-major. Results stand first among the fields, and an operation
// overwrites them unless its comment says otherwise; buffers that it reads it leaves as
// they are. A scalar is a buffer of one element; counts and indices are I64.
package ops

import "github.com/gaprof/gaprof/reference/device"

// kernelName is the name of a device function of ours.
func kernelName(what string, dt device.DType) string { return "gaprof_" + what + "_" + dt.Short() }

// bytes is what a kernel moves that touches each of the buffers once.
func bytes(buffers ...*device.Buffer) int64 {
	var n int64
	for _, b := range buffers {
		if b != nil {
			n += b.Bytes()
		}
	}
	return n
}

func tensors(buffers ...*device.Buffer) []device.Operand {
	list := make([]device.Operand, len(buffers))
	for i, b := range buffers {
		list[i] = device.Tensor(b)
	}
	return list
}

func scalar(value string) device.Operand { return device.Operand{Type: "Scalar", Value: value} }
