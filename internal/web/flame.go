package web

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/google/pprof/profile"

	"github.com/gaprof/gaprof/internal/escape"
)

// frame is a function of a flame graph and what it calls.
type frame struct {
	name  string
	value int64
	calls map[string]*frame
}

// What is drawn of a profile.
const (
	mostDepth = 40
	leastPart = 2000 // a frame of less than one part in so many is not drawn
	rowHeight = 20   // pixels
)

// flameOf sums the first value of a profile by stack.
func flameOf(data []byte) (*frame, error) {
	p, err := profile.Parse(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	root := &frame{name: "all", calls: map[string]*frame{}}
	for _, sample := range p.Sample {
		if len(sample.Value) == 0 {
			continue
		}
		at := root
		at.value += sample.Value[0]
		for _, location := range slices.Backward(sample.Location) {
			for _, line := range slices.Backward(location.Line) {
				if line.Function != nil {
					at = at.call(line.Function.Name)
					at.value += sample.Value[0]
				}
			}
		}
	}
	return root, nil
}

func (f *frame) call(name string) *frame {
	c := f.calls[name]
	if c == nil {
		c = &frame{name: name, calls: map[string]*frame{}}
		f.calls[name] = c
	}
	return c
}

// box is a frame as it is drawn: X and Width in percent, Y in pixels.
type box struct {
	X, Width   string
	Y, TextY   int
	Fill       string
	Label, Tip string
}

// boxes lays out a flame graph, the callers above; height is how many rows it has.
func (f *frame) boxes() (list []box, height int) {
	var draw func(at *frame, from float64, depth int)
	draw = func(at *frame, from float64, depth int) {
		width := 100 * float64(at.value) / float64(f.value)
		height = max(height, depth+1)
		list = append(list, box{X: percent(from), Width: percent(width),
			Y: depth * rowHeight, TextY: depth*rowHeight + 14, Fill: colour(at.name), Label: escape.Control(at.name),
			Tip: fmt.Sprintf("%s: %.3f ms, %.2f %%", escape.Control(at.name), float64(at.value)/1e6, width)})
		for _, c := range at.sorted() {
			if c.value*leastPart >= f.value && depth < mostDepth {
				draw(c, from, depth+1)
			}
			from += 100 * float64(c.value) / float64(f.value)
		}
	}
	if f.value > 0 {
		draw(f, 0, 0)
	}
	return list, height
}

// sorted are the calls by value, largest first.
func (f *frame) sorted() []*frame {
	var list []*frame
	for _, c := range f.calls {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *frame) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.name, b.name))
	})
	return list
}

func percent(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) + "%" }

// colour is one of a few light ones, the same for a name wherever it occurs; text on it is dark.
func colour(name string) string {
	fills := []string{"#f6c177", "#f2a97e", "#e8d174", "#b9d88b", "#9ccfd8", "#c4b5e8", "#efb5c4", "#d9c4a5"}
	sum := uint32(2166136261)
	for _, b := range []byte(name) {
		sum = (sum ^ uint32(b)) * 16777619
	}
	return fills[sum%uint32(len(fills))]
}
