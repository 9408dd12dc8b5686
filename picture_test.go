package gaprof_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "draw "+picture+" again")

// picture shows the packages there are on their floors; the page of the architecture
// includes it. It is drawn from the tables of floors_test.go.
const picture = "docs/images/floors.svg"

func TestPicture(t *testing.T) {
	want := drawFloors(packages(t))
	if *update {
		if err := os.WriteFile(picture, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(picture); err != nil || string(got) != want {
		t.Errorf("%s is not that of floors_test.go (go test . -update draws it): %v", picture, err)
	}
}

// Sizes in pixels.
const (
	labelWidth   = 70
	columnWidth  = 250
	boxHeight    = 22
	boxGap       = 4
	pictureWidth = labelWidth + len(columns)*columnWidth
	pictureHead  = 34
)

// column is the half of the project that a package belongs to.
type column struct {
	title, color string
	holds        func(pkg string) bool
}

// columns are tried in this order.
var columns = [4]column{
	{"traces", "#cfe3f7", func(pkg string) bool { return half(pkg) == "trace" }},
	{"analyzer", "#d5efd3", func(pkg string) bool { return half(pkg) == "analyze" }},
	{"trainer", "#fbe3c4", func(pkg string) bool { return half(pkg) == "reference" }},
	{"both, and helpers", "#e6e2ee", func(string) bool { return true }},
}

// band is a floor, or what stands just under one, with packages by column.
type band struct {
	label string
	cells [len(columns)][]string
}

// count is how many packages the band holds.
func (b *band) count() int {
	n := 0
	for _, cell := range b.cells {
		n += len(cell)
	}
	return n
}

// color is that of column i. Leaves have the last one: they fill the row as they come.
func (b *band) color(i int) string {
	if b.label == "leaf" {
		i = len(columns) - 1
	}
	return columns[i].color
}

// height is that of the fullest column.
func (b *band) height() int {
	most := 0
	for _, cell := range b.cells {
		most = max(most, len(cell))
	}
	return most*(boxHeight+boxGap) + 2*boxGap
}

// bands returns those that hold a package, the highest first.
func bands(pkgs []string) []band {
	labels := []string{"leaf"}
	for i := range floors {
		labels = append(labels, fmt.Sprint("under ", i), fmt.Sprint(i))
	}
	slices.Reverse(labels)
	var all []band
	for _, label := range labels {
		b := band{label: label}
		for _, pkg := range pkgs {
			if p, ok := placeOf(pkg); ok && p.label() == label {
				at := slices.IndexFunc(columns[:], func(c column) bool { return c.holds(pkg) })
				if p.floor < 0 {
					at = b.count() % len(columns) // for everybody
				}
				b.cells[at] = append(b.cells[at], pkg)
			}
		}
		if b.count() > 0 {
			all = append(all, b)
		}
	}
	return all
}

func drawFloors(pkgs []string) string {
	var out strings.Builder
	list := bands(pkgs)
	height := pictureHead
	for _, b := range list {
		height += b.height()
	}
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d"`, pictureWidth, height)
	out.WriteString(" font-family=\"sans-serif\" font-size=\"13\">\n")
	out.WriteString("<title>The packages of gaprof on their floors</title>\n")
	fmt.Fprintf(&out, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", pictureWidth, height)
	for i, c := range columns {
		fmt.Fprintf(&out, `<text x="%d" y="22" font-weight="bold">%s</text>`+"\n", labelWidth+i*columnWidth+8, c.title)
	}
	y := pictureHead
	for _, b := range list {
		b.draw(&out, y)
		y += b.height()
	}
	out.WriteString("</svg>\n")
	return out.String()
}

// draw draws the band from y down. What stands under a floor has dashed frames.
func (b *band) draw(out *strings.Builder, y int) {
	frame := `stroke="#5b6470"`
	if strings.HasPrefix(b.label, "under") {
		frame += ` stroke-dasharray="4 3"`
	}
	fmt.Fprintf(out, `<path d="M0 %dH%d" stroke="#c4cad2"/>`+"\n", y, pictureWidth)
	fmt.Fprintf(out, `<text x="8" y="%d" fill="#5b6470">%s</text>`+"\n", y+boxHeight, b.label)
	for i, cell := range b.cells {
		for k, pkg := range cell {
			if pkg == "." {
				pkg = "gaprof (the root)"
			}
			x, top := labelWidth+i*columnWidth+4, y+boxGap+k*(boxHeight+boxGap)
			fmt.Fprintf(out, `<rect x="%d" y="%d" width="%d" height="%d" rx="3" fill="%s" %s/>`+"\n",
				x, top, columnWidth-8, boxHeight, b.color(i), frame)
			fmt.Fprintf(out, `<text x="%d" y="%d">%s</text>`+"\n", x+8, top+15, pkg)
		}
	}
}
