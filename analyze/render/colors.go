package render

import (
	"fmt"
	"strings"
)

// style is how a part of a text looks on a terminal with colours.
type style int

const (
	plain style = iota
	strong
	errorStyle
	warnStyle
	noteStyle
	goodStyle
)

// styles are the attributes of each style. The colours are of the fixed part of the palette of
// 256: they have a contrast of at least 4 to both black and white, so they can be read on dark
// and light ground, whatever the theme makes of the first sixteen.
var styles = [...]string{
	plain:      "",
	strong:     "1",
	errorStyle: "1;38;5;161",
	warnStyle:  "1;38;5;130",
	noteStyle:  "38;5;63",
	goodStyle:  "1;38;5;28",
}

// mark is a coloured part of a line.
type mark struct {
	line, from, to int // bytes
	style          style
}

// painted is a line with its marks, which come in their order and do not overlap.
func painted(line string, marks []mark) string {
	var b strings.Builder
	at := 0
	for _, m := range marks {
		to := min(m.to, len(line))
		if m.from < at || m.from >= to {
			continue
		}
		fmt.Fprintf(&b, "%s\x1b[%sm%s\x1b[0m", line[at:m.from], styles[m.style], line[m.from:to])
		at = to
	}
	return b.String() + line[at:]
}
