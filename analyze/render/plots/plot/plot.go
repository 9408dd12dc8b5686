// Package plot lays out two axes around data, with the drawing, letters and SVG of
// gonum.org/v1/plot's own packages. Its names and its layout are those of that module's
// package plot, of which this is the part that the figures of a report use: importing
// the original links twelve fonts, of which two are used, and the backends for PDF,
// EPS, LaTeX and bitmaps, five megabytes of program (docs/decisions/0006).
//
// The layout is adapted from gonum.org/v1/plot, Copyright 2012 The Gonum Authors, used
// under the BSD license of that module.
package plot

import (
	"math"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Plotter draws data. c is the part of the canvas between the axes of p.
type Plotter interface {
	Plot(c draw.Canvas, p *Plot)
}

// Plot is a horizontal axis at the bottom, a vertical one on the left, and the data
// between them.
type Plot struct {
	X, Y     Axis
	plotters []Plotter
}

// New returns a plot without data. The look of axes, labels and ticks is for the caller
// to set; labels are aligned to their axis.
func New() *Plot {
	p := &Plot{X: newAxis(), Y: newAxis()}
	p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XCenter, draw.YTop
	p.Y.Tick.Label.XAlign, p.Y.Tick.Label.YAlign = draw.XRight, draw.YCenter
	return p
}

// Add adds data, which is drawn in the order in which it is added.
func (p *Plot) Add(list ...Plotter) { p.plotters = append(p.plotters, list...) }

// Transforms returns functions from values to places on the canvas between the axes.
func (p *Plot) Transforms(c *draw.Canvas) (x, y func(float64) vg.Length) {
	x = func(v float64) vg.Length { return c.X(p.X.Norm(v)) }
	y = func(v float64) vg.Length { return c.Y(p.Y.Norm(v)) }
	return x, y
}

// Draw draws the axes and the data.
func (p *Plot) Draw(c draw.Canvas) {
	p.X.sanitize()
	p.Y.sanitize()
	x, y := horizontal{&p.X}, vertical{&p.Y}
	left, below := y.size(), x.size()
	x.draw(x.pad(draw.Crop(c, left, 0, 0, 0)))
	y.draw(y.pad(draw.Crop(c, 0, 0, below, 0)))
	data := y.pad(x.pad(draw.Crop(c, left, 0, below, 0)))
	for _, d := range p.plotters {
		d.Plot(data, p)
	}
}

// Axis is one axis. It spans values from Min to Max.
type Axis struct {
	Min, Max float64
	Label    struct {
		Text      string
		Padding   vg.Length // between the label and the ticks' labels
		TextStyle text.Style
	}
	draw.LineStyle
	Padding vg.Length // between the axis and the data
	Tick    struct {
		Label text.Style
		draw.LineStyle
		Length vg.Length
		Marker Ticker
	}
	Scale Scale // nil is linear
}

func newAxis() Axis { return Axis{Min: math.Inf(1), Max: math.Inf(-1)} }

// sanitize gives an axis a range where it has none.
func (a *Axis) sanitize() {
	if math.IsInf(a.Min, 0) {
		a.Min = 0
	}
	if math.IsInf(a.Max, 0) {
		a.Max = 0
	}
	if a.Min > a.Max {
		a.Min, a.Max = a.Max, a.Min
	}
	if a.Min == a.Max {
		a.Min--
		a.Max++
	}
}

// Norm is the place of a value on the axis: 0 at Min, 1 at Max.
func (a *Axis) Norm(v float64) float64 {
	if a.Scale == nil {
		return (v - a.Min) / (a.Max - a.Min)
	}
	return a.Scale.Normalize(a.Min, a.Max, v)
}

// marks are the ticks, if any.
func (a *Axis) marks() []Tick {
	if a.Tick.Marker == nil {
		return nil
	}
	return a.Tick.Marker.Ticks(a.Min, a.Max)
}

func (a *Axis) drawsTicks() bool { return a.Tick.Width > 0 && a.Tick.Length > 0 }

// Scale places values on an axis.
type Scale interface {
	Normalize(least, most, v float64) float64
}

// LogScale is a scale on which equal factors are equally long. All values must be above 0.
type LogScale struct{}

// Normalize places a value between the ends of the axis.
func (LogScale) Normalize(least, most, v float64) float64 {
	from := math.Log(least)
	return (math.Log(v) - from) / (math.Log(most) - from)
}

// Tick is a mark on an axis; one without a label is half as long.
type Tick struct {
	Value float64
	Label string
}

// start is where the mark begins, of its length.
func (t Tick) start(length vg.Length) vg.Length {
	if t.Label == "" {
		return length / 2
	}
	return 0
}

// Ticker makes the ticks of an axis. Those outside its range are not drawn.
type Ticker interface {
	Ticks(least, most float64) []Tick
}

// ConstantTicks are the same ticks for any range.
type ConstantTicks []Tick

// Ticks returns the ticks.
func (c ConstantTicks) Ticks(least, most float64) []Tick { return c }

// box is what a label covers, around a place on the axis.
type box struct {
	at float64 // place on the axis, as Norm gives it
	vg.Rectangle
}

// labelExtents are the greatest width and height of the labels of ticks.
func labelExtents(style text.Style, marks []Tick) (width, height font.Length) {
	for _, t := range marks {
		if t.Label == "" {
			continue
		}
		size := style.Rectangle(t.Label).Size()
		width, height = max(width, size.X), max(height, size.Y)
	}
	return width, height
}
