package render

import (
	"slices"
	"time"

	"github.com/gaprof/gaprof/internal/choice"
)

// Options are choices of the text and Markdown forms.
type Options struct {
	Show  []string  // sections besides the summary: see Sections
	Quiet bool      // the verdict only
	Made  time.Time // when, for pages that say so; zero: they do not

	// Choices is what the caller calls its choices, as in analyze.Options.
	Choices map[string]string
}

// name puts the caller's names in the place of the choices of a text.
func (o Options) name(text string) string { return choice.Name(text, o.Choices) }

func (o Options) shows(section string) bool { return slices.Contains(o.Show, section) }

// Sections are the names that Options.Show knows.
func Sections() []string { return []string{"findings", "top", "groups", "ranks", "health"} }
