package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/compare"
)

// DiffText writes for a terminal: how the time of a step changed, what is compared, what is not
// comparable, what changed in structure and findings, then the times of each kind of step.
func DiffText(w io.Writer, d *compare.Diff, o Options) error {
	b := o.sheet()
	b.WriteString(cut(diffHeadline(d), b.most(diffWidth)) + "\n")
	list, since := diffSentences(d), b.line()
	n := len(changeSentences(d))
	drawSentences(b, list[:n])
	b.repeat(since)
	drawSentences(b, list[n:])
	if o.Quiet {
		return b.flush(w)
	}
	for _, t := range diffTables(d) {
		title := wrapLine(b, t.title, b.most(diffWidth))
		t.title = strings.Join(title, "\n")
		note := t.note
		t.note = ""
		drawText(b, t)
		for i, part := range wrapLine(b, note, b.most(diffWidth)-4) {
			switch {
			case note == "":
			case i == 0:
				b.WriteString("  (" + part)
			default:
				b.WriteString("\n   " + part)
			}
		}
		if note != "" {
			b.WriteString(")\n")
		}
	}
	return b.flush(w)
}

// DiffMarkdown writes for a pull request.
func DiffMarkdown(w io.Writer, d *compare.Diff, o Options) error {
	var b strings.Builder
	head := strings.TrimPrefix(diffHeadline(d), "gaprof "+d.Version+" diff  ")
	fmt.Fprintf(&b, "# gaprof diff\n\n%s\n\n", markdownText(head))
	for _, s := range diffSentences(d) {
		fmt.Fprintf(&b, "- **%s** %s\n", s.head, markdownText(s.text))
	}
	if o.Quiet {
		return flush(w, &b)
	}
	for _, t := range diffTables(d) {
		drawMarkdown(&b, t)
	}
	return flush(w, &b)
}

// diffHeadline says what kind of runs are compared.
func diffHeadline(d *compare.Diff) string {
	parts := []string{sameOrBoth(ranksOf(&d.Base), ranksOf(&d.New))}
	if d.Base.Device != "unknown" || d.New.Device != "unknown" {
		parts = append(parts, sameOrBoth(short(d.Base.Device), short(d.New.Device)))
	}
	return "gaprof " + d.Version + " diff  " + strings.Join(parts, " · ")
}

func sameOrBoth(base, new string) string {
	if base == new {
		return base
	}
	return base + " against " + new
}

func ranksOf(s *compare.Side) string {
	text := "no rank"
	switch n := len(s.Ranks); {
	case n == 1:
		text = fmt.Sprintf("rank %d", s.Ranks[0])
	case n > 1:
		text = fmt.Sprintf("%d ranks", n)
	}
	if s.WorldSize != nil {
		text += fmt.Sprintf(" of %d", *s.WorldSize)
	}
	return text
}

// diffTables is one table for each kind of step, the last with a note on how to read
// them.
func diffTables(d *compare.Diff) []table {
	var list []table
	for i := range d.Kinds {
		k := &d.Kinds[i]
		if k.BaseSteps+k.NewSteps == 0 {
			continue
		}
		t := table{title: kindTitle(d, k), header: []string{"", "base", "±", "new", "±", "change"}, left: 1}
		for j := range k.Figures {
			if row := figureRow(&k.Figures[j]); row != nil && matters(k, &k.Figures[j]) {
				t.rows = append(t.rows, row)
			}
		}
		list = append(list, t)
	}
	if len(list) > 0 {
		list[len(list)-1].note = timesNote
	}
	return list
}

// timesNote explains the tables of times, below the last of them.
const timesNote = "medians over complete steps, of each the mean over its ranks; ±: 95 % interval, ∞ below 6 steps; " +
	"not significant: p >= 0.05, two-sided Mann-Whitney; communication is the part that nothing hides"

// kindTitle names a kind of step and how many there are.
func kindTitle(d *compare.Diff, k *compare.Kind) string {
	title := "Steps of " + short(k.Name)
	base := accumulationsOf(k.BaseOptimizers, k.NewOptimizers)
	new := accumulationsOf(k.NewOptimizers, k.BaseOptimizers)
	if a := sameOrBoth(base, new); a != "" {
		title += " (accumulation " + a + ")"
	}
	title += fmt.Sprintf(": %d in base, %d in new%s, ms", k.BaseSteps, k.NewSteps, onRanks(d))
	if k.LowConfidence && k.BaseSteps > 0 && k.NewSteps > 0 {
		title += ", low confidence"
	}
	return title
}

func onRanks(d *compare.Diff) string {
	if n := max(len(d.Base.Ranks), len(d.New.Ranks)); n > 1 {
		return fmt.Sprintf(", on %d ranks", n)
	}
	return ""
}

func figureRow(f *compare.Figure) []string {
	zero := func(s *compare.Summary) bool { return s == nil || s.Median == 0 && (s.High == nil || *s.High == 0) }
	if zero(f.Base) && zero(f.New) {
		return nil
	}
	name := spaced(f.Name)
	if cause, ok := strings.CutPrefix(f.Name, compare.IdlePrefix); ok {
		name = "  " + spaced(cause)
	} else if slices.Contains(communicationNames, f.Name) {
		name = "  " + name
	}
	row := []string{name}
	for _, s := range []*compare.Summary{f.Base, f.New} {
		row = append(row, medianText(f.Unit, s), intervalText(s))
	}
	return append(row, changeText(f))
}

func medianText(unit string, s *compare.Summary) string {
	switch {
	case s == nil:
		return "-"
	case unit == "ns":
		return millis(s.Median)
	}
	return fmt.Sprint(s.Median)
}

// intervalText is the wider half of an interval in percent of its median.
func intervalText(s *compare.Summary) string {
	switch {
	case s == nil:
		return ""
	case s.Low == nil || s.High == nil:
		return "∞"
	case s.Median == 0:
		return ""
	}
	half := max(s.Median-*s.Low, *s.High-s.Median)
	return fmt.Sprintf("%.1f %%", 100*float64(half)/float64(s.Median))
}
