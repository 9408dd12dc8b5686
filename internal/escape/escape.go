// Package escape makes text from traces safe to show.
package escape

import (
	"strconv"
	"strings"
	"unicode"
)

// Control returns s with everything that a terminal acts on, or that changes the
// order of what stands around it, replaced by its Go escape: control characters,
// invalid UTF-8, line separators, marks of text direction. Spaces and printable
// characters stay.
func Control(s string) string {
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == unicode.ReplacementChar && !strings.HasPrefix(s[i:], "\uFFFD"):
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[i]), 16))
		case hidden(r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func hidden(r rune) bool {
	return r == unicode.ReplacementChar || !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r)
}
