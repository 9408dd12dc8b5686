package render

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// NormText writes for a terminal: verdict, why and next, losses, gradients, then the
// weights of tokens.
func NormText(w io.Writer, r *normalization.Report, o Options) error {
	b := o.sheet()
	b.WriteString(normHeadline(r) + "\n")
	since := b.line()
	line(b, saying{"VERDICT", r.Verdict.Message, strings.TrimSpace(r.Verdict.Rule + " " + r.Verdict.Severity),
		report.Severity(r.Verdict.Severity)})
	sayAll(b, normSentences(r))
	b.repeat(since)
	if !o.Quiet {
		for _, t := range normTables(r, o) {
			drawText(b, t)
		}
	}
	return b.flush(w)
}

// NormMarkdown writes for a pull request.
func NormMarkdown(w io.Writer, r *normalization.Report, o Options) error {
	var b strings.Builder
	head := strings.TrimSpace(r.Verdict.Rule + " " + r.Verdict.Severity)
	fmt.Fprintf(&b, "# gaprof norm\n\n**%s** %s\n\n", markdownText(head), markdownText(r.Verdict.Message))
	for _, s := range normSentences(r) {
		fmt.Fprintf(&b, "- **%s** %s\n", s.head, markdownText(s.text))
	}
	if !o.Quiet {
		for _, t := range normTables(r, o) {
			drawMarkdown(&b, t)
		}
	}
	return flush(w, &b)
}

func normHeadline(r *normalization.Report) string {
	parts := []string{"no step with token counts"}
	if n := len(r.Steps); n > 0 {
		parts = []string{units.Count(len(r.Steps[0].Tokens), "rank"), units.Count(n, "step")}
	}
	if n := len(r.Gradients); n > 0 {
		parts = append(parts, units.Count(n, "comparison")+" of gradients")
	}
	return "gaprof " + r.Version + " norm  " + strings.Join(parts, " · ")
}

// normSentences are what follows the verdict.
func normSentences(r *normalization.Report) []sentence {
	var list []sentence
	add := func(head, text string) {
		if text != "" {
			list = append(list, sentence{head, text})
		}
	}
	add("WHY", r.Verdict.Why)
	add("NEXT", r.Verdict.Fix)
	for i, f := range r.Findings {
		if i > 0 {
			add("ALSO", f.Message+" ("+f.Rule+" "+f.Severity+")")
		}
	}
	if s := shownStep(r); s != nil {
		add("LOSS", lossText(s))
	}
	for i := range r.Gradients {
		if g := &r.Gradients[i]; g.Cause != nil {
			add("GRADIENT", gradientText(g))
			break
		}
	}
	for _, n := range r.Notes {
		add("NOTE", n)
	}
	return list
}

// shownStep is the step whose tables are drawn: the one whose token weights are furthest off.
func shownStep(r *normalization.Report) *normalization.StepReport {
	var shown *normalization.StepReport
	most := -1.0
	for i := range r.Steps {
		s, off := &r.Steps[i], 0.0
		if s.Weights != nil && s.Weights.Min != nil {
			off = max(math.Abs(*s.Weights.Min-1), math.Abs(*s.Weights.Max-1))
		}
		if off > most+1e-12 {
			shown, most = s, off
		}
	}
	return shown
}

func lossText(s *normalization.StepReport) string {
	var parts []string
	for _, l := range []struct {
		what string
		loss *normalization.NamedLoss
	}{{"logged", s.Logged}, {"optimized", s.Optimised}} {
		if l.loss != nil {
			parts = append(parts, fmt.Sprintf("%s %.7g is %s", l.what, l.loss.Value, l.loss.Text))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("step %d: ", s.Step) + strings.Join(parts, "; ")
}

func gradientText(g *normalization.GradientReport) string {
	text := fmt.Sprintf("step %d rank %d: norm ratio %s, cosine %s, first AdamW update changes by %s: %s",
		g.Step, g.Rank, numberText(g.Deviation.NormRatio), numberText(g.Deviation.Cosine),
		numberText(g.Deviation.AdamW), g.Cause.Text)
	if g.Cause.Confidence == normalization.Weak {
		text += " (weak)"
	}
	if g.Cause.Mode == normalization.Unknown && len(g.Cause.Also) > 0 {
		text += "; they allow " + strings.Join(g.Cause.Also, ", ")
	}
	return text
}

// numberText is a figure with six digits, ? where it is not known.
func numberText(v *float64) string {
	if v == nil {
		return "?"
	}
	return fmt.Sprintf("%.6g", *v)
}

// normTables are the weights of one step by micro-batch, a summary of them by mode, its
// losses, and the comparisons of gradients.
func normTables(r *normalization.Report, o Options) []table {
	var list []table
	if s := shownStep(r); s != nil {
		list = append(list, weightTable(s, o), modeTable(s), lossTable(s))
	}
	list = append(list, gradientTable(r, o), tensorTable(r))
	var used []table
	for _, t := range list {
		if len(t.rows) > 0 {
			used = append(used, t)
		}
	}
	return used
}

// mostNormRows bounds a table.
const mostNormRows = 32

// weightTable lists the weight of one token of each micro-batch, as measured and by mode.
func weightTable(s *normalization.StepReport, o Options) table {
	t := table{
		title:  fmt.Sprintf("Weight of one token in step %d, %s; 1 is right", s.Step, units.Count(s.Total, "token")),
		header: []string{"rank", "micro-batch", "tokens", "this run"},
	}
	columns := []*normalization.Weights{s.Weights}
	for _, w := range s.Modes {
		mean := w.Mode == normalization.Global || w.Mode == normalization.PerRank || w.Mode == normalization.MicroMean
		if mean && w.Factor == "1" {
			columns = append(columns, w)
			t.header = append(t.header, string(w.Mode))
		}
	}
	for r, row := range s.Tokens {
		for j, tokens := range row {
			if len(t.rows) == mostNormRows {
				t.note = o.name("the rest is in {json}")
				return t
			}
			cells := []string{fmt.Sprint(r), fmt.Sprint(j), fmt.Sprint(tokens)}
			for _, w := range columns {
				cells = append(cells, weightText(w, r, j))
			}
			t.rows = append(t.rows, cells)
		}
	}
	return t
}

func weightText(w *normalization.Weights, r, j int) string {
	if w == nil {
		return "?"
	}
	if v := w.Ratio[r][j]; v != nil {
		return fmt.Sprintf("%.4g", *v)
	}
	return "-"
}

// modeTable lists the least and the greatest weight under every mode.
func modeTable(s *normalization.StepReport) table {
	t := table{title: fmt.Sprintf("The tokens of step %d under every normalization", s.Step), left: 2,
		header: []string{"mode", "times", "least", "at tokens", "greatest", "at tokens", "max/min"}}
	for _, w := range s.Modes {
		spread := "-"
		if *w.Min > 0 {
			spread = fmt.Sprintf("%.4g", *w.Max / *w.Min)
		}
		t.rows = append(t.rows, []string{
			string(w.Mode), w.Factor, fmt.Sprintf("%.4g", *w.Min), fmt.Sprint(w.MinAt.Tokens),
			fmt.Sprintf("%.4g", *w.Max), fmt.Sprint(w.MaxAt.Tokens), spread,
		})
	}
	return t
}

func lossTable(s *normalization.StepReport) table {
	t := table{
		title:  fmt.Sprintf("Losses of step %d", s.Step),
		left:   1,
		header: []string{"average", "value", "logged", "optimized"},
	}
	for _, l := range s.Losses {
		row := []string{l.Name, fmt.Sprintf("%.7g", l.Value)}
		for _, named := range []*normalization.NamedLoss{s.Logged, s.Optimised} {
			mark := ""
			if named != nil && named.Name == l.Name && math.Abs(named.Value/l.Value-1) < 1e-5 {
				mark = "x"
			} else if named != nil && named.Name == l.Name && named.Factor != "1" {
				mark = "x " + named.Factor
			}
			row = append(row, mark)
		}
		t.rows = append(t.rows, row)
	}
	return t
}

func gradientTable(r *normalization.Report, o Options) table {
	t := table{
		title:  "Gradients against the right ones",
		header: []string{"step", "rank", "norm ratio", "cosine", "max rel", "rel L2", "AdamW", "cause"},
	}
	for i := range r.Gradients {
		g := &r.Gradients[i]
		if len(t.rows) == mostNormRows {
			t.note = o.name("the rest is in {json}")
			break
		}
		cause := "-"
		if g.Cause != nil {
			cause = strings.TrimSpace(string(g.Cause.Mode) + " " + g.Cause.Factor)
		}
		d := g.Deviation
		t.rows = append(t.rows, []string{
			fmt.Sprint(g.Step), fmt.Sprint(g.Rank), numberText(d.NormRatio), numberText(d.Cosine), numberText(d.MaxRel),
			numberText(d.RelL2), numberText(d.AdamW), cause,
		})
	}
	if len(r.Gradients) > 0 {
		t.title = "Gradients against " + short(filepath.Base(r.Gradients[0].Against)) + " and the like"
	}
	return t
}

// tensorTable lists the tensors that differ most, of the first comparison.
func tensorTable(r *normalization.Report) table {
	t := table{
		title:  "Tensors that differ most",
		left:   1,
		header: []string{"tensor", "norm ratio", "cosine", "max rel", "rel L2"},
	}
	if len(r.Gradients) == 0 {
		return t
	}
	list := worstTensors(r.Gradients[0].Deviation.Tensors)
	for _, d := range list {
		t.rows = append(t.rows, []string{
			short(d.Name), numberText(d.NormRatio), numberText(d.Cosine), numberText(d.MaxRel), numberText(d.RelL2),
		})
	}
	return t
}
