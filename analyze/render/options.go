package render

import (
	"slices"
	"time"

	"github.com/gaprof/gaprof/internal/choice"
)

// Options choose what the formats show. The zero value is the plain report.
type Options struct {
	Show  []string  // sections besides the summary: see Sections
	Quiet bool      // the verdict only
	Made  time.Time // when the page was made; zero: it does not say

	// Of the terminal that text is written to, in columns and lines. Width 0 is a pipe or a
	// file: sentences end at most at column 110, tables keep all columns. A text of more lines
	// than a Height above 0 ends with its verdict once more.
	Width, Height int
	Color         bool // in text

	// Links stand at the head of a page that is served, relative to its address.
	Links []Link

	// Inputs are what the user called each run, a list of paths or patterns each: one of a report,
	// two of a diff. Commands that the format agent names repeat them.
	Inputs [][]string

	// Rule looks up the page of a rule; nil: there are none.
	Rule func(id string) (RuleText, bool)

	// Choices is what the caller calls its choices, as in analyze.Options.
	Choices map[string]string
}

// RuleText is what the page of a rule says, in words.
type RuleText struct{ Title, Why, Fix, Before, After string }

// name replaces the choices in a text by the caller's names for them.
func (o Options) name(text string) string { return choice.Name(text, o.Choices) }

func (o Options) shows(section string) bool { return slices.Contains(o.Show, section) }

// Sections are the names that Options.Show knows.
func Sections() []string {
	return []string{"findings", "top", "groups", "memory", "ranks", "health", "whatif"}
}

// Link leads from a page to another one.
type Link struct{ Text, Href string }
