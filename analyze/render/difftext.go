package render

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// diffSentences say how the time of a step changed, which is what people ask first; then what is
// compared, how the two sides differ as experiments, what changed in structure, which is
// exact, and findings.
func diffSentences(d *compare.Diff) []sentence {
	list := changeSentences(d)
	list = append(list, sentence{"BASE", sideText(&d.Base)}, sentence{"NEW", sideText(&d.New)})
	for _, u := range d.Unlike {
		list = append(list, sentence{"UNLIKE", spaced(u.What) + ": " + u.Base + " in base, " + u.New + " in new"})
	}
	structure := structureSentences(d)
	if !d.Changed() {
		structure = []sentence{sameSentence(d)}
	}
	list = append(list, structure...)
	list = append(list, memorySentences(d)...)
	for i := range d.Kinds {
		if k := &d.Kinds[i]; k.Uncompared != "" {
			list = append(list, sentence{"UNKNOWN", "steps of " + k.Name + " are not compared: " + k.Uncompared})
		}
	}
	for i := range d.Findings {
		list = append(list, findingSentence(&d.Findings[i]))
	}
	return list
}

// changeSentences say how the time of a step changed.
func changeSentences(d *compare.Diff) []sentence {
	return append(stepSentences(d), partSentences(d)...)
}

func structureSentences(d *compare.Diff) []sentence {
	list := moveSentences(d)
	for i := range d.Collectives {
		list = append(list, collectiveSentence(&d.Collectives[i]))
	}
	for i := range d.Kinds {
		if k := &d.Kinds[i]; k.Only == "base" {
			text := units.Count(k.BaseSteps, "step") + " of " + k.Name + ", a kind that is missing in new"
			list = append(list, sentence{"GONE", text})
		} else if k.Only == "new" {
			text := units.Count(k.NewSteps, "step") + " of " + k.Name + ", a kind that is missing in base"
			list = append(list, sentence{"ADDED", text})
		}
	}
	for i := range d.Passes {
		list = append(list, passSentence(&d.Passes[i]))
	}
	for _, s := range d.Settings {
		what := spaced(s.What)
		if s.Of != "" {
			what += " of " + s.Of
		}
		base, new := spaced(s.Base), spaced(s.New)
		if s.What == "data_loader" { // names of PyTorch's
			base, new = s.Base, s.New
		}
		list = append(list, sentence{"SETTING", what + ": " + base + " -> " + new})
	}
	for i := range d.Orders {
		list = append(list, orderSentence(&d.Orders[i]))
	}
	return list
}

// sideText is the files and steps of a side.
func sideText(s *compare.Side) string {
	text := "nothing"
	switch n := len(s.Files); {
	case n == 1:
		text = short(s.Files[0])
	case n > 1:
		first := s.Files[0]
		text = fmt.Sprintf("%s and %d more in %s", short(filepath.Base(first)), n-1, short(filepath.Dir(first)))
	}
	text += ": " + units.Count(s.Steps, "step")
	if s.Runs > 1 {
		text += fmt.Sprintf(" of %d runs", s.Runs)
	}
	if s.Incomplete > 0 {
		text += fmt.Sprintf(", %d incomplete left out", s.Incomplete)
	}
	if s.Overlap != nil {
		text += ", " + percent(s.Overlap) + " of communication overlapped"
	}
	if s.Warnings > 0 {
		text += ", health: " + units.Count(s.Warnings, "warning")
	}
	return text
}

// sameSentence is for two sides whose structure does not differ.
func sameSentence(d *compare.Diff) sentence {
	compared, equal := 0, true
	for i := range d.Kinds {
		if d.Kinds[i].Uncompared != "" {
			continue
		}
		for j := range d.Kinds[i].Figures {
			f := &d.Kinds[i].Figures[j]
			compared++
			equal = equal && f.Base != nil && f.New != nil && f.Base.Median == f.New.Median
		}
	}
	for i := range d.Memory {
		equal = equal && !d.Memory[i].Changed()
	}
	switch {
	case compared == 0:
		return sentence{"UNKNOWN", "no complete steps on both sides: structure could not be compared"}
	case equal:
		return sentence{"SAME", "no change: neither in structure nor in the median of any figure"}
	}
	return sentence{"SAME", "no change in structure"}
}

// moveSentences say what moved, and how much of the same kind stayed.
func moveSentences(d *compare.Diff) []sentence {
	var list []sentence
	stayed := make(map[string][]*compare.Move) // by kind; none once they were told
	for i := range d.Moves {
		if m := &d.Moves[i]; m.Stayed() {
			stayed[m.Collective] = append(stayed[m.Collective], m)
		}
	}
	for i := range d.Moves {
		if m := &d.Moves[i]; !m.Stayed() {
			list = append(list, sentence{"MOVED", moveText(m) + stayedText(stayed[m.Collective])})
			delete(stayed, m.Collective)
		}
	}
	return list
}

func moveText(m *compare.Move) string {
	from, to := placeText(m.From), placeText(m.To)
	whose := ""
	if m.From.Site == "optimizer_step" {
		whose, from = m.From.Name+" ", "the optimizer step"
	}
	what := whose + spaced(m.Collective) + "s"
	path := " moved from " + from + " to " + to
	if m.From.Site == "unknown" || m.To.Site == "unknown" {
		path = " are launched from " + from + " in base and from " + to + " in new"
	}
	if m.Base == m.New {
		if m.New == 1 {
			what, path = strings.TrimSuffix(what, "s"), strings.Replace(path, " are launched", " is launched", 1)
		}
		return fmt.Sprintf("%d %s%s (%s)", m.New, what, path, perKind(m.Kinds))
	}
	return fmt.Sprintf("%s%s: %s, %d in base and %d in new", what, path, perKind(m.Kinds), m.Base, m.New)
}

// perKind is how many a step of each kind has.
func perKind(kinds []compare.MoveKind) string {
	parts := make([]string, len(kinds))
	for i, k := range kinds {
		parts[i] = number(k.PerStep) + " per step of " + k.Kind
	}
	return strings.Join(parts, ", ")
}

// mostStayed is how many places are named from which collectives are launched as before.
const mostStayed = 16

// stayedText says how many collectives of a kind are still launched from the same place.
func stayedText(moves []*compare.Move) string {
	var b strings.Builder
	for _, m := range moves[:min(len(moves), mostStayed)] {
		whose, at := "", placeText(m.To)
		if m.To.Site == "optimizer_step" {
			whose, at = m.To.Name+" ", "the optimizer step"
		}
		fmt.Fprintf(&b, "; %d %s%s stayed in %s", m.New, whose, several("one", m.New != 1), at)
	}
	if n := len(moves) - mostStayed; n > 0 {
		fmt.Fprintf(&b, "; and those of %s stayed", units.Count(n, "more place"))
	}
	return b.String()
}

// placeText is a launch site in words.
func placeText(p compare.Place) string {
	switch p.Site {
	case "backward_hook":
		return "backward hooks"
	case "optimizer_step":
		return "the optimizer step of " + p.Name
	case "framework_hook":
		return "the framework's " + p.Name
	case "annotation":
		return "the annotation " + p.Name
	}
	return "an unknown place"
}

func collectiveSentence(c *compare.CollectiveChange) sentence {
	what := fmt.Sprintf("%s %s per step of %s from %s",
		number(c.PerStep), several(spaced(c.Collective), number(c.PerStep) != "1"), c.Kind, placeText(c.Place))
	bytes := megabytes(c.BaseBytes) + " -> " + megabytes(c.NewBytes)
	switch c.Change {
	case "gone":
		return sentence{"GONE", what + sized(c.BaseBytes, c.NewBytes, bytes)}
	case "added":
		return sentence{"ADDED", what + sized(c.NewBytes, c.BaseBytes, bytes)}
	}
	return sentence{"RESIZED", what + ": " + bytes + " a step"}
}

// several is a word, or more of what it says.
func several(word string, more bool) string {
	if more {
		return word + "s"
	}
	return word
}

// sized is the bytes of what one side has, or of both where both have some.
func sized(has, other *int64, both string) string {
	switch {
	case has == nil:
		return ""
	case other == nil:
		return " (" + megabytes(has) + ")"
	}
	return " (all from there: " + both + ")"
}

func megabytes(n *int64) string {
	if n == nil {
		return "unknown"
	}
	return units.Megabytes(*n)
}

func passSentence(p *compare.PassChange) sentence {
	what := fmt.Sprintf("gradient pass %s %s in steps of %s", p.Pass, spaced(p.Where), p.Kind)
	if p.Optimizer != "" {
		what += " over the gradients of " + p.Optimizer
	}
	side := func(s *compare.PassSide) string {
		return fmt.Sprintf("%s per step, %s, %s", number(s.PerStep), megabytes(&s.Bytes), s.Verdict)
	}
	switch p.Change {
	case "gone":
		return sentence{"GONE", what + " (" + side(p.Base) + ")"}
	case "added":
		return sentence{"ADDED", what + " (" + side(p.New) + ")"}
	}
	return sentence{"CHANGED", what + ": " + side(p.Base) + " -> " + side(p.New)}
}

func orderSentence(o *compare.OrderChange) sentence {
	what := spaced(o.Collective) + "s from " + placeText(o.To)
	if o.From != o.To {
		what += " (before: " + placeText(o.From) + ")"
	}
	head, verb := "ORDER", " run in another order: "
	if o.Change == "kernels" {
		head, verb = "KERNELS", " run other kernels: "
	}
	return sentence{head, what + verb + runsText(o.Base) + " -> " + runsText(o.New)}
}

func runsText(runs []compare.Run) string {
	parts := make([]string, len(runs))
	for i, r := range runs {
		parts[i] = short(r.Kernel)
		if r.Count > 1 {
			parts[i] = fmt.Sprintf("%d x %s", r.Count, parts[i])
		}
	}
	return strings.Join(parts, ", ")
}

func findingSentence(f *compare.FindingChange) sentence {
	rated := func(s *report.Severity) string { return f.Rule + " " + string(*s) + ": " }
	switch {
	case f.Change == "disappeared":
		return sentence{"FIXED", rated(f.Base) + *f.Was}
	case f.Change == "appeared":
		return sentence{"FINDING", rated(f.New) + *f.Is}
	case f.Change == "not_judged" && f.Is == nil:
		return sentence{"UNJUDGED", rated(f.Base) + *f.Was + "; not judged in new: " + f.Reason}
	case f.Change == "not_judged":
		return sentence{"FINDING", rated(f.New) + *f.Is + "; not judged in base: " + f.Reason}
	case *f.Was == *f.Is && *f.Base == *f.New:
		return sentence{"STAYED", rated(f.New) + *f.Is}
	}
	was := *f.Was
	if *f.Base != *f.New {
		was = string(*f.Base) + ": " + was
	}
	return sentence{"STAYED", rated(f.New) + *f.Is + "; was " + was}
}

// accumulationsOf are the accumulation steps of a kind's optimizers, empty where none
// is known. A side that lacks the kind is assumed to be like the other.
func accumulationsOf(optimizers, other []report.Optimizer) string {
	if len(optimizers) == 0 {
		optimizers = other
	}
	parts := make([]string, len(optimizers))
	known := false
	for i, o := range optimizers {
		parts[i] = "?"
		if o.Accumulation != nil {
			parts[i], known = strconv.Itoa(*o.Accumulation), true
		}
	}
	if !known {
		return ""
	}
	return strings.Join(parts, ", ")
}
