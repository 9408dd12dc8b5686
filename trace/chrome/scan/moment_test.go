package scan

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestMoment: times of a recording begin with the same digits, and are read by them: the same times
// that are read without. What follows the last digit is the caller's to look at.
func TestMoment(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var m Moment
	for range 5000 {
		whole := 3_924_272_700_000 + rng.Int64N(400_000)*int64(1+rng.IntN(2)*1_000_000)
		text := fmt.Sprintf("%d.%03d", whole, rng.IntN(1000))
		switch rng.IntN(5) {
		case 0:
			text = text[rng.IntN(len(text)):]
		case 1:
			b := []byte(text)
			b[rng.IntN(len(b))] = "09.:/e "[rng.IntN(7)]
			text = string(b)
		}
		b := padded(text + ",")
		want, wantEnd, wantOK := Micros(b, 0)
		got, end, ok := m.Read(b, 0)
		if ok != wantOK || ok && (got != want || end != wantEnd) {
			t.Fatalf("%s: %d to %d, %v, want %d to %d, %v", text, got, end, ok, want, wantEnd, wantOK)
		}
	}
	m = Moment{}
	read := func(text string) string {
		ns, end, ok := m.Read(padded(text), 0)
		return fmt.Sprint(ns, " ", end, " ", ok)
	}
	for _, test := range []struct{ text, want string }{
		{"3924272799580.5099", "0 0 false"}, // nothing was learned
		{"3924272799580.509,", "3924272799580509 17 true"},
		{"3924272799581.6099", "3924272799581609 17 true"},
		{"3924272700000.0009", "3924272700000000 17 true"},
		{"3924272899580.5099", "0 0 false"}, // another beginning
		{"39242727.9958,", "0 0 false"},
		{"12.345,", "12345 6 true"}, // shorter ones are not learned
		{"3924272799589.9999", "3924272799589999 17 true"},
		{"4924272799580.509,", "4924272799580509 17 true"},
		{"4924272799580.5099", "4924272799580509 17 true"},
		{"3924272799580.5099", "0 0 false"},
	} {
		if got := read(test.text); got != test.want {
			t.Errorf("%s: %s, want %s", test.text, got, test.want)
		}
	}
}
