package oracle

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// Floats is a flat list of numbers, row-major where it is a tensor; null is NaN. It
// parses itself because encoding/json takes most of the time of reading an oracle
// otherwise, and has no number for null.
type Floats []float64

// UnmarshalJSON reads an array of numbers and nulls.
func (f *Floats) UnmarshalJSON(text []byte) error {
	text = bytes.TrimSpace(text)
	if string(text) == "null" {
		return nil
	}
	if len(text) < 2 || text[0] != '[' {
		return fmt.Errorf("%.20s is not an array of numbers", text)
	}
	text = bytes.TrimSpace(text[1 : len(text)-1])
	list := make(Floats, 0, bytes.Count(text, []byte(","))+1)
	for len(text) > 0 {
		word, rest, _ := bytes.Cut(text, []byte(","))
		v, err := parseNumber(string(bytes.TrimSpace(word)))
		if err != nil {
			return err
		}
		list, text = append(list, v), rest
	}
	*f = list
	return nil
}

// Number is a number of a file. The zero value is one that is absent.
type Number struct {
	set   bool
	value float64
}

// UnmarshalJSON reads a number or null.
func (n *Number) UnmarshalJSON(text []byte) error {
	v, err := parseNumber(string(text))
	n.set, n.value = err == nil, v
	return err
}

// Float is the number, NaN where it is null or absent.
func (n Number) Float() float64 {
	if !n.set {
		return math.NaN()
	}
	return n.value
}

func parseNumber(word string) (float64, error) {
	if word == "null" {
		return math.NaN(), nil
	}
	v, err := strconv.ParseFloat(word, 64)
	if err != nil {
		return 0, fmt.Errorf("%.20s is not a number", word)
	}
	return v, nil
}
