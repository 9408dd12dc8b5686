// Package optim implements AdamW and SGD with decoupled weight decay. Each optimizer
// updates a group of parameters. The package owns optimizer state, that is moments and
// update counts, and nothing else: the loop decides when a group steps, and whether it
// updates whole parameters or a rank's shards of them.
package optim
