// Package steps cuts the recording of a rank into optimizer steps: the updates that
// its optimizers make, the host windows between them, and the windows of the same
// steps on each device, each nanosecond of them in one bucket of a ledger.
package steps
