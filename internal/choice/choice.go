// Package choice lets a text of the library name something that its caller may choose,
// without knowing how the caller calls it: the command calls it by a flag, a Go program by
// a field of its options. The text holds the choice in braces, as in "pass {tokens}", and
// whoever hands the text out puts the name in its place.
package choice

import (
	"maps"
	"slices"
	"strings"
)

// inGo is what the choices are called in a Go program. It is also the list of all choices:
// nothing else in braces is replaced.
var inGo = map[string]string{
	"agent":             "in the format agent",
	"against":           "gradients of a right run",
	"align-clocks":      "Options.AlignClocks",
	"baseline":          "baseline",
	"communication":     "Options.Communication",
	"compare-gradients": "those of a right run",
	"drawing":           "Options.Drawing",
	"edit":              "with the edit",
	"json":              "the JSON form",
	"keep-report":       "write the JSON form of a report",
	"normalization":     "Options.Normalization",
	"rank-of-name":      "Options.RankOf, which finds",
	"rank-regex":        "Options.RankOf",
	"show":              "section",
	"some-ranks":        "fewer ranks than there are, if declared",
	"steps":             "Options.Steps",
	"strict":            "strict reading",
	"token-log":         "Options.Logs.Tokens",
	"tokens":            "Options.Logs.Tokens",
	"uniform-tokens":    "Options.UniformTokens",
}

// All lists the choices, for those who must have a name for every one.
func All() []string { return slices.Sorted(maps.Keys(inGo)) }

// Name puts names in the place of the choices of a text. A choice without a name gets that
// of Go programs.
func Name(text string, names map[string]string) string {
	if strings.IndexByte(text, '{') < 0 {
		return text
	}
	for choice, name := range inGo {
		if own, ok := names[choice]; ok {
			name = own
		}
		text = strings.ReplaceAll(text, "{"+choice+"}", name)
	}
	return text
}
