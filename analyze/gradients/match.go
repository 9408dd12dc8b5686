package gradients

import (
	"math"
	"strconv"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/bounded"
)

// matcher decides whether tensors are the gradients of an optimizer's parameters.
type matcher struct {
	params *Params
	ranks  int64   // over which gradients are sharded, 0 unknown
	owners []owner // the optimizers; with none or several, then all parameters together
	shapes *shapeCounts
}

// owner is the parameters of one optimizer, or all parameters with name "".
type owner struct {
	name    string
	classes []int // into Params.Classes
	bytes   int64 // of the gradients
	numel   int64 // elements of the parameters
}

func newMatcher(params *Params, optimizers []Optimizer, ranks int64) *matcher {
	m := &matcher{params: params, ranks: ranks}
	all := owner{}
	for class := range params.Classes {
		all.classes = append(all.classes, class)
	}
	for _, o := range optimizers {
		m.owners = append(m.owners, owner{name: o.Name, classes: o.Classes})
	}
	if len(m.owners) != 1 {
		m.owners = append(m.owners, all)
	}
	for i := range m.owners {
		for _, class := range m.owners[i].classes {
			p := &params.Classes[class]
			numel := bounded.Mul(int64(p.Count), p.Numel)
			m.owners[i].numel = bounded.Add(m.owners[i].numel, numel)
			m.owners[i].bytes = bounded.Add(m.owners[i].bytes, bounded.Mul(numel, max(p.Size, 1)))
		}
	}
	m.shapes = m.shapeCounts()
	return m
}

// passKind returns what a run does. Its family alone does not decide for products: the same
// multiplication averages, clips or scales, depending on what precedes it and where.
func passKind(g *run) PassKind {
	switch {
	case g.family == zeroFill:
		return ZeroPass
	case g.family == norm:
		return NormPass
	case g.family == copyInto:
		return CopyPass
	case g.family == unscale:
		return UnscalePass
	case g.family == limitEach:
		return ClipPass
	case g.place == InBackward, g.operations[0].averaged && len(g.operations) > 1, g.scattered,
		g.averages && !g.afterNorm:
		return DividePass
	case g.afterNorm:
		return ClipPass
	}
	return ScalePass
}

// pass turns a run into a gradient pass if it covers the parameters of an optimizer.
// Of several optimizers it is that with most elements, or all of them.
func (m *matcher) pass(g run) (Pass, bool) {
	p := Pass{Kind: passKind(&g), Place: g.place, Launches: len(g.operations)}
	if !m.plausible(&g, p.Kind) {
		return p, false
	}
	var tensors [][]int64
	for _, t := range g.operations {
		tensors = append(tensors, t.shapes()...)
		p.HostEnd = max(p.HostEnd, t.end)
	}
	first := &g.operations[0]
	p.ByValue = g.family == limitEach
	p.HostStart, p.Tensor, p.BeforeScatter = first.start, first.tensor, g.scattered
	p.One = g.family == multiply && g.byOne()
	p.doubt(&g)
	if g.family == unscale && len(tensors) == 0 { // GradScaler unscales all gradients of an optimizer
		all := &m.owners[len(m.owners)-1]
		p.Optimizer, p.Parameters, p.Bytes = all.name, m.params.Count, known(bounded.Mul(all.bytes, traffic[p.Kind]))
		return p, true
	}
	best := int64(0)
	for _, o := range m.owners {
		elements, count, size := m.cover(o, tensors, g.operations[0].dtype())
		if o.numel > best && float64(elements) >= coverage*float64(o.numel) {
			p.Optimizer, p.Parameters, best = o.name, count, o.numel
			p.Bytes = known(bounded.Mul(min(elements, g.elements()), size*traffic[p.Kind]))
		}
	}
	return p, best > 0
}

// doubt fills in whether the factor of a scale pass is unknown, and whether it may be the
// decay of weights, which happens once per step, next to the optimizer.
func (p *Pass) doubt(g *run) {
	first := &g.operations[0]
	p.Doubtful = p.Kind == ScalePass && p.Place == AfterBackward && (!g.counted || g.mixed())
	decay := first.tensor && g.decays || !first.tensor && first.factor == ""
	p.Decay = p.Doubtful && decay && !first.divides && !first.whole
}

// traffic is how often a pass moves each byte of the gradients: most read and write it,
// clearing only writes, a norm only reads.
var traffic = map[PassKind]int64{
	ScalePass: 2, ClipPass: 2, UnscalePass: 2, DividePass: 2,
	CopyPass: 2, CastPass: 2, ZeroPass: 1, NormPass: 1,
}

// plausible rejects runs that look like a pass over gradients and are none, because weights,
// averages and moments have the same shapes: weight decay, updates of averages, whatever
// precedes backward, the program's own copies (checkpoints, averages), the optimizer's work.
func (m *matcher) plausible(g *run, kind PassKind) bool {
	switch {
	case g.place == "" || g.place == AfterOptimizer && kind != ZeroPass:
		return false
	case g.place == InOptimizer:
		return kind == UnscalePass || kind == ClipPass && g.limited
	case g.family == product, g.family == limitEach:
		return g.replaces(kind)
	case kind == CopyPass:
		return g.operations[0].framework
	case kind == DividePass:
		return true
	}
	return 2*g.updates < len(g.operations) && !g.decaysOnly()
}

// replaces reports whether a run that multiplies gradients into other tensors, or limits their
// elements, does what it seems to: limits clip; products clip by a tensor, or divide by a count.
func (g *run) replaces(kind PassKind) bool {
	switch {
	case g.place != AfterBackward && (g.place != BetweenMicroBatches || g.family == product):
		return false
	case kind == ClipPass:
		return g.family == limitEach || g.operations[0].tensor
	}
	return kind == ScalePass && g.counted
}

// decaysOnly reports whether a run multiplies by a recorded number that is a decay.
func (g *run) decaysOnly() bool {
	first := &g.operations[0]
	return g.family == multiply && !first.tensor && nearOne(first.factor)
}

// cover counts how many elements of an owner's parameters some tensors are, and how many
// tensors that takes: as whole shapes, as shards by dimension 0 (FSDP2), or as flat buffers
// of that total (DDP's buckets, FSDP1). size is that of an element in bytes, 0 unknown. Each
// parameter is matched once, so touching one tensor many times does not cover the others.
// A shard may look like another parameter as a whole: where shards alone cover more, they are shards.
func (m *matcher) cover(o owner, tensors [][]int64, dtype string) (elements int64, count int, size int64) {
	size = timeline.DtypeBytes(dtype)
	for i := 0; size == 0 && i < len(o.classes); i++ {
		size = m.params.Classes[o.classes[i]].Size
	}
	elements, count, flat := m.coverBy(o, tensors, m.forms)
	if m.ranks > 1 {
		if shards, n, _ := m.coverBy(o, tensors, m.shard); shards > elements {
			elements, count = shards, n
		}
	}
	if flatTotal := bounded.Mul(flat, m.shards(flat, o.numel)); elements < flatTotal &&
		flatTotal <= bounded.Mul(2, o.numel) {
		return min(flatTotal, o.numel), len(tensors), size
	}
	return elements, count, size
}

// coverBy counts how many elements of an owner's parameters some tensors are, and how many tensors that takes, if
// gradients have certain forms. flat is the elements of the others that have one dimension.
func (m *matcher) coverBy(
	o owner, tensors [][]int64, forms func(p *ParamClass) []string,
) (elements int64, count int, flat int64) {
	left := make(map[string]int)
	whole := make(map[string]int64)
	for _, class := range o.classes {
		p := &m.params.Classes[class]
		for _, key := range forms(p) {
			left[key] += p.Count
			whole[key] = p.Numel
		}
	}
	for _, s := range tensors {
		key := shapeKey(s)
		if left[key] > 0 {
			left[key]--
			elements = bounded.Add(elements, whole[key])
			count++
		} else if len(s) == 1 {
			flat = bounded.Add(flat, s[0])
		}
	}
	return elements, count, flat
}

// shard is the shape of a parameter's gradient on this rank where gradients are sharded.
func (m *matcher) shard(p *ParamClass) []string {
	forms := m.forms(p)
	return forms[len(forms)-1:]
}

// forms returns the shapes, as text, that a parameter's gradient can have on this rank: its
// own, or a shard of dimension 0, rounded up. The last ranks have smaller shards of some,
// which is within what coverage allows.
func (m *matcher) forms(p *ParamClass) []string {
	forms := []string{shapeKey(p.Dims)}
	if m.ranks > 1 && len(p.Dims) > 0 {
		shard := append([]int64{(p.Dims[0] + m.ranks - 1) / m.ranks}, p.Dims[1:]...)
		if key := shapeKey(shard); key != forms[0] {
			forms = append(forms, key)
		}
	}
	return forms
}

// shards returns over how many ranks flat buffers of so many elements are spread if they hold
// all parameters: 1 unless they are too small for that on one rank and not on all.
func (m *matcher) shards(flat, numel int64) int64 {
	most := bounded.Mul(numel, 9) / 10
	if bounded.Mul(flat, m.ranks) >= most && flat < most {
		return m.ranks
	}
	return 1
}

// known is an amount of bytes, 0 where it is more than a number holds.
func known(bytes int64) int64 {
	if bytes == math.MaxInt64 {
		return 0
	}
	return bytes
}

// elements returns how many elements the tensors of a run have on this rank.
func (g *run) elements() int64 {
	n := int64(0)
	for _, t := range g.operations {
		if t.local > 0 {
			n = bounded.Add(n, t.local)
		} else {
			n = bounded.Add(n, timeline.NumelOfAll(t.shapes()))
		}
	}
	return n
}

// byOne reports whether a run multiplies by one, as far as its factors were recorded: every
// one of them, since a number that a loop computes may be one for some tensors alone.
func (g *run) byOne() bool {
	for i := range g.operations {
		if !g.operations[i].isOne() {
			return false
		}
	}
	return true
}

// mixed reports whether a run multiplies by several factors, as far as they were recorded:
// parameters of different groups, each by that of its own.
func (g *run) mixed() bool {
	for i := range g.operations {
		if g.operations[i].factor != g.operations[0].factor {
			return true
		}
	}
	return false
}

// isOne reports whether the recorded factor of an operation is one.
func (t *operation) isOne() bool {
	v, err := strconv.ParseFloat(t.factor, 64)
	return err == nil && v == 1
}

// nearOne reports whether a factor is a decay, of weights or of an average of them: the
// factors of gradients, such as 1/N, are nowhere near.
func nearOne(factor string) bool {
	v, err := strconv.ParseFloat(factor, 64)
	return err == nil && v >= 0.9 && v < 1
}
