package render

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gaprof/gaprof/internal/escape"
)

// grid is the cells of a table as they are drawn; its first row is the header.
type grid struct {
	rows  [][]string
	left  []bool // columns that hold text, aligned to the left
	width []int  // of the columns, in characters
}

// gridOf makes cells safe and measures columns.
func gridOf(t table) *grid {
	g := &grid{width: make([]int, len(t.header)), left: make([]bool, len(t.header))}
	for i := range t.header {
		g.left[i] = i < t.left || i > 6 && i == len(t.header)-1
	}
	for _, row := range append([][]string{t.header}, t.rows...) {
		safe := make([]string, len(row))
		for i, c := range row {
			safe[i] = escape.Control(c)
			g.width[i] = max(g.width[i], utf8.RuneCountInString(safe[i]))
		}
		g.rows = append(g.rows, safe)
	}
	return g
}

// drawText aligns the columns of a table: text to the left, figures to the right.
func drawText(b *sheet, t table) {
	b.WriteString("\n")
	b.paint(0, len(t.title), strong)
	b.WriteString(t.title + "\n")
	g := gridOf(t)
	if b.width == 0 || g.total() <= b.width {
		g.draw(b)
	} else {
		g.within(b, b.width)
	}
	if t.note != "" {
		b.WriteString("  (" + t.note + ")\n")
	}
	for _, m := range t.more {
		for _, part := range wrapLine(b, m, b.most(fullWidth)-4) {
			b.WriteString("  " + part + "\n")
		}
	}
}

// total is how wide the grid is.
func (g *grid) total() int {
	n := 0
	for _, w := range g.width {
		n += 2 + w
	}
	return n
}

// draw prints the rows, cells that are wider than their column in several lines.
func (g *grid) draw(b *sheet) {
	for _, row := range g.rows {
		for _, cells := range g.split(row) {
			var l strings.Builder
			for i, c := range cells {
				gap := strings.Repeat(" ", max(0, g.width[i]-utf8.RuneCountInString(c)))
				if g.left[i] {
					l.WriteString("  " + c + gap)
				} else {
					l.WriteString("  " + gap + c)
				}
			}
			b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
		}
	}
}

// split is a row as the lines that it takes.
func (g *grid) split(row []string) [][]string {
	lines := [][]string{make([]string, len(row))}
	for i, c := range row {
		if utf8.RuneCountInString(c) <= g.width[i] {
			lines[0][i] = c
			continue
		}
		for k, part := range wrapWords(cellWords(c, g.width[i]), g.width[i]) {
			if k == len(lines) {
				lines = append(lines, make([]string, len(row)))
			}
			lines[k][i] = part
		}
	}
	return lines
}

// cellWords are the words at which a cell may be broken; what is wider than the column is
// shortened in its middle.
func cellWords(c string, width int) []string {
	words := unbroken(c)
	for i, word := range words {
		if runes := []rune(word); len(runes) > width {
			tail := width / 3
			words[i] = string(runes[:width-tail-1]) + "…" + string(runes[len(runes)-tail:])
		}
	}
	return words
}

// least is the narrowest that each column can be: its longest word, or half of the terminal.
func (g *grid) least(width int) []int {
	least := make([]int, len(g.width))
	for _, row := range g.rows {
		for i, c := range row {
			for _, word := range cellWords(c, width/2) {
				least[i] = max(least[i], utf8.RuneCountInString(word))
			}
		}
	}
	return least
}

// within draws the grid in so many columns: with cells in several lines, and where that is not
// enough with the last columns below the first, each with those that tell rows apart.
func (g *grid) within(b *sheet, width int) {
	least := g.least(width)
	if g.shrink(least, width) {
		g.draw(b)
		return
	}
	keys, used := 0, 0
	for n := g.keys(); keys < n && used+2+least[keys] <= width/2; keys++ {
		used += 2 + least[keys]
	}
	first := true
	for at := keys; at < len(least); first = false {
		room, to := width-used, at
		for to < len(least) && (to == at || 2+least[to] <= room) {
			room -= 2 + least[to]
			to++
		}
		if !first {
			b.WriteString("\n")
		}
		part := g.columns(keys, at, to)
		part.shrink(part.least(width), width)
		part.draw(b)
		at = to
	}
}

// keys are how many leading columns tell rows apart, all but the last where none do.
func (g *grid) keys() int {
	for n := 1; n < len(g.width); n++ {
		seen := make(map[string]bool)
		for _, row := range g.rows {
			seen[strings.Join(row[:n], "\x00")] = true
		}
		if len(seen) == len(g.rows) {
			return n
		}
	}
	return len(g.width) - 1
}

// shrink narrows the columns that have most to give until the grid fits; false where it
// cannot.
func (g *grid) shrink(least []int, width int) bool {
	for over := g.total() - width; over > 0; over-- {
		most := 0
		for i := range g.width {
			if g.width[i]-least[i] > g.width[most]-least[most] {
				most = i
			}
		}
		if g.width[most] <= least[most] {
			return false
		}
		g.width[most]--
	}
	return true
}

// columns are some of the columns as a grid: the first keys, and those from one to another.
func (g *grid) columns(keys, from, to int) *grid {
	part := &grid{
		width: slices.Concat(g.width[:keys], g.width[from:to]),
		left:  slices.Concat(g.left[:keys], g.left[from:to]),
	}
	for _, row := range g.rows {
		part.rows = append(part.rows, slices.Concat(row[:keys], row[from:to]))
	}
	for i := range part.width {
		part.width[i] = 0
		for _, row := range part.rows {
			part.width[i] = max(part.width[i], utf8.RuneCountInString(row[i]))
		}
	}
	return part
}
