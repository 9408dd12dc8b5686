// Package larger is for the tests of the command: one comparison.
package larger

// Than reports whether a is larger than b.
func Than(a, b int) bool { return a > b }

// Unasked is called by no test.
func Unasked(n int) int { return n + 1 }
