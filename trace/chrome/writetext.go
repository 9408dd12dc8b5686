package chrome

import (
	"fmt"
	"strconv"

	show "github.com/gaprof/gaprof/internal/escape"
)

// plain are the bytes that stand in the text of a string as they are, whatever is before them.
var plain = func() (table [256]bool) {
	for c := range table {
		table[c] = c >= ' ' && c < 0x7f && c != '"' && c != '\\' && c != '#'
	}
	return table
}()

// appendQuoted appends s as a JSON string; only what must be escaped is, and what a
// terminal would obey.
func appendQuoted(out []byte, s string) []byte {
	start := len(out)
	out = append(append(append(out, '"'), s...), '"')
	for i := range len(s) {
		if !plain[s[i]] {
			return appendEscaped(out[:start], s)
		}
	}
	return out
}

// appendEscaped is appendQuoted for a text in which something may have to be escaped.
func appendEscaped(out []byte, s string) []byte {
	start := len(out)
	out = append(out, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c == '\n':
			out = append(out, `\n`...)
		case c == '\t':
			out = append(out, `\t`...)
		case c == '\r':
			out = append(out, `\r`...)
		case c < ' ':
			out = fmt.Appendf(out, `\u%04x`, c)
		default:
			out = append(out, c)
		}
	}
	return printable(append(out, '"'), start)
}

// printable puts escapes for what a terminal would obey into the JSON text from start on.
func printable(out []byte, start int) []byte {
	text := out[start:]
	if safe := show.JSON(text); len(safe) != len(text) {
		return append(out[:start], safe...)
	}
	return out
}

// spaced appends JSON text with a space behind each colon and comma outside of
// strings.
func spaced(out []byte, s string) []byte {
	start, inString := len(out), false
	for i := 0; i < len(s); i++ {
		c := s[i]
		out = append(out, c)
		switch {
		case inString && c == '\\' && i+1 < len(s):
			i++
			out = append(out, s[i])
		case c == '"':
			inString = !inString
		case !inString && (c == ',' || c == ':'):
			out = append(out, ' ')
		}
	}
	return printable(out, start)
}

// appendMicro appends ns as microseconds with three decimals.
func appendMicro(out []byte, ns int64) []byte {
	u := uint64(ns)
	if ns < 0 {
		out, u = append(out, '-'), -u
	}
	out = strconv.AppendUint(out, u/1000, 10)
	rest := byte(u % 1000 / 100)
	return append(out, '.', '0'+rest, '0'+byte(u%100/10), '0'+byte(u%10))
}
