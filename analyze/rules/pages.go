package rules

import (
	"embed"
	"strings"

	"github.com/gaprof/gaprof/analyze"
)

// Each rule has a page in pages/: the change as two pieces of PyTorch, each in a fence that
// begins with "```python before" or "```python after" and says there what it needs to run;
// then its thresholds, its cost and when to ignore it. One line of each piece is marked.
//
//go:embed pages/*.md
var pageFiles embed.FS

// marker stands behind the code of a line that matters, with or without a remark.
const marker = "  # <--"

// body is what a rule's page says beside the Doc.
func body(id string) string {
	data, err := pageFiles.ReadFile("pages/" + id + ".md")
	if err != nil {
		return ""
	}
	return string(data)
}

// withLines fills in the lines of code that matter, from the pages.
func withLines(list []analyze.Rule) []analyze.Rule {
	for i := range list {
		doc := &list[i].Doc
		doc.Before, doc.After = markedLines(body(list[i].ID))
	}
	return list
}

// markedLines are the marked line before the change and the one after it.
func markedLines(page string) (before, after string) {
	before, page = nextMarked(page)
	after, _ = nextMarked(page)
	return before, after
}

// nextMarked is the next marked line, with its remark but without the mark, and what follows it.
func nextMarked(page string) (line, rest string) {
	head, rest, ok := strings.Cut(page, marker)
	if !ok {
		return "", ""
	}
	code := strings.TrimSpace(head[strings.LastIndexByte(head, '\n')+1:])
	remark, rest, _ := strings.Cut(rest, "\n")
	if remark != "" {
		code += "  #" + remark
	}
	return code, rest
}
