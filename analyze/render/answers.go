package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/render/plots"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// The three questions that a page answers, each with its figure. What cannot be
// answered is Unknown, with the reason and what to record for an answer.

// passSection answers whether a pass over the gradients is needless.
func passSection(r *report.Report) section {
	s := section{
		id:      "passes",
		title:   "1. Is a pass over the gradients needless, and what does it cost?",
		figures: plots.Of(r, plots.Passes),
	}
	verdicts := make(map[report.Verdict]int)
	for i := range r.GradientPasses {
		verdicts[r.GradientPasses[i].Verdict]++
	}
	switch reason := skipReason(r, "GS001"); {
	case verdicts[report.Needless] > 0:
		s.answer = "Yes, needless"
	case verdicts[report.Avoidable] > 0:
		s.answer = "Avoidable"
	case reason != "":
		s.answer, s.words = "Unknown", []string{reason}
	case len(r.Steps) == 0:
		s.answer, s.words = "Unknown", []string{"There are no optimizer steps in the trace."}
	case verdicts[report.UnknownVerdict] > 0:
		s.answer = "Unknown"
	case len(r.GradientPasses) == 0:
		s.answer = "None seen"
		s.words = []string{"No step makes a pass of its own over all gradients. " +
			"Compiled code has no operators and would not be seen."}
	default:
		s.answer = "No"
	}
	s.words = append(s.words, passWords(r)...)
	s.words = append(s.words, findingWords(r, "GS", "CL")...)
	return s
}

// passWords count the passes by verdict, with the reason of each.
func passWords(r *report.Report) []string {
	type sort struct {
		what    string
		verdict report.Verdict
		reason  string
	}
	count := make(map[sort]int)
	span := make(map[sort]int64)
	var order []sort
	for i := range r.GradientPasses {
		p := &r.GradientPasses[i]
		k := sort{spaced(p.Kind) + " " + spaced(p.Where), p.Verdict, p.Reason}
		if count[k] == 0 {
			order = append(order, k)
		}
		count[k]++
		span[k] += p.Span
	}
	words := make([]string, 0, len(order))
	for _, k := range order {
		text := fmt.Sprintf("%s: %s, %d in %s, %s ms each",
			k.what, k.verdict, count[k], units.Count(stepCount(r), "step"), millis(span[k]/int64(count[k])))
		if k.reason != "" {
			text += "; " + k.reason
		}
		words = append(words, text)
	}
	return words
}

// stepCount is the number of steps, over all ranks.
func stepCount(r *report.Report) int {
	seen := make(map[[2]int64]bool)
	for i := range r.Steps {
		seen[[2]int64{r.Steps[i].Rank, int64(r.Steps[i].Index)}] = true
	}
	return len(seen)
}

// findingWords are the messages of the findings of some families of rules.
func findingWords(r *report.Report, families ...string) []string {
	var words []string
	for i := range r.Findings {
		f := &r.Findings[i]
		if slices.ContainsFunc(families, func(family string) bool { return strings.HasPrefix(f.Rule, family) }) {
			text := fmt.Sprintf("%s %s: %s", f.Rule, f.Severity, f.Message)
			if f.Why != "" {
				text += ". Why: " + f.Why
			}
			words = append(words, text)
		}
	}
	return words
}

func skipReason(r *report.Report, rule string) string {
	for _, s := range r.Skipped {
		if s.Rule == rule {
			return s.Reason
		}
	}
	return ""
}

// overlapSection answers how much of the reductions of gradients is hidden, and why not
// more.
func overlapSection(r *report.Report) section {
	kind := reducingKind(r)
	s := section{
		id:      "overlap",
		title:   "2. How much of each " + spaced(kind) + " is hidden, and why not more?",
		figures: plots.Of(r, plots.Overlap),
	}
	var rows []report.Collectives
	for _, c := range r.Collectives {
		if c.Kind == kind && c.Ratio != nil {
			rows = append(rows, c)
		}
	}
	if len(rows) == 0 {
		s.answer, s.words = withoutReductions(r, kind)
		return s
	}
	s.answer, s.words = hiddenWords(rows, kind)
	if kind != "reduce_scatter" {
		s.words = append(s.words, "There is no reduce-scatter in the trace: gradients are reduced by "+spaced(kind)+".")
	}
	why := findingWords(r, "OV", "ST001")
	if len(why) == 0 && len(r.Steps) > 0 {
		why = []string{cmp.Or(skipReason(r, exposureRules[kind]), exposedWords(r.Time, kind))}
	}
	s.words = append(s.words, why...)
	s.words = append(s.words, otherKinds(r, kind)...)
	groups := groupTable(r)
	groups.title = "Each group of " + spaced(kind) + "s, ms"
	groups.rows = slices.DeleteFunc(groups.rows, func(row []string) bool { return row[2] != spaced(kind) })
	s.tables = []table{groups}
	return s
}

// withoutReductions is the answer where no collective on a device reduces gradients: what else
// communicates, and what is found of that.
func withoutReductions(r *report.Report, kind string) (answer string, words []string) {
	var others []string
	for i := range r.Collectives {
		if c := &r.Collectives[i]; c.Kind != kind && c.Ratio != nil && !slices.Contains(others, spaced(c.Kind)) {
			others = append(others, spaced(c.Kind))
		}
	}
	if len(others) == 0 {
		reason := cmp.Or(skipReason(r, exposureRules[kind]), "No collectives on a device were recorded.")
		return "Unknown", []string{reason}
	}
	words = []string{"Neither reduce-scatters nor all-reduces run on a device in this trace, only: " +
		strings.Join(others, ", ") + "."}
	words = append(words, findingWords(r, "OV", "ST001")...)
	return "None seen", append(words, otherKinds(r, kind)...)
}

// exposureRules are the rules that look at what is exposed of the kinds that reduce gradients.
var exposureRules = map[string]string{"reduce_scatter": "OV001", "all_reduce": "OV008"}

// exposedWords say what is exposed of a kind of which no finding speaks.
func exposedWords(t *report.Time, kind string) string {
	if t == nil {
		return "How much of it is exposed in the steps is unknown."
	}
	for i := range t.Parts {
		if p := &t.Parts[i]; p.What == kind {
			return "In a mean step " + partText(t, p) + ", which no finding covers."
		}
	}
	return "None of it is exposed in the steps."
}

// otherKinds say what is exposed of other kinds of collectives of which no finding speaks, in
// one sentence.
func otherKinds(r *report.Report, kind string) []string {
	if r.Time == nil {
		return nil
	}
	var parts []string
	for i := range r.Time.Parts {
		switch p := &r.Time.Parts[i]; p.What {
		case kind, report.ComputePart, report.MemoryPart, report.IdlePart:
		default:
			if namedBy(r, p) == "" {
				parts = append(parts, partText(r.Time, p))
			}
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{"No finding covers: " + strings.Join(parts, ", ") + "."}
}

// reducingKind is the kind of collective that reduces gradients: reduce_scatter unless
// there is none.
func reducingKind(r *report.Report) string {
	for _, kind := range []string{"reduce_scatter", "all_reduce"} {
		if slices.ContainsFunc(r.Collectives, func(c report.Collectives) bool { return c.Kind == kind }) {
			return kind
		}
	}
	return "reduce_scatter"
}

func hiddenWords(rows []report.Collectives, kind string) (string, []string) {
	var busy, over int64
	low, high := *rows[0].Ratio, *rows[0].Ratio
	sites := make(map[report.LaunchSite]int)
	for _, c := range rows {
		busy, over = busy+c.Busy, over+c.Overlapped
		low, high = min(low, *c.Ratio), max(high, *c.Ratio)
		for _, site := range c.Sites {
			sites[report.LaunchSite{Site: site.Site, Name: site.Name}] += site.Count
		}
	}
	text := fmt.Sprintf("Of %s ms in %s kernels %s ms run together with compute kernels and %s ms are exposed "+
		"(whole recording", millis(busy), spaced(kind), millis(over), millis(busy-over))
	if len(rows) > 1 {
		text += fmt.Sprintf(", sum of %d ranks; by rank %.1f %% to %.1f %% are hidden", len(rows), 100*low, 100*high)
	}
	return share(over, busy) + " hidden", []string{text + ").", "Launched from: " + siteWords(sites) + "."}
}

// siteWords lists launch sites, the most frequent first.
func siteWords(counts map[report.LaunchSite]int) string {
	list := make([]report.LaunchSite, 0, len(counts))
	for s, n := range counts {
		list = append(list, report.LaunchSite{Site: s.Site, Name: short(s.Name), Count: n})
	}
	slices.SortFunc(list, func(a, b report.LaunchSite) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Site, b.Site), cmp.Compare(a.Name, b.Name))
	})
	return sites(list)
}

// modes says what a mode of normalization means.
var modes = map[string]string{
	"global":     "Over all tokens",
	"per_rank":   "Per rank",
	"micro_mean": "Per micro-batch",
	"sum":        "Not normalized",
}

// normalizationSection answers what gradients are divided by.
func normalizationSection(r *report.Report) section {
	n := &r.Normalization
	s := section{
		id:      "normalization",
		title:   "3. Are gradients normalized over all tokens or per rank?",
		answer:  cmp.Or(modes[n.Mode], "Unknown"),
		figures: plots.Of(r, plots.Tokens),
		tables:  []table{tokenTable(r)},
	}
	if n.Evidence != "" {
		s.words = append(s.words, n.Evidence)
	}
	if modes[n.Mode] != "" {
		s.words = append(s.words, modeWords(n))
	}
	if n.Declared != "" {
		s.words = append(s.words, "Declared: "+n.Declared+".")
	}
	s.words = append(s.words, reductionWords(r)...)
	s.words = append(s.words, findingWords(r, "NM")...)
	return s
}

// modeWords say what a known mode rests on and what it makes of a token's weight.
func modeWords(n *report.Normalization) string {
	text := "Known from: " + cmp.Or(n.Basis, "unknown") + "."
	if n.Factor != "" && n.Factor != "1" {
		text += " All of it is multiplied by " + n.Factor + "."
	}
	if n.Ratio != nil {
		text += fmt.Sprintf(" The gradient of a token has %.6g to %.6g times the right weight, 1/N.",
			n.Ratio.Min, n.Ratio.Max)
	}
	return text
}

// reductionWords say whether ranks add up their token counts, one sentence for all ranks that do the same.
func reductionWords(r *report.Report) []string {
	ranks := make(map[string][]int64)
	var order []string
	for i := range r.TokenAllReduce {
		t := &r.TokenAllReduce[i]
		if t.Present == nil {
			continue
		}
		how := tokenText(t)
		if ranks[how] == nil {
			order = append(order, how)
		}
		ranks[how] = append(ranks[how], t.Rank)
	}
	var words []string
	for _, how := range order {
		words = append(words, fmt.Sprintf("All-reduce of a token count: %s (rank %s).", how, ranges(ranks[how])))
	}
	return words
}

// tokenTable lists the token counts of one step.
func tokenTable(r *report.Report) table {
	n := &r.Normalization
	t := table{title: "Tokens", left: 1, header: []string{"rank", "tokens", "by micro-batch"}}
	if n.Step != nil {
		t.title = fmt.Sprintf("Tokens of step %d", *n.Step)
	}
	for i, counts := range n.Tokens {
		var sum int64
		for _, c := range counts {
			sum += c
		}
		rank := "?"
		if i < len(r.Source.Ranks) {
			rank = fmt.Sprint(r.Source.Ranks[i])
		}
		t.rows = append(t.rows, []string{rank, fmt.Sprint(sum), short(strings.Trim(fmt.Sprint(counts), "[]"))})
	}
	return t
}

// longestExposed returns the collectives sorted by exposed time, the longest first.
func longestExposed(list []report.Collective) []report.Collective {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b report.Collective) int {
		return cmp.Or(cmp.Compare(b.Exposed, a.Exposed), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Start, b.Start))
	})
	return list
}
