// Package sidecar reads and writes what a training run leaves beside its trace: logs of
// tokens and losses, and gradients as safetensors. The formats are those of
// docs/formats/sidecar.md. Everything that is read may be damaged or hostile: sizes are
// bounded by the bytes that are there, and errors are *trace.FormatError.
//
//	tokens.go       TokenCount: how many tokens a micro-batch or a step has, CSV or JSON lines
//	loss.go         LossLog: losses of micro-batches and steps, JSON lines
//	lines.go        JSON lines as training loops write them, NaN included
//	gradients.go    GradientFile: which rank, step and micro-batch a file of gradients is of
//	safetensors.go  Safetensors: the container of tensors, read one tensor at a time
//	tensorwriter.go WriteSafetensors
//	files.go        how files are called by default, and listing a folder
package sidecar
