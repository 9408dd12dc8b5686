// Package reference is the reference trainer: one program of models, data, an
// accumulation loop and optimizers whose every choice is an option, so that the truth
// about the traces it leaves is known. It speaks to a device.Backend only; the same
// program runs on a cpu, a simulated and a CUDA device.
package reference
