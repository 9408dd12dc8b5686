package escape

import (
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON returns valid JSON text in which everything that Control replaces is written as \u
// escapes: the same values, and safe to print. Text that needs none is returned as it is.
func JSON(text []byte) []byte {
	i := firstInJSON(text)
	if i == len(text) {
		return text
	}
	out := append(make([]byte, 0, len(text)+64), text[:i]...)
	for i < len(text) {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == '#' && i > 0 && text[i-1] == '#',
			r != '\n' && r != '\t' && r != '\r' && r != utf8.RuneError && hidden(r):
			out = appendEscape(out, r)
		case r == utf8.RuneError && size == 1:
			out = append(out, `\ufffd`...)
		default:
			out = append(out, text[i:i+size]...)
		}
		i += size
	}
	return out
}

// firstInJSON is the place of the first byte that may have to be escaped.
func firstInJSON(text []byte) int {
	for i, c := range text {
		if c >= 0x7f || c == '#' && i > 0 && text[i-1] == '#' {
			return i
		}
	}
	return len(text)
}

// appendEscape appends r as JSON escapes it: as two halves where it is beyond 16 bits.
func appendEscape(out []byte, r rune) []byte {
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		return fmt.Appendf(out, `\u%04x\u%04x`, high, low)
	}
	return fmt.Appendf(out, `\u%04x`, r)
}

// JSONWriter is a writer of JSON text that passes it through JSON on its way to w. Each
// Write must be whole characters, as those of json.Encoder are.
func JSONWriter(w io.Writer) io.Writer { return jsonWriter{w} }

type jsonWriter struct{ w io.Writer }

// Write reports len(p) where all of it was written: what callers compare it with is the
// length of what they gave, not of what it became.
func (j jsonWriter) Write(p []byte) (int, error) {
	if _, err := j.w.Write(JSON(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
