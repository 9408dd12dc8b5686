// Package optim updates parameters from their gradients: AdamW and SGD with decoupled
// weight decay, each over the group of parameters that it has. It owns the state of the
// optimizers (moments, counts of updates) and nothing else; when a group steps, and
// whether it is handed whole parameters or a rank's shards of them, is up to the loop.
package optim
