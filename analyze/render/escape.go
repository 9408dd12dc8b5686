package render

import (
	"fmt"
	"strings"
	"unicode"
)

// Terminal makes s safe to print: control characters, escapes and characters that
// change the direction of text become visible, long names are cut in the middle.
func Terminal(s string) string {
	if strings.IndexFunc(s, unsafeRune) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !unsafeRune(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func unsafeRune(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control) || r == unicode.ReplacementChar || r == '\u2028' || r == '\u2029'
}

// maxName is how many characters of a name the text forms show.
const maxName = 80

func short(s string) string {
	s = Terminal(s)
	if runes := []rune(s); len(runes) > maxName {
		return string(runes[:maxName-20]) + "…" + string(runes[len(runes)-19:])
	}
	return s
}

// markdownSpecial are the characters that Markdown or HTML would take as markup.
var markdownSpecial = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`,
	"[", `\[`, "]", `\]`, "!", `\!`, "#", `\#`, "~", `\~`, "@", "&#64;", "\\", `\\`)

func markdown(s string) string { return markdownSpecial.Replace(short(s)) }

// cell keeps a spreadsheet from taking text as a formula.
func cell(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
