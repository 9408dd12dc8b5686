// Package autograd records a forward pass and runs it backward, like PyTorch's autograd,
// and leaves the same nodes in a trace. A Tape enqueues operations both while it is
// recorded and while it runs backward; it computes nothing itself and never looks into
// device memory.
//
// The Tape owns activations and their gradients: it allocates them, counts references
// and frees them. Gradients of parameters belong to an Accumulator, because what becomes
// of them differs from loop to loop while the network stays the same: they may be
// accumulated over micro-batches, reduced over ranks, or consumed by an optimizer in
// backward.
package autograd
