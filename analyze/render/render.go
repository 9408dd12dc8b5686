// Package render draws an analyze.Report: text for a terminal, JSON by the
// contract, CSV for a sheet, Markdown for a pull request. It computes nothing that
// the report does not hold.
//
// Names in a report come from the trace and are not trusted: each format escapes
// them in its own way.
package render

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/gaprof/gaprof/analyze/report"
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

// Format is one way to write a report.
type Format struct {
	Name  string
	Write func(w io.Writer, r *report.Report, o Options) error
}

// formats is the table of all formats.
var formats = []Format{
	{"text", Text},
	{"json", JSON},
	{"csv", CSV},
	{"md", Markdown},
	{"html", HTML},
	{"github", GitHub},
	{"gobench", GoBench},
}

// Sections are the names that Options.Show knows.
func Sections() []string { return []string{"findings", "top", "groups", "ranks", "health"} }

// FormatNames lists the formats in the order of help texts.
func FormatNames() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name
	}
	return names
}

// ByName returns the format called name.
func ByName(name string) (Format, error) {
	for _, f := range formats {
		if f.Name == name {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("unknown format %q (%s)", name, strings.Join(FormatNames(), ", "))
}
