package plot

import (
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// horizontal draws an axis along the bottom.
type horizontal struct{ *Axis }

// labelSize is the height of the axis' own label.
func (a horizontal) labelSize() font.Length {
	if a.Label.Text == "" {
		return 0
	}
	return a.Label.TextStyle.Height(a.Label.Text) + a.Label.Padding
}

// size is the height of the axis.
func (a horizontal) size() font.Length {
	h := a.labelSize()
	if marks := a.marks(); len(marks) > 0 {
		if a.drawsTicks() {
			h += a.Tick.Length
		}
		_, height := labelExtents(a.Tick.Label, marks)
		h += height
	}
	return h + a.Width/2 + a.Padding
}

func (a horizontal) draw(c draw.Canvas) {
	y := c.Min.Y
	if a.Label.Text != "" {
		descent := a.Label.TextStyle.FontExtents().Descent
		c.FillText(a.Label.TextStyle, vg.Point{X: c.Center().X, Y: y + descent}, a.Label.Text)
		y += a.labelSize()
	}
	marks := a.marks()
	_, height := labelExtents(a.Tick.Label, marks)
	descent := a.Tick.Label.FontExtents().Descent
	for _, t := range marks {
		if x := c.X(a.Norm(t.Value)); c.ContainsX(x) && t.Label != "" {
			c.FillText(a.Tick.Label, vg.Point{X: x, Y: y + height + descent}, t.Label)
		}
	}
	if len(marks) > 0 {
		y += height
	} else {
		y += a.Width / 2
	}
	if len(marks) > 0 && a.drawsTicks() {
		for _, t := range marks {
			if x := c.X(a.Norm(t.Value)); c.ContainsX(x) {
				c.StrokeLine2(a.Tick.LineStyle, x, y+t.start(a.Tick.Length), x, y+a.Tick.Length)
			}
		}
		y += a.Tick.Length
	}
	c.StrokeLine2(a.LineStyle, c.Min.X, y, c.Max.X, y)
}

// boxes are what the labels cover.
func (a horizontal) boxes() []box {
	var list []box
	if a.Label.Text != "" {
		list = append(list, box{a.Norm(0.5 * (a.Max + a.Min)), a.Label.TextStyle.Rectangle(a.Label.Text)})
	}
	for _, t := range a.marks() {
		if t.Label != "" {
			list = append(list, box{a.Norm(t.Value), a.Tick.Label.Rectangle(t.Label)})
		}
	}
	return list
}

// pad makes room on the right for the label that reaches farthest.
func (a horizontal) pad(c draw.Canvas) draw.Canvas {
	farthest, last := c.Max.X, box{at: 1}
	for _, b := range a.boxes() {
		if b.Size().X <= 0 || b.at > 1 {
			continue
		}
		if x := c.X(b.at) + b.Min.X + b.Size().X; x > farthest {
			farthest, last = x, b
		}
	}
	over := last.Min.X + last.Size().X // of the place at which the label stands
	c.Max.X = c.Min.X + (c.Max.X-over-c.Min.X)/vg.Length(last.at)
	return c
}
