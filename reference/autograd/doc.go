// Package autograd remembers a forward pass so that it can be run back, as PyTorch's
// autograd does, and leaves the same nodes in a trace. A Tape enqueues operations while
// it is written and again while it is run back; it computes nothing itself and never
// looks into device memory.
//
// Gradients of activations belong to the Tape: it allocates them, counts who still
// reads them and frees them. Gradients of parameters belong to an Accumulator, because
// what happens to them (they are added up, reduced over ranks, used up by an optimizer)
// differs from loop to loop while the network stays the same.
package autograd
