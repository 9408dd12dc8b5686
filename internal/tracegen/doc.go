// Package tracegen writes synthetic training traces in the layout of PyTorch's
// Kineto, of any size and in several shapes, for benchmarks and tests. The same
// Options always give the same bytes.
//
// The training it shows: one process, one device, a few layers. Each step has
// two micro-batches of forward and backward; the last backward reduce-scatters
// the gradients on a stream of their own; then the optimizer runs. With Rank and
// WorldSize it is one of many processes that do so together.
package tracegen
