package render

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// CalibrationText writes the figures of a machine for a terminal.
func CalibrationText(w io.Writer, r *report.Calibration, o Options) error {
	b := o.sheet()
	b.WriteString(calibrationHeadline(r) + "\n")
	line(b, saying{head: "MACHINE", text: calibrationSentence(r)})
	if !o.Quiet {
		for _, t := range calibrationTables(r) {
			drawText(b, t)
		}
	}
	return b.flush(w)
}

// CalibrationMarkdown writes the same for a page.
func CalibrationMarkdown(w io.Writer, r *report.Calibration, o Options) error {
	var b strings.Builder
	b.WriteString("# gaprof calibrate\n\n")
	b.WriteString(markdownText(calibrationSentence(r)) + "\n")
	if !o.Quiet {
		for _, t := range calibrationTables(r) {
			drawMarkdown(&b, t)
		}
	}
	return flush(w, &b)
}

func calibrationHeadline(r *report.Calibration) string {
	files := units.Count(len(r.Files), "trace")
	if len(r.Files) == 1 {
		files = filepath.Base(r.Files[0])
	}
	return "gaprof " + r.Version + " calibrate  " + files + " · " + units.Count(len(r.Ranks), "rank")
}

func calibrationSentence(r *report.Calibration) string {
	fitted := 0
	for i := range r.Figures {
		if r.Figures[i].Fitted {
			fitted++
		}
	}
	return fmt.Sprintf("%s: %d of %d figures fitted, the others are those of %s",
		cmp.Or(r.Device, "unknown device"), fitted, len(r.Figures), r.Preset)
}

func calibrationTables(r *report.Calibration) []table {
	figures := table{
		title: "FITTED", left: 1,
		header: []string{"figure", "value", "before", "samples", "sizes", "median error", "90 % within"},
		note: "errors: of times the samples against their median, of the others the model against what was observed, " +
			"by size",
	}
	unknown := table{title: "NOT FITTED", left: 3, header: []string{"figure", "stays", "why"}}
	for i := range r.Figures {
		f := &r.Figures[i]
		if !f.Fitted {
			unknown.rows = append(unknown.rows, []string{f.Name, f.Text, f.Why})
			continue
		}
		sizes, errors := "", []string{"", ""}
		if f.Sizes > 0 {
			sizes = fmt.Sprint(f.Sizes)
		}
		if f.Name != "uneven" {
			errors = []string{percent1(f.Median), percent1(f.P90)}
		}
		figures.rows = append(figures.rows, append([]string{f.Name, f.Text, f.Before, fmt.Sprint(f.Samples), sizes},
			errors...))
	}
	tables := []table{figures, linesTable(r), checksTable(r), unknown}
	return slices.DeleteFunc(tables, func(t table) bool { return len(t.rows) == 0 })
}

func percent1(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

func linesTable(r *report.Calibration) table {
	t := table{
		title: "COLLECTIVES", left: 1,
		header: []string{"kind", "ranks", "count", "sizes", "from", "alpha us", "us/MB", "bus GB/s", "median error",
			"why not"},
		note: "without waiting for ranks: alpha + beta x bytes of the larger side, from the least size given",
	}
	for i := range r.Collectives {
		l := &r.Collectives[i]
		row := []string{l.Kind, fmt.Sprint(l.Ranks), fmt.Sprint(l.Samples), fmt.Sprint(l.Sizes), units.Bytes(l.From)}
		if l.Why != "" {
			row = append(row, "", "", "", "", l.Why)
		} else {
			row = append(row, fmt.Sprintf("%.1f", l.Alpha/1e3), fmt.Sprintf("%.2f", l.Beta*1e3),
				fmt.Sprintf("%.0f", l.Bus/1e9), percent1(l.Median), "")
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// mostChecks is how many sizes are shown: those in which most time is spent.
const mostChecks = 24

// check is one of a figure.
type check struct {
	figure string
	*report.CalibrationCheck
}

// total is the time spent in it.
func (c check) total() int64 { return c.Observed * int64(c.Samples) }

func checksTable(r *report.Calibration) table {
	t := table{
		title: "MODEL AGAINST TRACE", left: 2,
		header: []string{"figure", "of", "samples", "observed us", "model us", "error"},
	}
	var list []check
	for i := range r.Figures {
		f := &r.Figures[i]
		if f.Name == "nccl-latency" || f.Name == "nccl-least" { // the same collectives again
			continue
		}
		for k := range f.Checks {
			list = append(list, check{f.Name, &f.Checks[k]})
		}
	}
	all := len(list)
	if all > mostChecks {
		order := slices.Clone(list)
		slices.SortStableFunc(order, func(a, b check) int { return cmp.Compare(b.total(), a.total()) })
		least := order[mostChecks-1].total()
		list = slices.DeleteFunc(list, func(c check) bool { return c.total() < least })
		t.note = fmt.Sprintf("the %d of %d sizes in which most time is spent", len(list), all)
	}
	for _, c := range list {
		t.rows = append(t.rows, []string{
			c.figure, c.What, fmt.Sprint(c.Samples), fmt.Sprintf("%.1f", float64(c.Observed)/1e3),
			fmt.Sprintf("%.1f", float64(c.Model)/1e3), fmt.Sprintf("%+.1f %%", 100*c.Error),
		})
	}
	return t
}
