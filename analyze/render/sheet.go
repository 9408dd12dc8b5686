package render

import (
	"io"
	"strings"

	"github.com/gaprof/gaprof/internal/escape"
)

// sheet is a text being written for a terminal, a pipe or a file.
type sheet struct {
	strings.Builder
	width, height int // of the terminal; 0: a pipe or file
	color         bool
	marks         []mark
	counted       int    // bytes in which newlines were counted
	lines         int    // newlines in them
	again         [2]int // the lines, from and to, that end a text longer than the terminal
}

func (o Options) sheet() *sheet {
	b := &sheet{width: o.Width, height: o.Height, color: o.Color}
	if b.width > 0 {
		b.width = max(b.width, leastWidth)
	}
	return b
}

// most is a width within the terminal's.
func (b *sheet) most(width int) int {
	if b.width > 0 {
		return min(width, b.width)
	}
	return width
}

// line is the number of the line that is being written.
func (b *sheet) line() int {
	text := b.String()
	b.lines += strings.Count(text[b.counted:], "\n")
	b.counted = len(text)
	return b.lines
}

// paint colours a part of the line that is written next.
func (b *sheet) paint(from, to int, s style) {
	if b.color && s != plain && from < to {
		b.marks = append(b.marks, mark{b.line(), from, to, s})
	}
}

// repeat has the lines since one written at the end again where the terminal is too low for
// the whole text.
func (b *sheet) repeat(since int) { b.again = [2]int{since, b.line()} }

// flush writes the lines. Text that is already safe is unchanged; this catches what was
// forgotten, and lines that a CI runner would take for commands.
func (b *sheet) flush(w io.Writer) error {
	lines := strings.Split(escape.Lines(b.String()), "\n")
	marks := make(map[int][]mark)
	for _, m := range b.marks {
		marks[m.line] = append(marks[m.line], m)
	}
	drawn := make([]string, len(lines))
	total := 0
	for i, l := range lines {
		safe := escape.Control(l)
		parts := strings.Split(escape.Lines(strings.Join(fit(safe, b.width), "\n")), "\n")
		if safe == l {
			parts[0] = painted(parts[0], marks[i])
		}
		drawn[i] = strings.Join(parts, "\n")
		total += len(parts)
	}
	text := strings.Join(drawn, "\n")
	if from, to := b.again[0], b.again[1]; b.height > 0 && total > b.height && from < to {
		text += "\n" + strings.Join(drawn[from:min(to, from+max(b.height/2, 3))], "\n") + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}
