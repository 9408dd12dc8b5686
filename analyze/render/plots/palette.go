package plots

import (
	"fmt"
	"image/color"
	"math"
	"strings"
)

// ink is a colour of the palette: its name in style sheets, what it is on paper and what
// on a dark screen. The hues of communication are those of Okabe and Ito, which people
// tell apart whatever colours they see; besides hue they differ in lightness.
type ink struct {
	name        string
	light, dark string // #RRGGBB
}

// The palette. No two light colours are equal: tidy finds the name of a colour by it.
var (
	text      = ink{"text", "#1F2328", "#E6E8EB"}
	faint     = ink{"faint", "#8A9099", "#79818C"}
	grid      = ink{"grid", "#E3E6EA", "#33383F"}
	compute   = ink{"compute", "#8FB8DE", "#4A7FB0"}
	memory    = ink{"memory", "#5B6C7D", "#A9B8C6"}
	rs        = ink{"rs", "#D55E00", "#FF7A1F"}
	ag        = ink{"ag", "#E69F00", "#F4BC3C"}
	ar        = ink{"ar", "#B8589A", "#E08CC4"}
	other     = ink{"other", "#8C6D31", "#C7A566"}
	idle      = ink{"idle", "#D0D3D8", "#4B5159"}
	hiddenRS  = ink{"hidden-rs", "#F4C7A5", "#84492A"}
	hiddenAG  = ink{"hidden-ag", "#F5DA9B", "#7C6325"}
	hiddenAR  = ink{"hidden-ar", "#E6C3DB", "#724A66"}
	hiddenOth = ink{"hidden-other", "#D9CBAC", "#62533A"}
	forward   = ink{"forward", "#B9D9B4", "#86B47F"}
	backward  = ink{"backward", "#5F9A66", "#3F7A48"}
	after     = ink{"after", "#1F4D34", "#C9E6C4"}
	optimizer = ink{"optimizer", "#7468AE", "#9C90DA"}
	unknown   = ink{"unknown", "#B4B8BE", "#666D76"}
	wait      = ink{"wait", "#0072B2", "#4FA9E0"}
	changed   = ink{"changed", "#00805C", "#2BD9A0"}
)

var palette = []ink{
	text, faint, grid, compute, memory, rs, ag, ar, other, idle, hiddenRS, hiddenAG, hiddenAR, hiddenOth,
	forward, backward, after, optimizer, unknown, wait, changed,
}

// Paper is the background of figures: standalone files paint it, pages have their own.
const paper = "#FFFFFF"

// RGBA makes an ink a color.Color.
func (i ink) RGBA() (r, g, b, a uint32) { return i.rgb().RGBA() }

func (i ink) rgb() color.NRGBA {
	var c color.NRGBA
	fmt.Sscanf(i.light, "#%02X%02X%02X", &c.R, &c.G, &c.B)
	c.A = 0xFF
	return c
}

// StyleSheet declares the palette as custom properties: light ones by default, dark ones
// on a dark screen; paper is always light. Each colour has a property, and letters on it
// have another.
func StyleSheet() string {
	var b strings.Builder
	b.WriteString(":root{")
	for _, i := range palette {
		fmt.Fprintf(&b, "--p-%s:%s;--p-on-%s:%s;", i.name, i.light, i.name, readableOn(i.light))
	}
	b.WriteString("}\n@media screen and (prefers-color-scheme:dark){:root{")
	for _, i := range palette {
		fmt.Fprintf(&b, "--p-%s:%s;--p-on-%s:%s;", i.name, i.dark, i.name, readableOn(i.dark))
	}
	b.WriteString("}}\n")
	return b.String()
}

// class is how one kind of device time is drawn.
type class struct {
	id, label string
	ink       ink
	hidden    ink // the part of communication that something covers
}

// classes are the buckets of the ledger, in its order.
var classes = []class{
	{"compute", "compute", compute, compute},
	{"memory", "copies and memsets", memory, memory},
	{"reduce_scatter", "reduce-scatter", rs, hiddenRS},
	{"all_gather", "all-gather", ag, hiddenAG},
	{"all_reduce", "all-reduce", ar, hiddenAR},
	{"other_communication", "other communication", other, hiddenOth},
	{"idle", "idle", idle, idle},
}

// phases are what compute kernels are launched in, in the order of a step.
var phases = []class{
	{"forward", "forward", forward, forward},
	{"backward", "backward", backward, backward},
	{"gradient_sync", "gradient sync", other, other},
	{"after_backward", "after backward", after, after},
	{"optimizer", "optimizer", optimizer, optimizer},
	{"unknown", "phase unknown", unknown, unknown},
}

// classOf finds a class by its id; a collective that has no bucket of its own is other
// communication.
func classOf(list []class, id string) (class, int) {
	for i, c := range list {
		if c.id == id {
			return c, i
		}
	}
	return classes[5], 5
}

// readableOn is the colour of letters on another, of black and white the one with more contrast.
func readableOn(rgb string) string {
	l := luminance(rgb)
	if 1.05/(l+0.05) > (l+0.05)/0.05 {
		return "#FFF"
	}
	return "#000"
}

// luminance is the relative luminance of #RRGGBB by WCAG 2.
func luminance(rgb string) float64 {
	c := ink{light: rgb}.rgb()
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v := float64([]uint8{c.R, c.G, c.B}[i]) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}

// Ink is the name of the colour of a part of a step, as StyleSheet declares it.
func Ink(part string) string {
	c, _ := classOf(classes, part)
	return c.ink.name
}

// Order is the place of a part of a step in stacked bars.
func Order(part string) int {
	_, at := classOf(classes, part)
	return at
}
