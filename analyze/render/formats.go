package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/straggler"
)

// Format is one way to write a T.
type Format[T any] struct {
	Name  string                                   // as callers ask for it, such as md
	Write func(w io.Writer, of T, o Options) error // all of it, in this form
}

// Formats are the ways to write a T, in the order of help texts.
type Formats[T any] []Format[T]

// The one table of what can be written in which format.
var (
	Reports = Formats[*report.Report]{
		{"text", Text},
		{"json", JSON},
		{"csv", CSV},
		{"md", Markdown},
		{"html", HTML},
		{"github", GitHub},
		{"gobench", GoBench},
		{"agent", Agent},
		{"sarif", SARIF},
	}
	Differences = Formats[*compare.Diff]{
		{"text", DiffText}, {"json", asJSON[*compare.Diff]}, {"md", DiffMarkdown}, {"html", DiffHTML},
		{"agent", DiffAgent},
	}
	Checks = Formats[Checked]{
		{"text", CheckText},
		{"json", CheckJSON},
		{"md", CheckMarkdown},
		{"github", CheckGitHub},
		{"gobench", CheckGoBench},
		{"html", CheckHTML},
		{"agent", CheckAgent},
		{"sarif", CheckSARIF},
		{"junit", CheckJUnit},
		{"comment", CheckComment},
	}
	Predictions = Formats[*report.WhatIf]{
		{"text", WhatIfText}, {"json", asJSON[*report.WhatIf]}, {"md", WhatIfMarkdown},
		{"html", WhatIfHTML}, {"agent", WhatIfAgent},
	}
	Calibrations = Formats[*report.Calibration]{
		{"text", CalibrationText}, {"json", asJSON[*report.Calibration]}, {"md", CalibrationMarkdown},
	}
	Audits = Formats[*normalization.Report]{
		{"text", NormText}, {"json", asJSON[*normalization.Report]}, {"md", NormMarkdown},
	}
	Stragglers = Formats[*straggler.Result]{
		{"text", StragglerText}, {"json", asJSON[*straggler.Result]}, {"md", StragglerMarkdown},
		{"html", StragglerHTML},
	}
)

// Names lists the formats.
func (list Formats[T]) Names() []string {
	names := make([]string, len(list))
	for i, f := range list {
		names[i] = f.Name
	}
	return names
}

// ByName returns the format called name.
func (list Formats[T]) ByName(name string) (Format[T], error) {
	for _, f := range list {
		if f.Name == name {
			return f, nil
		}
	}
	return Format[T]{}, fmt.Errorf("unknown format %q (%s)", name, strings.Join(list.Names(), ", "))
}

// asJSON writes a value that is a contract of its own.
func asJSON[T any](w io.Writer, value T, _ Options) error { return encode(w, value) }
