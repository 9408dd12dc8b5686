package gradients

import (
	"strconv"

	"github.com/gaprof/gaprof/analyze/timeline"
)

// ParamClass is the parameters of one shape and dtype. Without recorded shapes all
// parameters are one class with Dims nil and Numel 0.
type ParamClass struct {
	Dims  []int64
	Numel int64
	Dtype string
	Size  int64 // bytes of one element, 0 unknown
	Count int   // parameters, as one backward pass accumulates them
}

// Params is what a rank trains, read from its gradient accumulations.
type Params struct {
	Classes []ParamClass
	Count   int
	Numel   int64
	Bytes   int64 // of the gradients
}

// classKey tells classes apart.
type classKey struct{ dims, dtype string }

// shapeKey is a shape as text, for maps.
func shapeKey(dims []int64) string {
	var buf [64]byte
	key := buf[:0]
	for _, d := range dims {
		key = append(strconv.AppendInt(key, d, 10), ' ')
	}
	return string(key)
}

func (p *Params) add(dims []int64, dtype string) {
	c := ParamClass{Dims: dims, Dtype: dtype, Size: timeline.DtypeBytes(dtype)}
	if dims != nil {
		c.Numel = timeline.Numel(dims)
	}
	p.Classes = append(p.Classes, c)
}

func (p *Params) total() {
	p.Count, p.Numel, p.Bytes = 0, 0, 0
	for _, c := range p.Classes {
		p.Count += c.Count
		p.Numel += int64(c.Count) * c.Numel
		p.Bytes += int64(c.Count) * c.Numel * c.Size
	}
}

// Known reports whether shapes were recorded.
func (p *Params) Known() bool { return p.Numel > 0 }

// reached is how many parameters some accumulations are of.
func (p *Params) reached(accumulated []int) int {
	n := 0
	for i, count := range accumulated {
		n += min(count, p.Classes[i].Count)
	}
	return n
}

// classNumbers numbers the classes of parameters as they come.
type classNumbers struct {
	of   map[classKey]int
	seen map[*timeline.Operand]int // by the first of several operands: equal texts are parsed once
}

// number is the class of what an accumulation takes; a new one is added to p.
func (k *classNumbers) number(p *Params, ops []timeline.Operand) int {
	if len(ops) == 0 || len(ops[0].Shapes) != 1 {
		return k.numberOf(p, nil, "", classKey{})
	}
	class, ok := k.seen[&ops[0]]
	if !ok {
		dims, dtype := ops[0].Shapes[0], ops[0].Dtype
		class = k.numberOf(p, dims, dtype, classKey{shapeKey(dims), dtype})
		k.seen[&ops[0]] = class
	}
	return class
}

func (k *classNumbers) numberOf(p *Params, dims []int64, dtype string, key classKey) int {
	class, ok := k.of[key]
	if !ok {
		class = len(p.Classes)
		k.of[key] = class
		p.add(dims, dtype)
	}
	return class
}
