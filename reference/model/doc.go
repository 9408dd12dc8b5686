// Package model defines the networks: gpt, a pre-norm transformer, mlp, which treats
// each position separately, gpt2 and llama, as they are published, and the models that are
// one of these with certain sizes (table.go). A network is a list of parameters and a forward pass that is
// recorded on an autograd.Tape. How parameters are stored, whole or sharded, and what
// becomes of their gradients is up to others.
package model
