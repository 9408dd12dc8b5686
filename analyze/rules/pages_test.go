package rules_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/rules"
)

// fences are the first lines of pieces of code, with what they need to run.
var fences = regexp.MustCompile("(?m)^```python (before|after)((?: (?:ranks=\\d|differs|requires=\\w+))*)$")

// Every rule has a page that leads with the change as code: one marked line before, one after,
// then when the rule speaks, what it costs and when to leave it alone; the examples come last.
func TestPages(t *testing.T) {
	sections := []string{"## The change", "## Thresholds", "## What it costs", "## When to ignore it",
		"## What it needs", "## It fires"}
	for _, r := range rules.All() {
		page := rules.Page(r, nil)
		at := 0
		for _, s := range sections {
			next := strings.Index(page, "\n"+s+"\n")
			if next < at {
				t.Errorf("%s: %q is missing, or not in its place", r.ID, s)
			}
			at = max(at, next)
		}
		var order []string
		for _, m := range fences.FindAllStringSubmatch(page, -1) {
			order = append(order, m[1])
		}
		if !slices.Equal(order, []string{"before", "after"}) {
			t.Errorf("%s: pieces of code are %q", r.ID, order)
		}
		for _, line := range []string{r.Doc.Before, r.Doc.After} {
			if line == "" || len(line) > 120 || strings.Contains(line, "<--") || line != strings.TrimSpace(line) {
				t.Errorf("%s: the marked line is %q", r.ID, line)
			}
		}
		if r.Doc.Before == r.Doc.After {
			t.Errorf("%s: the marked line is the same before and after: %q", r.ID, r.Doc.After)
		}
		if n := strings.Count(page, "# <--"); n != 2 {
			t.Errorf("%s: %d marked lines", r.ID, n)
		}
	}
}
