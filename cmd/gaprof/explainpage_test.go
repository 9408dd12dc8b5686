package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gaprof/gaprof/analyze/rules"
)

// TestExplainedRules: in a narrow terminal every rule's text keeps to the width, without marks of Markdown; the change
// stands before what is only looked up, and the events of examples stay away until they are asked for.
func TestExplainedRules(t *testing.T) {
	const width = 60
	for _, r := range rules.All() {
		text := explainedRule(r, width, false)
		at := 0
		for _, title := range []string{"\nBefore\n", "\nAfter", "\nThresholds\n", "\nWhat it costs\n",
			"\nWhen to ignore it\n", "\nWhat it needs\n", "\nExamples\n"} {
			next := strings.Index(text, title)
			if next <= at {
				t.Errorf("%s: %q is missing, or not in its place", r.ID, title)
			}
			at = max(at, next)
		}
		for line := range strings.Lines(text) {
			words := strings.Fields(line)
			isCode := strings.HasPrefix(line, "    ")
			n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n"))
			if n > width && !isCode && len(words) > 1 && !strings.HasPrefix(line, "`") {
				t.Errorf("%s: %d letters: %s", r.ID, n, line)
			}
			if !isCode && (strings.Contains(line, "**") || strings.HasPrefix(line, "#")) ||
				strings.Contains(line, "```") {
				t.Errorf("%s: Markdown: %s", r.ID, line)
			}
		}
		whole := explainedRule(r, width, true)
		if example, ok := rules.Example(r.ID, rules.Fires); !ok || !strings.Contains(whole, example) {
			t.Errorf("%s: the example is not there as it can be read again", r.ID)
		}
		if strings.Contains(text, "cpu_op") || !strings.Contains(whole, "\nIt fires\n") {
			t.Errorf("%s: events without being asked for, or none:\n%s", r.ID, text)
		}
	}
}

// TestWordsOf: lines end neither before a unit nor within code.
func TestWordsOf(t *testing.T) {
	got := strings.Join(wordsOf("an error from 10 %. Of `a b c`, (`d e`) and `f` a\n%"), "|")
	if want := "an|error|from|10 %.|Of|`a b c`,|(`d e`)|and|`f`|a|%"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
