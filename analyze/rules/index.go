package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze"
)

// severities are those of rules that do not go by the exposed time, or do so within limits.
var severities = map[string]string{
	"AC002": "by cost; note if hidden", "AC001": "by cost; note if hidden",
	"AC003": "by cost; note if hidden", "AC004": "by cost; note if hidden",
	"GS005": "by cost; note if in doubt",
	"AC005": "note", "CL003": "note", "CL004": "warn", "OP002": "error", "GS007": "error", "GS008": "error",
	"NM001": "error; note if only declared", "NM002": "error; note if only declared",
	"NM003": "error; note if only declared", "NM004": "error; note if in doubt",
	"ST002": "warn or note", "TH001": "warn or note", "TH003": "warn or note", "TH004": "warn or note",
	"TH005": "warn or note",
	"TH002": "warn", "TH006": "warn",
}

// families are the first letters of rules, and what they are about.
var families = []struct{ prefix, about string }{
	{"OV", "Communication that nothing hides"},
	{"AC", "Accumulation and reduction of gradients"},
	{"GS", "Scaling and clearing of gradients"},
	{"CL", "Norms and clipping"},
	{"OP", "The optimizer"},
	{"NM", "The weight of each token"},
	{"ID", "Devices that wait for the host"},
	{"ST", "Ranks that wait for each other"},
	{"TH", "The trace itself"},
}

// Index is the list of all rules in Markdown, docs/rules/README.md.
func Index() string {
	var b strings.Builder
	b.WriteString("# Rules\n\nWhat gaprof looks for. Each rule has a page, which `gaprof explain RULE` prints: " +
		"what it means, the code before and after,\nits thresholds, what it costs and when to ignore it.\n\n" +
		"**By cost**: an error from 10 % of the median step, a warning from 1 %, a note below; silent below 0.1 %. " +
		"Severities are defined in\n[definitions](../definitions.md#cost-saving-severity).\n")
	for _, family := range families {
		fmt.Fprintf(&b, "\n## %s\n\n| rule | severity | finds |\n|---|---|---|\n", family.about)
		for _, r := range byID() {
			if strings.HasPrefix(r.ID, family.prefix) {
				fmt.Fprintf(&b, "| [%s](%s.md) | %s | %s |\n", r.ID, r.ID, severityOf(r.ID), r.Doc.Title)
			}
		}
	}
	b.WriteString(barForRules)
	return b.String()
}

func byID() []analyze.Rule {
	return slices.SortedFunc(slices.Values(All()), func(a, b analyze.Rule) int { return strings.Compare(a.ID, b.ID) })
}

func severityOf(id string) string {
	if s, ok := severities[id]; ok {
		return s
	}
	return "by cost"
}

// barForRules ends the index: what a rule must be, and what was left out so far.
const barForRules = "\n## What a rule must be\n\n" +
	"A rule earns its place by correctness, frequency and precision: " +
	"one that cries wolf costs more than it finds. Findings about\n" +
	"time follow the exposed time alone. Each nanosecond of a step's ledger is claimed once, " +
	"by the most specific rule.\n" + `
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
