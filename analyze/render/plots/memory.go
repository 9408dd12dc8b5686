package plots

import (
	"fmt"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/gaprof/gaprof/analyze/render/plots/plot"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// memories draws the memory of devices over one step, highest peak first.
func memories(r *report.Report) []Figure {
	if r.Drawing == nil {
		return nil
	}
	var figures []Figure
	for i := range r.Drawing.Memory {
		if s := &r.Drawing.Memory[i]; drawable(s) {
			figures = append(figures, memoryFigure(s, len(figures)))
		}
	}
	return figures
}

// drawable reports whether a series can be drawn: a report may come from anybody.
func drawable(s *report.MemorySeries) bool {
	n := len(s.At)
	fits := func(list []int64) bool { return len(list) == 0 || len(list) == n }
	return n > 0 && len(s.Allocated) == n && fits(s.Reserved) && fits(s.Held) && s.Duration > 0
}

func memoryFigure(s *report.MemorySeries, i int) Figure {
	unit, _ := memoryUnit(s)
	f := Figure{
		ID: fmt.Sprintf("memory-%d", i),
		Title: fmt.Sprintf("Memory of %s over step %d of rank %d, %s by ms from its start on the host",
			deviceName(s), s.Step, s.Rank, unit),
		Text: memoryWords(s),
		Note: "Time of the host, which allocates before the device uses the memory. " +
			"Bottom row: the phases of the step. " +
			"Held until backward: allocated in forward and released in a backward pass of the step.",
		make: func(width int) (*plot.Plot, int) { return memoryPlot(s, width) },
	}
	if s.Relative {
		f.Note += " The trace does not record everything that is allocated: amounts are lower bounds."
	}
	f.keys = append(f.keys, key{label: "allocated", ink: compute})
	if len(s.Held) > 0 {
		f.keys = append(f.keys, key{label: "of it held until backward", ink: memory})
	}
	if len(s.Reserved) > 0 {
		f.keys = append(f.keys, key{label: "reserved", ink: wait, shape: draw.RingGlyph{}})
	}
	for _, c := range phases {
		if strip := phaseStrip(s, c.id); strip != nil && len(strip.Spans) > 0 {
			f.keys = append(f.keys, key{label: c.label, ink: c.ink})
		}
	}
	return f
}

// deviceName is a device in words.
func deviceName(s *report.MemorySeries) string {
	if s.Kind == "cpu" {
		return "the host"
	}
	return short(strings.TrimSpace(s.Kind+" device "+s.Device), 40)
}

func phaseStrip(s *report.MemorySeries, class string) *report.Strip {
	for i := range s.Phases {
		if s.Phases[i].Class == class {
			return &s.Phases[i]
		}
	}
	return nil
}

// memoryUnit is the decimal unit that suits the highest amount, and its bytes.
func memoryUnit(s *report.MemorySeries) (string, float64) {
	switch most := max(highestOf(s.Allocated), highestOf(s.Reserved)); {
	case most >= 2e9:
		return "GB", 1e9
	case most >= 2e6:
		return "MB", 1e6
	}
	return "kB", 1e3
}

func highestOf(list []int64) (most int64) {
	for _, v := range list {
		most = max(most, v)
	}
	return most
}

func memoryPlot(s *report.MemorySeries, width int) (*plot.Plot, int) {
	unit, scale := memoryUnit(s)
	p := newPlot("ms", unit)
	high := headroom(float64(max(highestOf(s.Allocated), highestOf(s.Reserved))) / scale)
	between(&p.X, 0, units.MS(s.Duration), max(3, width/110))
	amounts(&p.Y, high, 6)
	p.Y.Min = -high / 12
	p.Add(lines{})
	line := func(values []int64, i ink, fill bool) {
		if len(values) > 0 {
			p.Add(stairs{at: s.At, values: values, end: s.Duration, scale: scale, ink: i, fill: fill})
		}
	}
	line(s.Allocated, compute, true)
	line(s.Held, memory, true)
	line(s.Reserved, wait, false)
	for _, c := range phases {
		if strip := phaseStrip(s, c.id); strip != nil {
			boxes := rects{ink: c.ink, least: 0.5}
			for _, span := range strip.Spans {
				boxes.boxes = append(boxes.boxes,
					rect{units.MS(span[0]), units.MS(span[0] + span[1]), -high / 13, -high / 60})
			}
			p.Add(boxes)
		}
	}
	return p, 280
}

// stairs is an amount that stays as it is from each instant to the next.
type stairs struct {
	at, values []int64 // ns, bytes
	end        int64   // ns, of the last value
	scale      float64 // bytes of the unit
	ink        ink
	fill       bool // the area below it, else a line
}

// Plot draws the stairs.
func (s stairs) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	point := func(at, v int64) vg.Point {
		return vg.Point{X: x(units.MS(min(at, s.end))), Y: y(float64(v) / s.scale)}
	}
	points := []vg.Point{point(s.at[0], s.values[0])}
	for i := 1; i < len(s.at); i++ {
		points = append(points, point(s.at[i], s.values[i-1]), point(s.at[i], s.values[i]))
	}
	points = append(points, point(s.end, s.values[len(s.values)-1]))
	if !s.fill {
		c.StrokeLines(draw.LineStyle{Color: s.ink, Width: 1.5}, points)
		return
	}
	c.FillPolygon(s.ink, append([]vg.Point{point(s.at[0], 0)}, append(points, point(s.end, 0))...))
}

// memoryWords gives the figure in words.
func memoryWords(s *report.MemorySeries) string {
	top := 0
	for i, v := range s.Allocated {
		if v > s.Allocated[top] {
			top = i
		}
	}
	text := fmt.Sprintf("Allocated memory begins at %s and is highest after %.2f ms: %s.", units.Bytes(s.Allocated[0]),
		units.MS(s.At[top]), units.Bytes(s.Allocated[top]))
	if len(s.Held) > 0 {
		text += fmt.Sprintf(" Of that, %s are held until backward.", units.Bytes(s.Held[top]))
	}
	if len(s.Reserved) > 0 {
		text += fmt.Sprintf(" At most %s are reserved.", units.Bytes(highestOf(s.Reserved)))
	}
	return text
}
