package render

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/escape"
)

func flush(w io.Writer, b *strings.Builder) error {
	_, err := io.WriteString(w, b.String())
	return err
}

// Where the right-hand column of the verdict begins, and where lines without one end: of
// a report, and of everything else.
const (
	verdictWidth = 86
	fullWidth    = 110
	diffWidth    = 100
)

// saying is a labelled sentence with a word at its right.
type saying struct {
	head, text, right string
	severity          report.Severity
}

// line prints a labelled sentence, wrapped, with a word at the right of its first line, or of
// its last on a terminal that is too narrow for a column of such words.
func line(b *sheet, s saying) {
	if b.width > 0 && b.width < fullWidth && s.right != "" {
		narrowLine(b, s)
		return
	}
	width := b.most(fullWidth)
	if s.right != "" {
		width = verdictWidth - 2
	}
	head := s.head
	for i, part := range wrapLine(b, s.text, width-9) {
		left := fmt.Sprintf("%-8s %s", head, part)
		b.paint(0, len(head), s.style())
		if i == 0 && s.right != "" {
			left += strings.Repeat(" ", max(2, verdictWidth-utf8.RuneCountInString(left)))
			b.paint(len(left), len(left)+len(s.right), severityStyle(s.severity))
			left += s.right
		}
		b.WriteString(left + "\n")
		head = ""
	}
}

// style is that of the head.
func (s *saying) style() style {
	if s.head == "" {
		return plain
	}
	return severityStyle(s.severity)
}

// narrowLine puts the word at the right of the last line, or of one more.
func narrowLine(b *sheet, s saying) {
	parts := wrapLine(b, s.text, b.width-9)
	last := utf8.RuneCountInString(parts[len(parts)-1])
	if last+2+utf8.RuneCountInString(s.right) > b.width-9 {
		parts = append(parts, "")
	}
	head := s.head
	for i, part := range parts {
		left := fmt.Sprintf("%-8s %s", head, part)
		b.paint(0, len(head), s.style())
		if i == len(parts)-1 {
			left += strings.Repeat(" ", max(0, b.width-utf8.RuneCountInString(left)-utf8.RuneCountInString(s.right)))
			b.paint(len(left), len(left)+len(s.right), severityStyle(s.severity))
			left += s.right
		}
		b.WriteString(left + "\n")
		head = ""
	}
}

// wrapLine wraps a text; words that are longer stay whole, but for a terminal.
func wrapLine(b *sheet, text string, width int) []string {
	if b.width > 0 {
		return wrapWithin(escape.Control(text), width)
	}
	return wrap(escape.Control(text), width)
}

// sentence is one statement under a head word that says of what sort it is.
type sentence struct{ head, text string }

// drawSentences prints sentences, wrapped, their head words to the left.
func drawSentences(b *sheet, list []sentence) {
	for _, s := range list {
		head, style := s.head, sentenceStyle(s)
		for _, part := range wrapLine(b, s.text, b.most(diffWidth)-9) {
			b.paint(0, len(head), style)
			b.WriteString(strings.TrimRight(fmt.Sprintf("%-8s %s", head, part), " ") + "\n")
			head = ""
		}
	}
}

// sayAll prints sentences of a report, or of what is like one.
func sayAll(b *sheet, list []sentence) {
	for _, s := range list {
		line(b, saying{head: s.head, text: s.text})
	}
}

// severityStyle is the style of a severity.
func severityStyle(s report.Severity) style {
	switch s {
	case report.Error:
		return errorStyle
	case report.Warn:
		return warnStyle
	case report.Note:
		return noteStyle
	}
	return strong
}

// sentenceStyle is the style of a sentence's head: by the severity or verdict with which its
// text begins.
func sentenceStyle(s sentence) style {
	words := strings.Fields(s.text[:min(len(s.text), 100)])
	if s.head == "FIXED" {
		return goodStyle
	}
	for _, word := range words[:min(len(words), 2)] {
		switch word {
		case "error:", "fail:":
			return errorStyle
		case "warn:", "inconclusive:":
			return warnStyle
		case "note:":
			return noteStyle
		case "pass:":
			return goodStyle
		}
	}
	return strong
}
