package plots

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"
	"sync"

	"gonum.org/v1/plot/font"
	gonumtext "gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/gaprof/gaprof/analyze/render/plots/plot"
)

// Widths of drawings in pixels: of a page and of a phone held upright.
const (
	Wide   = 860
	Narrow = 350
)

// Figure is one drawing.
type Figure struct {
	ID    string // unique in a report, safe in file names
	Title string // what is shown, with the unit
	Text  string // what it says, for those who cannot see it
	Note  string // definitions and what was left out

	keys []key
	make func(width int) (p *plot.Plot, height int)
}

// key is one entry of a legend.
type key struct {
	label string
	ink   ink
	shape draw.GlyphDrawer // nil: a filled box
}

// Inline draws a figure as an element of an HTML page. Its colours are custom properties
// (StyleSheet), its letters those of the page.
func (f Figure) Inline(width int) string { return f.svg(width, true) }

// File draws a figure as an SVG file of its own, on white.
func (f Figure) File(width int) string { return f.svg(width, false) }

const (
	smallSize, titleSize = 12, 14
	lineHeight           = 18
	margin               = 4
)

func (f Figure) svg(width int, inline bool) string {
	p, height := f.make(width)
	title := wrap(f.Title, bold(titleSize), float64(width-2*margin))
	rows := legendRows(f.keys, float64(width-2*margin))
	total := height + lineHeight*(len(title)+len(rows)) + 2*margin
	out := vgsvg.New(vg.Length(width), vg.Length(total))
	c := draw.New(out)
	y := c.Max.Y - margin
	for _, line := range title {
		y -= lineHeight
		c.FillText(bold(titleSize), vg.Point{X: margin, Y: y + 5}, line)
	}
	for _, row := range rows {
		y -= lineHeight
		drawKeys(c, row, y)
	}
	p.Draw(draw.Crop(c, margin, -margin, 0, y-c.Max.Y))
	var b bytes.Buffer
	if _, err := out.WriteTo(&b); err != nil {
		panic(err) // writing to a buffer cannot fail
	}
	return f.tidy(b.String(), width, total, inline)
}

// letters is the style of small text; text is measured with metrics that Arial,
// Helvetica and Liberation Sans share.
func letters(size vg.Length) gonumtext.Style {
	return gonumtext.Style{
		Color:   text,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		Handler: plot.TextHandler(),
	}
}

func bold(size vg.Length) gonumtext.Style {
	s := letters(size)
	s.Font.Weight = 3 // bold, in the terms of golang.org/x/image/font
	return s
}

// wrap breaks a text at spaces into lines of at most width.
func wrap(s string, style gonumtext.Style, width float64) []string {
	var lines []string
	current := ""
	for _, word := range strings.Fields(s) {
		if longer := strings.TrimSpace(current + " " + word); float64(style.Width(longer)) <= width || current == "" {
			current = longer
			continue
		}
		lines, current = append(lines, current), word
	}
	return append(lines, current)
}

const keyBox, keyGap = 10, 16

// legendRows places as many keys side by side as fit.
func legendRows(keys []key, width float64) [][]key {
	var rows [][]key
	x := width + 1
	for _, k := range keys {
		w := keyBox + 5 + float64(letters(smallSize).Width(k.label)) + keyGap
		if x+w-keyGap > width {
			rows, x = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], k)
		x += w
	}
	return rows
}

func drawKeys(c draw.Canvas, keys []key, y vg.Length) {
	x := vg.Length(margin)
	for _, k := range keys {
		if k.shape != nil {
			glyph := draw.GlyphStyle{Color: k.ink, Radius: 4.5, Shape: k.shape}
			c.DrawGlyphNoClip(glyph, vg.Point{X: x + keyBox/2, Y: y + 9})
		} else {
			c.SetColor(k.ink)
			c.Fill(box(x, y+4, x+keyBox, y+4+keyBox))
		}
		c.FillText(letters(smallSize), vg.Point{X: x + keyBox + 5, Y: y + 5}, k.label)
		x += keyBox + 5 + letters(smallSize).Width(k.label) + keyGap
	}
}

func box(x0, y0, x1, y1 vg.Length) vg.Path {
	var p vg.Path
	p.Move(vg.Point{X: x0, Y: y0})
	p.Line(vg.Point{X: x0, Y: y1})
	p.Line(vg.Point{X: x1, Y: y1})
	p.Line(vg.Point{X: x1, Y: y0})
	p.Close()
	return p
}

var (
	fontStyle = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\n?\t?style="font-family:Liberation Sans;font-variant:normal;` +
			`font-weight:(normal|bold);font-style:normal;font-size:([0-9.]+)px;fill:(#[0-9A-F]{6})">`)
	})
	oneColour = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(` style="(fill|fill:none;stroke):(#[0-9A-F]{6})`)
	})
)

// tidy turns the library's document into an element: a head of our own, colours by name
// inside a page, and no repeated styles.
func (f Figure) tidy(s string, width, height int, inline bool) string {
	_, body, _ := strings.Cut(s, "<g ")
	body = fontStyle().ReplaceAllStringFunc(body, func(m string) string {
		part := fontStyle().FindStringSubmatch(m)
		attributes := fmt.Sprintf(`font-size="%s" fill="%s"`, part[2], colour(part[3], inline))
		if part[1] == "bold" {
			attributes += ` font-weight="bold"`
		}
		return " " + attributes + ">"
	})
	body = oneColour().ReplaceAllStringFunc(body, func(m string) string {
		part := oneColour().FindStringSubmatch(m)
		return fmt.Sprintf(` style="%s:%s`, part[1], colour(part[2], inline))
	})
	head := fmt.Sprintf(`<svg viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s" `+
		`font-family="Arial,Helvetica,'Liberation Sans',sans-serif"`,
		width, height, width, height, html.EscapeString(f.Title+". "+f.Text))
	if !inline {
		head += fmt.Sprintf(" xmlns=\"http://www.w3.org/2000/svg\">\n<title>%s</title>\n<desc>%s</desc>\n"+
			"<rect width=\"%d\" height=\"%d\" fill=\"%s\"/>\n<g ",
			html.EscapeString(f.Title), html.EscapeString(f.Text), width, height, paper)
	} else {
		head += ">\n<g "
	}
	return head + strings.ReplaceAll(body, "\n\t", " ")
}

// colour is how a colour of the palette is written.
func colour(light string, inline bool) string {
	for _, i := range palette {
		if inline && i.light == light {
			return "var(--p-" + i.name + ")"
		}
	}
	return light
}
