package render

import (
	"strings"

	"github.com/gaprof/gaprof/internal/escape"
)

// maxName is how many characters of a name the text forms show.
const maxName = 80

func short(s string) string {
	s = escape.Control(s)
	if runes := []rune(s); len(runes) > maxName {
		return string(runes[:maxName-20]) + "…" + string(runes[len(runes)-19:])
	}
	return s
}

// markdownSpecial are the characters that Markdown or HTML would take as markup.
var markdownSpecial = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`,
	"[", `\[`, "]", `\]`, "!", `\!`, "#", `\#`, "~", `\~`, "@", "&#64;", "\\", `\\`)

func markdown(s string) string { return markdownSpecial.Replace(short(s)) }

// cell keeps a spreadsheet from taking text as a formula, and a terminal from obeying it.
func cell(s string) string {
	s = escape.Control(s)
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}
