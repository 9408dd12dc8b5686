package gradients

import (
	"strconv"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/bounded"
)

// ParamClass is the parameters of one shape and dtype. Without recorded shapes all
// parameters are one class with Dims nil and Numel 0.
type ParamClass struct {
	Dims  []int64 // elements by dimension, shared and read-only; nil if not recorded
	Numel int64   // elements of one parameter
	Dtype string  // of the gradients, as PyTorch prints it; "" unknown
	Size  int64   // bytes of one element, 0 unknown
	Count int     // number of parameters; 0 if the class turned out to be none
}

// Params is what a rank trains, as its gradient accumulations show it.
type Params struct {
	Classes []ParamClass // in order of their first accumulation
	Count   int          // number of parameters
	Numel   int64        // elements of all of them, 0 if shapes were not recorded
	Bytes   int64        // of their gradients; classes of unknown element size count as 0
}

// classKey identifies a class.
type classKey struct{ dims, dtype string }

// shapeKey returns a shape as text, as a key of maps.
func shapeKey(dims []int64) string {
	var buf [64]byte
	return string(appendShape(buf[:0], dims))
}

// appendShape appends the key of a shape.
func appendShape(key []byte, dims []int64) []byte {
	for _, d := range dims {
		key = append(strconv.AppendInt(key, d, 10), ' ')
	}
	return key
}

// add adds a class of which no parameter has been counted yet.
func (p *Params) add(dims []int64, dtype string) {
	c := ParamClass{Dims: dims, Dtype: dtype, Size: timeline.DtypeBytes(dtype)}
	if dims != nil {
		c.Numel = timeline.Numel(dims)
	}
	p.Classes = append(p.Classes, c)
}

// total sums up the classes.
func (p *Params) total() {
	p.Count, p.Numel, p.Bytes = 0, 0, 0
	for _, c := range p.Classes {
		p.Count += c.Count
		numel := bounded.Mul(int64(c.Count), c.Numel)
		p.Numel = bounded.Add(p.Numel, numel)
		p.Bytes = bounded.Add(p.Bytes, bounded.Mul(numel, c.Size))
	}
}

// Known reports whether shapes were recorded.
func (p *Params) Known() bool { return p.Numel > 0 }

// reached returns how many parameters some accumulations, by class, belong to.
func (p *Params) reached(accumulated []int) int {
	n := 0
	for i, count := range accumulated {
		n += min(count, p.Classes[i].Count)
	}
	return n
}

// classNumbers numbers the classes of parameters in order of appearance.
type classNumbers struct {
	of   map[classKey]int
	seen map[*timeline.Operand]int // by the first of several operands, which equal texts share
}

// number returns the class of an accumulation with some operands, and adds it to p if it is
// new. Most accumulations find theirs by the address of their operands, without building a
// key.
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

// coverage is the share of an optimizer's parameters, by elements, from which a run of
// operators counts as a pass over its gradients. It is below 1 since programs leave out
// single tensors, such as those without a gradient in some step.
const coverage = 0.9

// byShape returns the classes by the keys of their shapes.
func (p *Params) byShape() map[string]int {
	classes := make(map[string]int)
	for i := range p.Classes {
		if p.Classes[i].Dims != nil {
			classes[shapeKey(p.Classes[i].Dims)] = i
		}
	}
	return classes
}
