package scan

import (
	"unicode/utf16"
	"unicode/utf8"
)

// Unescape appends the text of a string's content s to out. Illegal escapes stay
// as they are, bytes that are no UTF-8 become U+FFFD, and so does each half of a
// surrogate pair that stands alone; lone counts those.
func Unescape(out, s []byte) (text []byte, lone int) {
	for i := 0; i < len(s); {
		if c := s[i]; c != '\\' && c < utf8.RuneSelf {
			out = append(out, c)
			i++
			continue
		}
		if s[i] != '\\' {
			r, size := utf8.DecodeRune(s[i:])
			out = utf8.AppendRune(out, r)
			i += size
			continue
		}
		r, size := escape(s[i:])
		if utf16.IsSurrogate(r) {
			low, more := escape(s[i+size:])
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				lone++
			} else {
				size += more
			}
		}
		out = utf8.AppendRune(out, r)
		i += size
	}
	return out, lone
}

// escape reads the escape at the head of s; what is none is its backslash.
func escape(s []byte) (r rune, size int) {
	if len(s) < 2 || s[0] != '\\' {
		return '\\', 1
	}
	switch s[1] {
	case '"', '\\', '/':
		return rune(s[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		if r, ok := hex4(s[2:]); ok {
			return r, 6
		}
	}
	return '\\', 1
}

func hex4(s []byte) (r rune, ok bool) {
	if len(s) < 4 {
		return 0, false
	}
	for _, c := range s[:4] {
		h, ok := hexDigit(c)
		if !ok {
			return 0, false
		}
		r = r<<4 | h
	}
	return r, true
}

// Compact appends JSON text without the white space between its tokens, so that
// one value is one text however the file is laid out.
func Compact(out, s []byte) []byte {
	inString := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case inString && c == '\\' && i+1 < len(s):
			out = append(out, c)
			i++
			c = s[i]
		case c == '"':
			inString = !inString
		case !inString && (c == ' ' || c == '\n' || c == '\t' || c == '\r'):
			continue
		}
		out = append(out, c)
	}
	return out
}

// Cut shortens s to at most limit bytes without splitting a character.
func Cut(s []byte, limit int) []byte {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
