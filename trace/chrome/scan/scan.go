package scan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// The functions of this file return the place behind what they read, or the complement
// (^place, negative) of where a rule is broken.

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// Broken reports whether a place is the complement of where a rule is broken.
func Broken(place int) bool { return place < 0 }

// special marks, by the high bit, the bytes of x that end a run of plain text:
// quotes, backslashes and control characters. The lowest mark is exact; marks
// above it may be false.
func special(x uint64) uint64 {
	quote, slash := x^(ones*'"'), x^(ones*'\\')
	return ((quote-ones)&^quote | (slash-ones)&^slash | (x-ones*' ')&^x) & highs
}

// Load is the eight bytes at i as a word, the first of them lowest.
func Load(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }

// String reads a string whose content begins at i and returns the place of
// its closing quote; escaped reports whether the content has escapes.
func String(b []byte, i int) (end int, escaped bool) {
	start, high := i, uint64(0)
	for {
		x := Load(b, i)
		m := special(x)
		if m == 0 {
			high |= x
			i += 8
			continue
		}
		k := bits.TrailingZeros64(m) >> 3
		high |= x & (1<<(8*k) - 1)
		i += k
		switch b[i] {
		case '"':
			if high&highs != 0 && !utf8.Valid(b[start:i]) {
				return ^(start + ValidPrefix(b[start:i])), escaped
			}
			return i, escaped
		case '\\':
			n := EscapeLen(b, i)
			if n == 0 {
				return ^endOfEscape(b, i), true
			}
			escaped = true
			i += n
		default:
			return ^i, escaped
		}
	}
}

// endOfEscape is the place where the illegal escape at i breaks the rules: the end
// of the window, where that cuts it, else its backslash.
func endOfEscape(b []byte, i int) int {
	k := i + 1
	if b[k] == 'u' {
		for k++; k < i+6; k++ {
			if _, ok := hexDigit(b[k]); !ok {
				break
			}
		}
	}
	if b[k] == 0 {
		return k
	}
	return i
}

// ValidPrefix is the length of the UTF-8 that s begins with.
func ValidPrefix(s []byte) int {
	n := 0
	for n < len(s) {
		r, size := utf8.DecodeRune(s[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}

// EscapeLen is the length of the escape at i, 0 where it is not one.
func EscapeLen(b []byte, i int) int {
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		for k := 2; k < 6; k++ {
			if _, ok := hexDigit(b[i+k]); !ok {
				return 0
			}
		}
		return 6
	}
	return 0
}

func hexDigit(c byte) (rune, bool) {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0'), true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10, true
	}
	return 0, false
}

// SkipSpace returns the first place from i on without white space.
func SkipSpace(b []byte, i int) int {
	for b[i] <= ' ' {
		switch b[i] {
		case ' ':
			for Load(b, i) == ones*' ' {
				i += 8
			}
			if b[i] == ' ' {
				i++
			}
		case '\n', '\t', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

// Number reads the number at i.
func Number(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	switch {
	case b[i] == '0':
		i++
	case b[i]-'1' < 9:
		i = skipDigits(b, i)
	default:
		return ^i
	}
	if b[i] == '.' {
		if b[i+1]-'0' > 9 {
			return ^(i + 1)
		}
		i = skipDigits(b, i+1)
	}
	if b[i]|0x20 == 'e' {
		if i++; b[i] == '+' || b[i] == '-' {
			i++
		}
		if b[i]-'0' > 9 {
			return ^i
		}
		i = skipDigits(b, i)
	}
	return i
}

func skipDigits(b []byte, i int) int {
	for b[i]-'0' <= 9 {
		i++
	}
	return i
}

// Literal reads true, false or null at i.
func Literal(b []byte, i int) int {
	word := "null"
	switch b[i] {
	case 't':
		word = "true"
	case 'f':
		word = "false"
	}
	for k := range len(word) {
		if b[i+k] != word[k] {
			return ^(i + k)
		}
	}
	return i + len(word)
}
