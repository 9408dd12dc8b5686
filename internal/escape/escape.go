// Package escape makes text from traces safe to show. Names in a trace may come from
// anywhere, and terminals, spreadsheets and CI runners each take some texts for
// commands. Browsers and Markdown need escapes of their own, which the writers of those
// formats apply on top.
package escape

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Control returns s with everything that a terminal acts on, or that changes the
// order of the text around it, replaced by its Go escape: control characters,
// invalid UTF-8, line separators, marks of text direction. So is the second # of ##,
// which begins a command anywhere in a line for some CI runners (##[error]). Spaces
// and other printable characters stay.
func Control(s string) string {
	if strings.IndexFunc(s, hidden) < 0 && !strings.Contains(s, "##") {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '#' && i > 0 && s[i-1] == '#':
			b.WriteString(`\x23`)
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

// hidden reports whether r does not show as a character of its own. Spaces of all kinds do.
func hidden(r rune) bool {
	return r == unicode.ReplacementChar || !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r)
}

// Lines returns text with every line that a CI runner would take for a command escaped:
// those that begin with ::, spaces aside.
func Lines(text string) string {
	if !strings.Contains(text, "::") {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		rest := strings.TrimLeftFunc(line, unicode.IsSpace)
		if strings.HasPrefix(rest, "::") {
			b.WriteString(line[:len(line)-len(rest)] + `\x3a`)
			line = rest[1:]
		}
		b.WriteString(line)
	}
	return b.String()
}

// formula holds the characters that begin a formula in a spreadsheet. Some spreadsheets
// accept the full-width forms as well.
const formula = "=+-@\uff1d\uff0b\uff0d\uff20"

// Cell returns s as a cell of a table that a spreadsheet may open: safe by Control, and with
// an apostrophe before it where it would run as a formula. A whole number stays one.
func Cell(s string) string {
	s = Control(s)
	first, _ := utf8.DecodeRuneInString(s)
	if s == "" || !strings.ContainsRune(formula, first) {
		return s
	}
	if _, err := strconv.ParseInt(s, 10, 64); err == nil {
		return s
	}
	return "'" + s
}
