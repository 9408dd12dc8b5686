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
		b.WriteString("\n## The change\n\n" + text)
	}
	if r.Edit != "" {
		fmt.Fprintf(&b, "\n**Saving.** That of a replay with the edit `%s` where the run can be replayed "+
			"(docs/whatif.md), else at most the cost.\n", r.Edit)
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

// Index is the list of all rules in Markdown, docs/rules/README.md.
func Index() string {
	var b strings.Builder
	b.WriteString("# Rules\n\n| rule | finds |\n|---|---|\n")
	for _, r := range All() {
		fmt.Fprintf(&b, "| [%s](%s.md) | %s |\n", r.ID, r.ID, r.Doc.Title)
	}
	b.WriteString(barForRules)
	return b.String()
}

// barForRules ends the index: what a rule must be, and what was left out so far.
const barForRules = "\n" +
	"A rule earns its place by correctness, frequency and precision: " +
	"one that cries wolf costs more than it finds. Findings about\n" +
	"time follow the exposed time alone and stay silent below 0.1 % of the median step; " +
	"from 1 % they are warnings, from 10 % errors.\n" +
	"Each nanosecond of a step's ledger is claimed once, by the most specific rule.\n" + `
Not rules yet, with the evidence that each would need:

| id | would find | needs |
|---|---|---|
` +
	"| OV002 | reduce-scatters serialized by CUDA_DEVICE_MAX_CONNECTIONS=1 | traces of one loop with and without it: " +
	"one hardware queue starts the kernels of all streams in the order of their launches, but so do streams that " +
	"wait for each other, and no trace records the variable |\n" +
	"| OV005 | all-gather and reduce-scatter delaying each other on one stream | when each could have started: what " +
	"an all-gather waits for beside its stream is not recorded, and both share the links, so that order alone is no " +
	"cost |\n" +
	"| OV006 | tail reduce-scatter of the first layers | nothing of its own: OV001 says how much lies after the last " +
	"kernel of backward; to say which layers it belongs to would take the parameters of each message |\n"
