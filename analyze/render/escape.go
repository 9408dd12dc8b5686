package render

import (
	"regexp"
	"strings"
	"sync"
	"unicode"

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
// GitHub and others make links and mentions of without any: those get a space of no width
// into them.
var markdownSpecial = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;",
	"|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`,
	"!", `\!`, "#", `\#`, "~", `\~`, "$", `\$`,
	"@", "&#64;&#8203;", "://", ":&#8203;//", "www.", "www&#8203;.",
	"\\", `\\`,
)

// markdownInline escapes what is part of a line, such as a cell, and cuts nothing.
func markdownInline(s string) string { return markdownSpecial.Replace(escape.Control(s)) }

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

// blockHead is what begins a list, a heading or a rule at the head of a paragraph, or is a
// command to a runner of CI that prints the page.
var blockHead = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*([-+=]+ |[-=]{2,}|[0-9]+[.)] |::)`)
})
