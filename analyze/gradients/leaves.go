package gradients

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/bounded"
)

// withoutLeaves returns params without what accumulates a gradient and is no parameter, such
// as the hidden state that a chunked loss detaches: single tensors of a shape that no
// optimizer touches. Their classes stay, with a count of 0, because Backward.Accumulated
// refers to them.
//
// It leaves params as they are unless the spans of every optimizer show shapes, and those
// are the shapes of most parameters: fused and foreach optimizers of older versions record
// none, and then every parameter would seem untouched.
func withoutLeaves(x *timeline.Rank, params Params) Params {
	if len(x.Optimizers) == 0 {
		return params
	}
	stepped := steppedShapes(x)
	if !params.covered(stepped) {
		return params
	}
	kept := Params{Classes: slices.Clone(params.Classes)}
	for i := range kept.Classes {
		p := &kept.Classes[i]
		if p.Count == 1 && !anyHas(stepped, shapeKey(p.Dims)) && !anyPadded(stepped, p.Dims) {
			p.Count = 0
		}
	}
	kept.total()
	return kept
}

// steppedShapes returns, by optimizer, the shapes of all tensors inside its spans.
func steppedShapes(x *timeline.Rank) map[string]map[string]bool {
	stepped := make(map[string]map[string]bool)
	in := x.Inputs()
	var before timeline.SeenArgs
	for _, span := range x.Optimizers {
		name, trackEnd := timeline.OptimizerName(x.Name(span.Row)), x.TrackEnd(span.Row)
		shapes := stepped[name]
		for i := span.Row + 1; i < trackEnd && x.Col.Start[i] < span.End; i++ {
			if shapes == nil {
				shapes = make(map[string]bool)
				stepped[name] = shapes
			}
			if _, closure := x.ClosureAt(x.Col.Start[i]); !closure && !before.Again(x.Col.Args[i], name) {
				noteShapes(shapes, in.Of(i))
			}
		}
	}
	return stepped
}

// noteShapes adds the shapes of operands to a set.
func noteShapes(stepped map[string]bool, ops []timeline.Operand) {
	for _, o := range ops {
		for _, s := range o.Shapes {
			stepped[shapeKey(s)] = true
		}
	}
}

// anyHas reports whether any of some sets has a key.
func anyHas(sets map[string]map[string]bool, key string) bool {
	for _, set := range sets {
		if set[key] {
			return true
		}
	}
	return false
}

// anyPadded reports whether any of some sets has a shape with some more rows, as a sharded
// optimizer reduces a gradient whose rows its ranks do not divide.
func anyPadded(sets map[string]map[string]bool, dims []int64) bool {
	if len(dims) == 0 {
		return false
	}
	rest := shapeKey(dims[1:])
	for _, set := range sets {
		for key := range set {
			first, after, _ := strings.Cut(key, " ")
			rows, err := strconv.ParseInt(first, 10, 64)
			if err == nil && after == rest && rows > dims[0] && float64(rows) <= mostPaddedNode*float64(dims[0]) {
				return true
			}
		}
	}
	return false
}

// covered reports whether the shapes that optimizers touch are those of most parameters,
// both by number and by elements, and every optimizer touches the shape of some parameter.
func (p *Params) covered(stepped map[string]map[string]bool) bool {
	count, elements := 0, int64(0)
	touches := make(map[string]bool)
	for _, class := range p.Classes {
		key := shapeKey(class.Dims)
		if class.Dims == nil || !anyHas(stepped, key) {
			continue
		}
		count += class.Count
		elements = bounded.Add(elements, bounded.Mul(int64(class.Count), class.Numel))
		for name, set := range stepped {
			touches[name] = touches[name] || set[key]
		}
	}
	for name := range stepped {
		if !touches[name] {
			return false
		}
	}
	return 2*count > p.Count && elements > p.Numel-elements
}
