// Package room has a cycle of three files, through a method, a field and a function.
package room

import "strings"

// T has its methods in two files.
type T struct {
	Shown  int // a comment
	Hidden int

	left, right int
}

func (t *T) first() { t.second() }

func upper(s string) string { return strings.ToUpper(s) }
