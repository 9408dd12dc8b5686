package rules

import (
	"fmt"
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/internal/choice"
)

// Page is a rule's page in Markdown: its documentation and its examples. docs/rules
// holds these pages and explain prints them. choices is what the reader calls choices, as
// in analyze.Options.
func Page(r analyze.Rule, choices map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s\n\n%s\n\n**What to change.** %s.\n", r.ID, r.Doc.Title, r.Doc.Why,
		upperFirst(choice.Name(r.Doc.Fix, choices)))
	if text := body(r.ID); text != "" {
		costs, ignore, _ := strings.Cut(text, ignoreTitle)
		b.WriteString("\n## The change\n\n" + costs + saving(r) + ignoreTitle + ignore)
	}
	b.WriteString("\n## What it needs\n\n" + needs(r) + "\n")
	for _, e := range []struct {
		which Which
		title string
	}{{Fires, "It fires"}, {Silent, "It stays silent"}, {Skipped, "It cannot judge"}} {
		if text, ok := Example(r.ID, e.which); ok {
			fmt.Fprintf(&b, "\n## %s\n\n%s\n\n```\n%s```\n", e.title, Caption(text), text)
		}
	}
	return b.String()
}

// ignoreTitle begins what follows the cost in a page.
const ignoreTitle = "\n## When to ignore it\n"

// saving says, below the cost, where the saving of a finding comes from; "" if it is the cost.
func saving(r analyze.Rule) string {
	if r.Edit == "" {
		return ""
	}
	return fmt.Sprintf("\n**Saving.** That of a replay with the edit `%s` where the run can be replayed "+
		"(docs/whatif.md), else at most the cost.\n", r.Edit)
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func needs(r analyze.Rule) string {
	if len(r.Needs) == 0 {
		return "Nothing; it is never skipped."
	}
	names := make([]string, len(r.Needs))
	for i, n := range r.Needs {
		names[i] = n.Name
	}
	return "Without one of these it is skipped, and the report says so: " + strings.Join(names, ", ") + "."
}
