// Package docs holds the words of the output that the program explains: the page docs/glossary.md.
package docs

import (
	_ "embed"
	"path"
	"regexp"
	"strings"
	"sync"
)

//go:embed glossary.md
var glossary string

// Entry is one entry of the glossary.
type Entry struct {
	Names      []string // as the output has them; the first is its title
	Text       string   // what it means, in a sentence or two
	Output     string   // where it appears
	Definition string   // the page and heading that define it, from the root of the repository
}

// Glossary returns all entries in the order of the page.
var Glossary = sync.OnceValue(func() []Entry {
	var all []Entry
	for _, section := range strings.Split(glossary, "\n### ")[1:] {
		title, rest, _ := strings.Cut(section, "\n")
		rest, _, _ = strings.Cut(rest, "\n## ")
		all = append(all, entry(title, rest))
	}
	return all
})

var where = regexp.MustCompile(`(?s)^In the output: (.*)\. Definition: \[[^\]]*\]\(([^)]*)\)\.$`)

// entry reads an entry: paragraphs, of which the last says where the word appears and is defined.
func entry(title, text string) Entry {
	e := Entry{Names: strings.Split(title, ", ")}
	text, last, _ := cutLast(strings.TrimSpace(text), "\n\n")
	e.Text = strings.ReplaceAll(text, "\n", " ")
	if m := where.FindStringSubmatch(strings.ReplaceAll(last, "\n", " ")); m != nil {
		e.Output, e.Definition = m[1], path.Join("docs", m[2])
	}
	return e
}

func cutLast(text, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(text, sep); i >= 0 {
		return text[:i], text[i+len(sep):], true
	}
	return text, "", false
}

// Find returns the entries of a word: the one of that name, or more where a word has several meanings. Case, hyphens
// and a plural do not count.
func Find(word string) []Entry {
	var found []Entry
	for _, e := range Glossary() {
		for _, name := range e.Names {
			if key(name) == key(word) {
				found = append(found, e)
				break
			}
		}
	}
	return found
}

// Names returns every word that Find knows.
func Names() []string {
	var all []string
	for _, e := range Glossary() {
		all = append(all, e.Names...)
	}
	return all
}

func key(word string) string {
	words := strings.FieldsFunc(strings.ToLower(word), func(r rune) bool { return strings.ContainsRune(" -_", r) })
	return strings.TrimRight(strings.Join(words, " "), "es")
}
