package render

import (
	"fmt"
	"strings"
)

// table is rows of cells with a title, a note on its definitions and a header;
// text and Markdown draw the same tables.
type table struct {
	title  string
	header []string
	rows   [][]string
	note   string
	more   []string // sentences below the table; they may hold names from the trace
	fold   bool     // on a page only its title is shown at first
	open   bool     // a page shows it however long it is
	left   int      // how many columns, from the left, hold text
}

// mostRows is how many rows of a table a page shows.
const mostRows = 500

// first is the table with at most mostRows rows, whose note says how many there are.
func (t table) first() table {
	if n := len(t.rows); n > mostRows {
		t.note += fmt.Sprintf("; the first %d of %d rows", mostRows, n)
		t.rows = t.rows[:mostRows]
	}
	return t
}

func drawMarkdown(b *strings.Builder, t table) {
	fmt.Fprintf(b, "\n## %s\n\n%s|", markdownInline(t.title), markdownRow(t.header))
	for i := range t.header {
		if i < t.left {
			b.WriteString("---|")
		} else {
			b.WriteString("---:|")
		}
	}
	b.WriteString("\n")
	for _, row := range t.rows {
		b.WriteString(markdownRow(row))
	}
	if t.note != "" {
		fmt.Fprintf(b, "\n%s\n", markdownText(t.note))
	}
	for _, m := range t.more {
		fmt.Fprintf(b, "\n%s\n", markdownText(m))
	}
}

func markdownRow(row []string) string {
	cells := make([]string, len(row))
	for i, c := range row {
		cells[i] = markdownInline(c)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}
