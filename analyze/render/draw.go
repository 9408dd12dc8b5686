package render

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/gaprof/gaprof/internal/escape"
)

func flush(w io.Writer, b *strings.Builder) error {
	_, err := io.WriteString(w, b.String())
	return err
}

// flushText writes the lines of a text format. Text that is already safe is unchanged; this
// catches what was forgotten, and lines that a CI runner would take for commands.
func flushText(w io.Writer, b *strings.Builder) error {
	lines := strings.Split(escape.Lines(b.String()), "\n")
	for i := range lines {
		lines[i] = escape.Control(lines[i])
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n"))
	return err
}

// Where the right-hand column of the verdict begins, and where lines without one end: of
// a report, and of everything else.
const (
	verdictWidth = 86
	fullWidth    = 110
	diffWidth    = 100
)

// line prints a labelled sentence, wrapped, with a word at the right of its first line.
func line(b *strings.Builder, head, text, right string) {
	width := fullWidth
	if right != "" {
		width = verdictWidth - 2
	}
	for i, part := range wrap(escape.Control(text), width-9) {
		left := fmt.Sprintf("%-8s %s", head, part)
		if i == 0 && right != "" {
			left += strings.Repeat(" ", max(2, verdictWidth-utf8.RuneCountInString(left))) + right
		}
		b.WriteString(left + "\n")
		head = ""
	}
}

// wrap breaks text at spaces into lines of at most width characters; a longer word
// gets a line of its own.
func wrap(text string, width int) []string {
	var lines []string
	current := ""
	for _, word := range strings.Fields(text) {
		if current != "" && utf8.RuneCountInString(current)+1+utf8.RuneCountInString(word) > width {
			lines, current = append(lines, current), ""
		}
		if current != "" {
			current += " "
		}
		current += word
	}
	return append(lines, current)
}

// cut shortens text to n characters.
func cut(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return s
}

// drawText aligns the columns of a table: text to the left, figures to the right.
func drawText(b *strings.Builder, t table) {
	widths := make([]int, len(t.header))
	for _, row := range append([][]string{t.header}, t.rows...) {
		for i, c := range row {
			c = escape.Control(c)
			row[i], widths[i] = c, max(widths[i], utf8.RuneCountInString(c))
		}
	}
	fmt.Fprintf(b, "\n%s\n", t.title)
	for _, row := range append([][]string{t.header}, t.rows...) {
		var l strings.Builder
		for i, c := range row {
			gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c))
			switch last := i == len(row)-1 && i > 6; {
			case i < t.left || last:
				l.WriteString("  " + c + gap)
			default:
				l.WriteString("  " + gap + c)
			}
		}
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	if t.note != "" {
		fmt.Fprintf(b, "  (%s)\n", t.note)
	}
	for _, m := range t.more {
		for _, part := range wrap(escape.Control(m), fullWidth-4) {
			b.WriteString("  " + part + "\n")
		}
	}
}

// sentence is one statement under a head word that says of what sort it is.
type sentence struct{ head, text string }

// drawSentences prints sentences, wrapped, their head words to the left.
func drawSentences(b *strings.Builder, list []sentence) {
	for _, s := range list {
		head := s.head
		for _, part := range wrap(escape.Control(s.text), diffWidth-9) {
			b.WriteString(strings.TrimRight(fmt.Sprintf("%-8s %s", head, part), " ") + "\n")
			head = ""
		}
	}
}
