package main

import (
	"fmt"
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/rules"
)

// explainedRule is a rule's page for a terminal. Its examples are long, and would push the change out of
// sight: without being asked for, only what they show stands there.
func explainedRule(r analyze.Rule, width int, examples bool) string {
	page := rules.Page(r, flagNames)
	if examples {
		return unmarked(page, width)
	}
	page, _, _ = strings.Cut(page, "\n## It fires\n")
	var b strings.Builder
	b.WriteString(unmarked(page, width) + "\nExamples\n")
	for _, e := range []struct {
		which rules.Which
		title string
	}{{rules.Fires, "It fires. "}, {rules.Silent, "It stays silent. "}, {rules.Skipped, "It cannot judge. "}} {
		if text, ok := rules.Example(r.ID, e.which); ok {
			b.WriteString(indented(folded(e.title+rules.Caption(text), width-2)))
		}
	}
	fmt.Fprintf(&b, "  gaprof explain %s --examples prints their events.\n", r.ID)
	return b.String()
}

// unmarked is the Markdown of a rule's page without its marks, in lines of a width. Code keeps its lines; that of
// the change is indented.
func unmarked(page string, width int) string {
	var b strings.Builder
	code, margin := false, ""
	for line := range strings.Lines(page) {
		text := strings.TrimSuffix(line, "\n")
		fence, isFence := strings.CutPrefix(text, "```")
		switch {
		case isFence && code:
			code = false
		case isFence:
			title := codeTitle(fence)
			b.WriteString(title)
			code, margin = true, strings.Repeat(" ", min(4, len(title)))
		case code && text != "":
			b.WriteString(margin + line)
		case text == "" || code:
			b.WriteByte('\n')
		default:
			text = strings.ReplaceAll(strings.TrimLeft(text, "# "), "**", "")
			b.WriteString(folded(text, width))
		}
	}
	return b.String()
}

// codeTitle says which piece of code follows, from the words after its fence, which also say what it needs to run.
func codeTitle(words string) string {
	kind, needs, _ := strings.Cut(strings.TrimPrefix(words, "python "), " ")
	switch {
	case kind == "before":
		return "Before\n"
	case kind == "after" && strings.Contains(needs, "differs"):
		return "After (the gradients change)\n"
	case kind == "after":
		return "After\n"
	}
	return ""
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}
