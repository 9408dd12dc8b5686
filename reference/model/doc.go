// Package model holds the networks that are trained: gpt, a pre-norm transformer, and
// mlp, which treats every position alone. Each is a list of parameters and a forward
// pass written onto an autograd.Tape. Who holds the parameters in device memory, whole
// or in shards, and what becomes of their gradients is not decided here.
package model
