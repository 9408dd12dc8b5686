package docs

import (
	"strings"
	"testing"
)

// TestGlossary: every entry says what the word means in at most two sentences, where it
// appears and where it is defined.
func TestGlossary(t *testing.T) {
	seen := map[string]string{}
	for _, e := range Glossary() {
		name := e.Names[0]
		if e.Text == "" || e.Output == "" || !strings.Contains(e.Definition, ".md") {
			t.Errorf("%s: %+v", name, e)
		}
		if n := sentences(e.Text); n < 1 || n > 2 {
			t.Errorf("%s has %d sentences", name, n)
		}
		if strings.Contains(e.Text, "\n") || strings.Contains(e.Text, "](") {
			t.Errorf("%s: no text for a terminal: %q", name, e.Text)
		}
		for _, n := range e.Names {
			if other := seen[key(n)]; other != "" && other != "step" {
				t.Errorf("%s is %s and %s", n, other, name)
			}
			seen[key(n)] = name
		}
	}
	for _, word := range []string{
		"linked", "exposed", "overlapped", "busy", "ledger", "micro-batch", "kind A", "reduced in", "gradient pass",
		"scale pass", "hook", "step", "window", "sync", "claim", "bound", "saving", "world size", "rank",
		"inconclusive", "doubtful",
	} {
		if len(Find(word)) == 0 {
			t.Errorf("there is no entry %s", word)
		}
	}
}

func sentences(text string) int {
	return strings.Count(text, ". ") + strings.Count(text, ".\n") + 1
}

func TestFind(t *testing.T) {
	for _, c := range []struct{ word, want string }{
		{"Launched", ""}, {"Linked", "linked"}, {"micro batches", "micro-batch"}, {"MICRO-BATCH", "micro-batch"},
		{"ranks", "rank"}, {"verdict", "VERDICT"}, {"hook", "hook"}, {"step", "step hook"},
		{"reduced_in", "reduced in"}, {"nothing", ""}, {"", ""},
	} {
		var got []string
		for _, e := range Find(c.word) {
			got = append(got, e.Names[0])
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.word, got, c.want)
		}
	}
}
