package main

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// section is a part of the navigation: what a reader wants to do, and the pages for it, by their
// path in docs/. A folder with a star stands for all of its pages.
type section struct {
	title string
	pages []string
}

// sections is the navigation. A page that is not there yet is left out.
var sections = []section{
	{"Start", []string{"index.md", "install.md", "first-hour.md", "commands.md", "examples.md"}},
	{"Record a trace", []string{"recording.md", "python.md"}},
	{"Read the result", []string{"report.md", "open.md", "glossary.md", "definitions.md", "communication.md"}},
	{"Rules", []string{"rules/README.md", "rules/*"}},
	{"Compare and gate", []string{"ci.md", "metrics.md", "whatif.md", "formats/diff.md"}},
	{"Several ranks", []string{"ranks.md", "whatif-table.md"}},
	{"The trainer", []string{"models.md", "simulation.md", "formats/trainer.md", "formats/sidecar.md"}},
	{"For agents and programs", []string{"agents.md", "library.md"}},
	{"How it is built", []string{
		"architecture.md", "testing.md", "performance.md", "formats/*", "decisions/README.md", "decisions/*",
	}},
	{"More", []string{"*", "*/*"}},
}

// navigation returns the sections as lines of the configuration. Every page stands in it once.
func navigation(pages []string) string {
	var b strings.Builder
	left := slices.Clone(pages)
	b.WriteString("nav = [\n")
	for _, s := range sections {
		var chosen []string
		for _, pattern := range s.pages {
			left = slices.DeleteFunc(left, func(page string) bool {
				ok, _ := path.Match(pattern, page)
				ok = ok && !named(page, pattern)
				if ok {
					chosen = append(chosen, page)
				}
				return ok
			})
		}
		if len(chosen) > 0 {
			fmt.Fprintf(&b, "  {%q = [%s]},\n", s.title, quoted(chosen))
		}
	}
	b.WriteString("]\n")
	return b.String()
}

// named tells of a page that a pattern matches whether it has a place of its own elsewhere.
func named(page, pattern string) bool {
	return pattern != page && slices.ContainsFunc(sections, func(s section) bool { return slices.Contains(s.pages, page) })
}

func quoted(pages []string) string {
	var all []string
	for _, page := range pages {
		all = append(all, fmt.Sprintf("%q", page))
	}
	return strings.Join(all, ", ")
}
