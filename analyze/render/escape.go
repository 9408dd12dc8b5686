package render

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

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

// markdownSpecial are the characters that Markdown or HTML would take as markup, and what
// GitHub and others turn into links and mentions without any: those get a zero-width space
// inserted.
var markdownSpecial = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;",
	"|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`,
	"!", `\!`, "~", `\~`, "$", `\$`,
	"@", "&#64;&#8203;", "://", ":&#8203;//", "www.", "www&#8203;.",
	"\\", `\\`,
)

// markdownInline escapes a part of a line, such as a cell, without shortening it.
func markdownInline(s string) string { return hashes(markdownSpecial.Replace(escape.Control(s))) }

// hashes escapes what would be a heading, and what GitHub would take for the number of an issue.
func hashes(s string) string {
	if !strings.Contains(s, "#") {
		return s
	}
	var b strings.Builder
	before := ' '
	for i, r := range s {
		after, _ := utf8.DecodeRuneInString(s[i+len(string(r)):])
		start := strings.TrimSpace(s[:i]) == ""
		number := unicode.IsDigit(after) && !unicode.IsLetter(before) && !unicode.IsDigit(before)
		if r == '#' && before != '&' && (start || number) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

// markdownText escapes a sentence, which may begin a line.
func markdownText(s string) string {
	s = markdownInline(s)
	if blockHead().MatchString(s) {
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
		i := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
		return s[:i] + `\` + s[i:]
	}
	return strings.TrimPrefix(s, "    ") // which would make it code
}

// blockHead matches what begins a list, a heading or a rule at the start of a paragraph, or a
// command to a CI runner that prints the page.
var blockHead = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*([-+=]+ |[-=]{2,}|[0-9]+[.)] |::)`)
})
