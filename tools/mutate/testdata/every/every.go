// Package every is for the tests of the command: everything that it changes, each thing
// once where a test notices and once where none does.
package every

import "time"

const (
	few  = 3
	many = few * 2
)

// limit is a constant with a type.
const limit = 2 * time.Second

type step struct{ from, to int }

// Sum adds as many numbers as few says, or all.
func Sum[T int | float64](list []T, all bool) (sum T) {
	step := step{to: few} // hides the type
	for step.from = 0; step.from < len(list) && (all || step.from < step.to); step.from++ {
		sum += list[step.from]
	}
	return sum
}

// Late reports whether a duration is over the limit, or over many of them.
func Late(d time.Duration, often bool) bool {
	if often {
		return d > many*limit
	}
	return d > limit
}

// Name says what it was asked for, and Calls counts.
func Name(ok bool) string {
	Calls++
	if !ok {
		return "no"
	}
	return "yes"
}

// Calls are the calls of Name.
var Calls = 0

// Clamp is within 0 and a hundred.
func Clamp(x float64) float64 { return max(0, min(x, 1.5*100)) }

// Endless hangs where its loop does not end.
func Endless(n int) (rounds int) {
	for n > 0 {
		n--
		rounds++
	}
	return rounds
}
