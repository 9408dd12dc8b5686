package plot

import (
	"math"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// vertical draws an axis along the left side; its own label stands upright.
type vertical struct{ *Axis }

// size is the width of the axis.
func (a vertical) size() font.Length {
	var w font.Length
	if a.Label.Text != "" {
		style := a.Label.TextStyle
		w += style.FontExtents().Descent
		w += style.Height(a.Label.Text)
		w += a.Label.Padding
	}
	if marks := a.marks(); len(marks) > 0 {
		if width, _ := labelExtents(a.Tick.Label, marks); width > 0 {
			w += width
			w += a.Label.TextStyle.Width(" ")
		}
		if a.drawsTicks() {
			w += a.Tick.Length
		}
	}
	return w + a.Width/2 + a.Padding
}

func (a vertical) draw(c draw.Canvas) {
	x := c.Min.X
	if a.Label.Text != "" {
		style := a.Label.TextStyle
		style.Rotation += math.Pi / 2
		x += a.Label.TextStyle.Height(a.Label.Text)
		descent := a.Label.TextStyle.FontExtents().Descent
		c.FillText(style, vg.Point{X: x - descent, Y: c.Center().Y}, a.Label.Text)
		x += descent
		x += a.Label.Padding
	}
	marks := a.marks()
	width, _ := labelExtents(a.Tick.Label, marks)
	x += width
	labeled := false
	descent := a.Tick.Label.FontExtents().Descent
	for _, t := range marks {
		if y := c.Y(a.Norm(t.Value)); c.ContainsY(y) && t.Label != "" {
			c.FillText(a.Tick.Label, vg.Point{X: x, Y: y + descent}, t.Label)
			labeled = true
		}
	}
	if labeled {
		x += a.Tick.Label.Width(" ")
	}
	if a.drawsTicks() && len(marks) > 0 {
		for _, t := range marks {
			if y := c.Y(a.Norm(t.Value)); c.ContainsY(y) {
				c.StrokeLine2(a.Tick.LineStyle, x+t.start(a.Tick.Length), y, x+a.Tick.Length, y)
			}
		}
		x += a.Tick.Length
	}
	c.StrokeLine2(a.LineStyle, x, c.Min.Y, x, c.Max.Y)
}

// boxes are what the labels cover.
func (a vertical) boxes() []box {
	var list []box
	if a.Label.Text != "" {
		style := a.Label.TextStyle
		style.Rotation += math.Pi / 2
		list = append(list, box{a.Norm(0.5 * (a.Max + a.Min)), style.Rectangle(a.Label.Text)})
	}
	extents := a.Tick.Label.FontExtents()
	for _, t := range a.marks() {
		if t.Label != "" {
			above := vg.Point{Y: extents.Height - extents.Ascent}
			list = append(list, box{a.Norm(t.Value), a.Tick.Label.Rectangle(t.Label).Add(above)})
		}
	}
	return list
}

// pad makes room above for the label that reaches highest.
func (a vertical) pad(c draw.Canvas) draw.Canvas {
	highest, last := c.Max.Y, box{at: 1}
	for _, b := range a.boxes() {
		if b.Size().Y <= 0 || b.at > 1 {
			continue
		}
		if y := c.Y(b.at) + b.Min.Y + b.Size().Y; y > highest {
			highest, last = y, b
		}
	}
	over := last.Min.Y + last.Size().Y // of the place at which the label stands
	c.Max.Y = c.Min.Y + (c.Max.Y-over-c.Min.Y)/vg.Length(last.at)
	return c
}
