// Package drawing turns the index and the facts of a rank into figures' data: which
// spans stand on which row. It draws nothing itself.
package drawing
