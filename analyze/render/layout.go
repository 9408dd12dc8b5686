package render

import (
	"strings"
	"unicode/utf8"
)

// leastWidth is the narrowest terminal that is written for, in columns.
const leastWidth = 40

// FitText breaks the lines of a text that are longer than width columns, at spaces where there
// are any, below where their last column begins; 0 leaves them.
func FitText(text string, width int) string {
	if width <= 0 {
		return text
	}
	var list []string
	for l := range strings.SplitSeq(text, "\n") {
		list = append(list, fit(l, max(width, leastWidth))...)
	}
	return strings.Join(list, "\n")
}

// fit breaks one line.
func fit(line string, width int) []string {
	if width <= 0 || utf8.RuneCountInString(line) <= width {
		return []string{line}
	}
	head, indent := headOf(line, width)
	var list []string
	for i, part := range wrapWithin(line[len(head):], width-indent) {
		if i > 0 {
			head = strings.Repeat(" ", indent)
		}
		list = append(list, head+part)
	}
	return list
}

// headOf is what stands before the last column of a line, or its indentation, and the column
// at which the lines below it begin.
func headOf(line string, width int) (head string, indent int) {
	body := strings.TrimLeft(line, " ")
	lead := len(line) - len(body)
	if lead > width/2 {
		return "", 2
	}
	head, indent = line[:lead], min(lead+2, width/2)
	for at := lead; at <= utf8.UTFMax*width; { // no column begins beyond
		gap := strings.Index(line[at:], "  ")
		if gap < 0 {
			break
		}
		at += gap + len(line[at+gap:]) - len(strings.TrimLeft(line[at+gap:], " "))
		if n := utf8.RuneCountInString(line[:at]); n <= width/2 {
			head, indent = line[:at], n
		}
	}
	return head, indent
}

// wrapWithin is wrap with longer words broken too, after punctuation where there is any.
func wrapWithin(text string, width int) []string {
	var words []string
	for _, word := range unbroken(text) {
		words = append(words, pieces(word, width)...)
	}
	return wrapWords(words, width)
}

// mostUnbroken is how long a word may be, in bytes, that keeps what follows.
const mostUnbroken = 40

// unbroken are the words of a text; a figure keeps its percent sign, and a p its figure.
func unbroken(text string) []string {
	var words []string
	for _, word := range strings.Fields(text) {
		n := len(words)
		if n > 0 && len(words[n-1]) < mostUnbroken &&
			(strings.HasPrefix(word, "%") || words[n-1] == "(p" || words[n-1] == "p") {
			words[n-1] += " " + word
			continue
		}
		words = append(words, word)
	}
	return words
}

// pieces are a word in parts of at most width characters.
func pieces(word string, width int) []string {
	if len(word) <= width {
		return []string{word}
	}
	var list []string
	runes := []rune(word)
	for len(runes) > width {
		at := width
		if i := lastIndex(runes[:width], `/\_.,:;()<>=-&|`); i+1 > width/3 {
			at = i + 1
		}
		list = append(list, string(runes[:at]))
		runes = runes[at:]
	}
	return append(list, string(runes))
}

// lastIndex is where the last of some characters stands, -1 for nowhere.
func lastIndex(text []rune, chars string) int {
	for i := len(text) - 1; i >= 0; i-- {
		if strings.ContainsRune(chars, text[i]) {
			return i
		}
	}
	return -1
}

// wrap breaks text at spaces into lines of at most width characters; a longer word
// gets a line of its own.
func wrap(text string, width int) []string { return wrapWords(strings.Fields(text), width) }

func wrapWords(words []string, width int) []string {
	var lines []string
	current := ""
	for _, word := range words {
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
