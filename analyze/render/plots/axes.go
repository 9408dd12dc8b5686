package plots

import (
	"math"
	"strconv"
	"unicode/utf8"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/gaprof/gaprof/analyze/render/plots/plot"
	"github.com/gaprof/gaprof/internal/escape"
)

// newPlot is an empty plot in the style of all figures.
func newPlot(x, y string) *plot.Plot {
	p := plot.New()
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		align := a.Tick.Label
		a.Tick.Label = letters(smallSize)
		a.Tick.Label.XAlign, a.Tick.Label.YAlign = align.XAlign, align.YAlign
		a.Label.TextStyle = letters(smallSize)
		a.Label.TextStyle.XAlign, a.Label.TextStyle.YAlign = draw.XCenter, draw.YBottom
		a.LineStyle = draw.LineStyle{Color: faint, Width: 1}
		a.Tick.LineStyle = draw.LineStyle{Color: faint, Width: 1}
		a.Tick.Length, a.Padding, a.Label.Padding = 4, 0, 2
	}
	p.X.Label.Text, p.Y.Label.Text = x, y
	return p
}

// named puts names at positions 0, 1, 2, ... of an axis; if there are too many, only some.
func named(a *plot.Axis, names []string, most int) {
	var ticks []plot.Tick
	for i, name := range names {
		if name != "" {
			ticks = append(ticks, plot.Tick{Value: float64(i), Label: name})
		}
	}
	every := max(1, (len(ticks)+most-1)/max(1, most))
	var shown plot.ConstantTicks
	for i := 0; i < len(ticks); i += every {
		shown = append(shown, ticks[i])
	}
	a.Tick.Marker = shown
	a.Tick.Length = 0
	a.Min, a.Max = -0.5, float64(len(names))-0.5
}

// amounts scales an axis from zero, with round numbers.
func amounts(a *plot.Axis, highest float64, most int) { between(a, 0, highest, most) }

// between scales an axis from one value to another, with round numbers.
func between(a *plot.Axis, lowest, highest float64, most int) {
	step := roundStep(highest-lowest, most)
	a.Min, a.Max = lowest, highest
	var ticks []plot.Tick
	for i := math.Ceil(lowest/step - 1e-9); i*step <= highest*(1+1e-9); i++ {
		v := i*step + 0 // no minus before a zero
		ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', decimals(step), 64)})
	}
	a.Tick.Marker = plot.ConstantTicks(ticks)
}

// roundStep is the least of 1, 2, 5 times a power of ten that takes no more than most
// steps.
func roundStep(highest float64, most int) float64 {
	if highest <= 0 {
		return 1
	}
	rough := highest / float64(most)
	ten := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, f := range []float64{1, 2, 5} {
		if f*ten >= rough*(1-1e-9) {
			return f * ten
		}
	}
	return 10 * ten
}

func decimals(step float64) int { return max(0, int(math.Ceil(-math.Log10(step)-1e-9))) }

// headroom is the end of an axis above its highest value, so that nothing touches it.
func headroom(highest float64) float64 {
	if highest <= 0 {
		return 1
	}
	return highest * 1.04
}

// lines draws a faint line at every tick of an axis, behind the data.
type lines struct{ vertical bool }

// Plot draws the lines.
func (g lines) Plot(c draw.Canvas, p *plot.Plot) {
	style := draw.LineStyle{Color: grid, Width: 1}
	x, y := p.Transforms(&c)
	if g.vertical {
		for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
			c.StrokeLine2(style, x(t.Value), c.Min.Y, x(t.Value), c.Max.Y)
		}
		return
	}
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		c.StrokeLine2(style, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
	}
}

// rect is a box in the units of the axes.
type rect struct{ x0, x1, y0, y1 float64 }

// rects are boxes of one colour. Boxes thinner than least are drawn that wide, so that
// nothing vanishes.
type rects struct {
	ink   ink
	boxes []rect
	least vg.Length
}

// Plot draws all boxes as one path.
func (r rects) Plot(c draw.Canvas, p *plot.Plot) {
	if len(r.boxes) == 0 {
		return
	}
	x, y := p.Transforms(&c)
	var path vg.Path
	for _, b := range r.boxes {
		x0, x1 := x(b.x0), x(b.x1)
		path = append(path, box(x0, y(b.y0), max(x1, x0+r.least), y(b.y1))...)
	}
	c.SetColor(r.ink)
	c.Fill(path)
}

// short shortens a name from the trace to fit, and makes it harmless.
func short(s string, most int) string {
	s = escape.Control(s)
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}
