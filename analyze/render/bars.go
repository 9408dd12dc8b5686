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

// bars is a figure of horizontal bars with their values on them, which is as wide as there
// is room. It is drawn by the page itself, so its letters are those of the page.
type bars struct {
	title, note string
	rows        []barRow
}

// barRow is one bar: what it is of, its pieces from left to right, and what is said of it.
type barRow struct {
	name, right string
	sub         bool // a part of the row above
	pieces      []barPiece
}

// barPiece is a piece of a bar.
type barPiece struct {
	ink   string // of plots.Ink
	label string // on the piece, if it fits
	text  string // said where it is pointed at
	ns    int64
}

// mostBars is how many parts of a step the figure has, mostCauses how many causes of idle time.
const mostBars, mostCauses = 7, 3

// timeBars is where the time of a mean step goes, a bar for each part.
func timeBars(r *report.Report) *bars {
	t := r.Time
	if t == nil || t.Length <= 0 {
		return nil
	}
	b := &bars{title: "Where the time of the mean step goes, " + ofWhat(t)}
	if t.Of != "step" {
		b.title = "Where the time of the recording goes, " + ofWhat(t)
	}
	for i := range t.Parts[:min(mostBars, len(t.Parts))] {
		p := &t.Parts[i]
		b.rows = append(b.rows, barOf(partName(p.What), p.What, p.Mean, t.Length))
		if p.What == report.IdlePart && t.Idle != nil {
			for _, c := range causesOf(t.Idle)[:min(mostCauses, len(causesOf(t.Idle)))] {
				row := barOf(c.name, p.What, c.ns, t.Length)
				row.sub = true
				b.rows = append(b.rows, row)
			}
		}
	}
	b.note = fmt.Sprintf("Mean of %s. Communication is only what nothing hides.", countOf(t))
	return b
}

func countOf(t *report.Time) string {
	if t.Of != "step" {
		return units.Count(t.Count, "device")
	}
	return units.Count(t.Count, "step")
}

func barOf(name, what string, ns, whole int64) barRow {
	value := fmt.Sprintf("%.2f ms", units.MS(ns))
	right := percentOf(float64(ns) / float64(whole))
	text := name + ": " + value + ", " + right
	return barRow{name: name, right: right, pieces: []barPiece{{plots.Ink(what), value, text, ns}}}
}

// ledgerRow is a step, or the mean of some, as one bar of pieces.
func ledgerRow(name string, parts []report.Part) barRow {
	row := barRow{name: name}
	total := int64(0)
	parts = slices.Clone(parts)
	slices.SortStableFunc(parts, func(a, b report.Part) int {
		return cmp.Compare(plots.Order(a.What), plots.Order(b.What))
	})
	for i := range parts {
		p := &parts[i]
		total += p.Mean
		text := fmt.Sprintf("%s: %.2f ms", partName(p.What), units.MS(p.Mean))
		label := fmt.Sprintf("%.1f", units.MS(p.Mean))
		row.pieces = append(row.pieces, barPiece{plots.Ink(p.What), label, text, p.Mean})
	}
	row.right = fmt.Sprintf("%.2f ms", units.MS(total))
	return row
}

// The views of bars: places in percent of the width.
type barsView struct {
	Title, Note string
	Rows        []barRowView
	Keys        []barKey // where pieces stand beside each other
}

type barRowView struct {
	Name, Right, Text string
	Sub               bool
	Pieces            []barPieceView
}

type barPieceView struct {
	X, Width, At string // in percent
	Ink, Label   string
	Text         string
	Outside      bool // the label is right of the piece
}

type barKey struct{ Ink, Label string }

// leastLabel is the share of the width from which on a label fits on a piece.
const leastLabel = 0.12

func (b *bars) view() *barsView {
	if b == nil || len(b.rows) == 0 {
		return nil
	}
	longest := int64(1)
	for i := range b.rows {
		longest = max(longest, b.rows[i].length())
	}
	v := &barsView{Title: b.title, Note: b.note}
	for i := range b.rows {
		v.Rows = append(v.Rows, b.rows[i].view(longest))
		v.addKeys(&b.rows[i])
	}
	return v
}

// addKeys adds what the pieces of a bar are to the legend.
func (v *barsView) addKeys(row *barRow) {
	for _, p := range row.pieces {
		k := barKey{p.ink, strings.SplitN(p.text, ":", 2)[0]}
		if len(row.pieces) > 1 && !slices.Contains(v.Keys, k) {
			v.Keys = append(v.Keys, k)
		}
	}
}

func (row *barRow) length() (ns int64) {
	for _, p := range row.pieces {
		ns += p.ns
	}
	return ns
}

// view places the pieces. The only piece of a bar may have its label beside it.
func (row *barRow) view(longest int64) barRowView {
	v := barRowView{Name: row.name, Right: row.right, Sub: row.sub}
	at, texts := int64(0), make([]string, 0, len(row.pieces))
	whole := float64(longest)
	for _, p := range row.pieces {
		share := float64(p.ns) / whole
		piece := barPieceView{X: hundredths(at, longest), Width: hundredths(p.ns, longest), Ink: p.ink, Text: p.text}
		alone := len(row.pieces) == 1
		switch {
		case alone && share < 0.5:
			piece.Label, piece.Outside, piece.At = p.label, true, hundredths(at+p.ns, longest)
		case alone || share >= leastLabel:
			piece.Label, piece.At = p.label, hundredths(at+p.ns/2, longest)
		}
		v.Pieces = append(v.Pieces, piece)
		texts = append(texts, p.text)
		at += p.ns
	}
	v.Text = strings.Join(texts, "; ")
	return v
}

// hundredths is a share in percent as an attribute has it.
func hundredths(part, whole int64) string {
	return fmt.Sprintf("%.2f%%", 100*float64(part)/float64(whole))
}
