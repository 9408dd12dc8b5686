package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/gaprof/gaprof/analyze/render/plots/plot"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// dot is one collective, or the mean of a group.
type dot struct {
	kind  int // index into classes
	bytes int64
	ratio float64
}

// dots are the collectives whose size is known, or groups of them where the report does
// not hold each; unsized counts the others.
func dots(r *report.Report) (list []dot, unsized int, grouped bool) {
	add := func(kind string, bytes *int64, count, busy, over int64) {
		if bytes == nil || *bytes <= 0 || busy <= 0 || count <= 0 {
			unsized += int(count)
			return
		}
		_, at := classOf(classes, kind)
		mean := max(1, *bytes/count) // the axis of sizes is logarithmic
		list = append(list, dot{at, mean, float64(over) / float64(busy)})
	}
	if d := r.Drawing; d != nil {
		for _, c := range d.Collectives {
			add(c.Kind, c.Bytes, 1, c.Duration, c.Duration-c.Exposed)
		}
		return list, unsized, false
	}
	for _, g := range r.Groups {
		add(g.Kind, g.Bytes, int64(g.Count), g.Busy, g.Over)
	}
	return list, unsized, true
}

// overlap is how much of each collective is hidden, against its size.
func overlap(r *report.Report) []Figure {
	list, unsized, grouped := dots(r)
	if len(list) == 0 {
		return nil
	}
	f := Figure{ID: "overlap", Title: "Hidden part of each collective against its size",
		Text: overlapText(list),
		Note: "Hidden: together with compute kernels of the same device. " +
			"Points that would cover each other are drawn once."}
	if grouped {
		f.Title = "Hidden part of each group of collectives against its mean size"
		f.Note += " This report does not hold single collectives: " +
			"a point is the collectives of one kind, launch site and step."
	}
	if unsized > 0 {
		f.Note += fmt.Sprintf(" %d collectives of unknown size, most of them launched before the recording, "+
			"are left out.", unsized)
	}
	for i, c := range classes {
		if of(list, i) > 0 {
			f.keys = append(f.keys, key{c.label, c.ink, shapes[i]})
		}
	}
	f.make = func(width int) (*plot.Plot, int) { return overlapPlot(list, width) }
	return []Figure{f}
}

// shapes are those of the classes: kinds can be distinguished without colour too.
var shapes = map[int]draw.GlyphDrawer{
	2: draw.CircleGlyph{},
	3: draw.PyramidGlyph{},
	4: draw.BoxGlyph{},
	5: draw.RingGlyph{},
}

func of(list []dot, kind int) int {
	n := 0
	for _, d := range list {
		if d.kind == kind {
			n++
		}
	}
	return n
}

func overlapPlot(list []dot, width int) (*plot.Plot, int) {
	p := newPlot("size of the message", "hidden, %")
	sizes(&p.X, list, (width-60)/56)
	amounts(&p.Y, 100, 5)
	p.X.Padding, p.Y.Padding = 6, 6
	p.Add(lines{})
	for i := range slices.Backward(classes) { // what reduces gradients comes last, on top
		if of(list, i) > 0 {
			p.Add(dotPlot{list, i})
		}
	}
	return p, 260
}

// dotPlot draws the dots of one kind, those in one cell of a fine grid once.
type dotPlot struct {
	list []dot
	kind int
}

// dotCell is the width of the cells in pixels.
const dotCell = 4

// Plot draws the dots.
func (d dotPlot) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	seen := make(map[[2]int]bool)
	for _, one := range d.list {
		at := vg.Point{X: x(float64(one.bytes)), Y: y(100 * one.ratio)}
		cell := [2]int{int(at.X) / dotCell, int(at.Y) / dotCell}
		if one.kind == d.kind && !seen[cell] {
			seen[cell] = true
			c.DrawGlyphNoClip(draw.GlyphStyle{Color: classes[d.kind].ink, Radius: 3.5, Shape: shapes[d.kind]}, at)
		}
	}
}

// sizes scales an axis by powers of ten of bytes, at most some of them named.
func sizes(a *plot.Axis, list []dot, most int) {
	low, high := int64(math.MaxInt64), int64(1)
	for _, d := range list {
		low, high = min(low, d.bytes), max(high, d.bytes)
	}
	from := int(math.Floor(math.Log10(float64(low))))
	to := max(from+1, int(math.Ceil(math.Log10(float64(high)))))
	every := max(1, (to-from+most-1)/max(1, most))
	var ticks []plot.Tick
	for e := from; e <= to; e += every {
		ticks = append(ticks, plot.Tick{Value: math.Pow10(e), Label: sizeLabel(e)})
	}
	a.Scale, a.Min, a.Max = plot.LogScale{}, math.Pow10(from), math.Pow10(to)
	a.Tick.Marker = plot.ConstantTicks(ticks)
}

// sizeLabel is 10^e bytes.
func sizeLabel(e int) string {
	units := []string{"B", "kB", "MB", "GB", "TB", "PB", "EB"}
	unit := min(e/3, len(units)-1)
	return "1" + strings.Repeat("0", e-3*unit) + " " + units[unit]
}

// overlapText gives the points of each kind in words.
func overlapText(list []dot) string {
	var parts []string
	for i, c := range classes {
		n, hidden, none := of(list, i), 0, 0
		for _, d := range list {
			if d.kind == i && d.ratio >= 0.99 {
				hidden++
			}
			if d.kind == i && d.ratio <= 0.01 {
				none++
			}
		}
		if n > 0 {
			part := fmt.Sprintf("%s: %s, %d hidden as a whole, %d not at all",
				c.label, units.Count(n, "point"), hidden, none)
			parts = append(parts, part)
		}
	}
	return "A point for each, on a logarithmic scale of bytes. " + strings.Join(parts, "; ") + "."
}
