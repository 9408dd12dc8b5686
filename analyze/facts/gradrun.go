package facts

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// region is a place of a step and, inside and between backward passes, which one.
type region struct {
	place Place
	pass  int
}

// run is operators of one family in one region of a step, one after the other.
type run struct {
	region
	touches   []touch
	family    family
	afterNorm bool // norms stand before it in its region: it clips
	counted   bool // a count was inverted before it in its region
	decays    bool // a number was taken from one before it in its region
	updates   int  // touched tensors that are updated by another right after: weights
}

// runs cuts the operators of a step into runs.
//
//  1. The region follows from the backward passes and the update around it.
//  2. A norm or a clamp ends the runs before it in its region: scale, norms, clip.
//  3. The first product behind norms clips; the next one scales again.
func (c *computer) runs(s *Step, touches []touch) []run {
	var done, open []run
	afterNorm, counted, decays := make(map[region]bool), make(map[region]bool), make(map[region]bool)
	mean := false
	for _, t := range touches {
		at := c.regionOf(s, t)
		switch t.family {
		case norm:
			if openRun(open, t, at) < 0 {
				done, open = closeRuns(done, open, at)
			}
			afterNorm[at] = true
		case clampFactor:
			done, open = closeRuns(done, open, at)
			continue
		case countMade:
			counted[at] = !mean
			continue
		case decayMade:
			decays[at] = true
			continue
		case meanLoss:
			mean = mean || c.rootIsLoss(s)
			continue
		case adjust:
			markUpdate(open, &t, at)
			continue
		}
		i := openRun(open, t, at)
		if i < 0 {
			i = len(open)
			open = append(open, run{region: at, family: t.family, afterNorm: afterNorm[at] && t.family == multiply, counted: counted[at], decays: decays[at]})
			afterNorm[at] = afterNorm[at] && t.family != multiply
			counted[at], decays[at] = false, false // each factor is for one pass; clipping inverts a norm, and weights may decay next
		}
		open[i].touches = append(open[i].touches, t)
	}
	return append(done, open...)
}

// rootIsLoss tells whether the first backward pass of a step begins with the loss itself,
// not with a product or a quotient of it.
func (c *computer) rootIsLoss(s *Step) bool {
	return strings.HasPrefix(nodeName(c.t.String(s.Backwards[0].root)), "NllLoss")
}

// closeRuns moves the open runs of a region to those that are done.
func closeRuns(done, open []run, at region) (closed, rest []run) {
	for _, r := range open {
		if r.region == at {
			done = append(done, r)
		} else {
			rest = append(rest, r)
		}
	}
	return done, rest
}

// openRun is the run that a touch continues, or -1.
func openRun(open []run, t touch, at region) int {
	for i := range open {
		first := &open[i].touches[0]
		if open[i].region == at && open[i].family == t.family && first.framework == t.framework && first.tensor == t.tensor && first.averaged == t.averaged {
			return i
		}
	}
	return -1
}

// markUpdate counts a product whose tensor is updated by another one next: the two
// together are an average or a weight, not a gradient.
func markUpdate(open []run, t *touch, at region) {
	for i := range open {
		r := &open[i]
		if r.region != at || r.family != multiply {
			continue
		}
		last, next := r.touches[len(r.touches)-1].shapes(), t.shapes()
		if len(last) > 0 && len(last) == len(next) && slices.Equal(last[0], next[0]) {
			r.updates += len(next)
		}
	}
}

// regionOf is the region of an operator in its step; its place is empty before the
// first backward pass. What DDP and FSDP do behind the last node of a pass still
// belongs to that pass.
func (c *computer) regionOf(s *Step, t touch) region {
	pass := max(0, sort.Search(len(s.Backwards), func(i int) bool { return s.Backwards[i].Start > t.start })-1)
	if c.inside(t.row, optimizerStep) {
		return region{InOptimizer, pass}
	}
	switch b := &s.Backwards[pass]; {
	case t.start < b.Start:
		return region{}
	case t.framework || t.start < b.Last || c.inside(t.row, evaluate|accumulate):
		return region{InBackward, pass}
	case pass < len(s.Backwards)-1:
		return region{BetweenMicroBatches, pass}
	case t.start >= s.Update.End:
		return region{AfterOptimizer, pass}
	}
	return region{AfterBackward, pass}
}

// matcher tells whether tensors are the gradients of an optimizer.
type matcher struct {
	rank   *Rank
	ranks  int64 // that shard the gradients
	owners []owner
}

// owner is the parameters of one optimizer, or all where none can be told.
type owner struct {
	name    string
	classes []int
	bytes   int64
	numel   int64
}

func newMatcher(r *Rank) *matcher {
	m := &matcher{rank: r, ranks: cmp.Or(r.Sync.Shards, r.Sync.Ranks, r.WorldSize)}
	all := owner{}
	for class := range r.Params.Classes {
		all.classes = append(all.classes, class)
	}
	for _, o := range r.Optimizers {
		m.owners = append(m.owners, owner{name: o.Name, classes: o.Classes})
	}
	if len(m.owners) != 1 {
		m.owners = append(m.owners, all)
	}
	for i := range m.owners {
		for _, class := range m.owners[i].classes {
			p := &r.Params.Classes[class]
			m.owners[i].numel += int64(p.Count) * p.Numel
			m.owners[i].bytes += int64(p.Count) * p.Numel * max(p.Size, 1)
		}
	}
	return m
}

// passKinds is what a run of a family is where it stands.
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
	case g.place == InBackward, g.touches[0].averaged && len(g.touches) > 1:
		return DividePass
	case g.afterNorm:
		return ClipPass
	}
	return ScalePass
}

// pass makes a gradient pass of a run if it covers an optimizer's parameters.
func (m *matcher) pass(g run) (GradientPass, bool) {
	p := GradientPass{Kind: passKind(&g), Place: g.place, Launches: len(g.touches)}
	if !m.plausible(&g, p.Kind) {
		return p, false
	}
	var tensors [][]int64
	for _, t := range g.touches {
		tensors = append(tensors, t.shapes()...)
		p.Rows = append(p.Rows, t.row)
		p.HostEnd = max(p.HostEnd, t.end)
	}
	first := &g.touches[0]
	p.HostStart, p.Tensor = first.start, first.tensor
	// Weights decay once a step, beside the optimizer, not between micro-batches.
	decay := first.tensor && g.decays || !first.tensor && first.factor == ""
	p.Doubtful = p.Kind == ScalePass && p.Place == AfterBackward && decay && !g.counted
	for _, o := range m.owners {
		elements, count, size := m.cover(o, tensors, g.touches[0].dtype())
		if o.numel > 0 && float64(elements) >= coverage*float64(o.numel) {
			p.Optimizer, p.Parameters = o.name, count
			p.Bytes = min(elements, g.elements()) * size * traffic[p.Kind]
			return p, true
		}
	}
	return p, false
}

// traffic is how often a pass moves each byte of the gradients: read and written,
// zero and norm only once.
var traffic = map[PassKind]int64{ScalePass: 2, ClipPass: 2, UnscalePass: 2, DividePass: 2, CopyPass: 2, CastPass: 2, ZeroPass: 1, NormPass: 1}

// plausible leaves out what looks like a pass over gradients and is none: weights
// that decay, averages that are updated, anything before backward, copies of the
// program's own (checkpoints, averages), the optimizer's moments.
func (m *matcher) plausible(g *run, kind PassKind) bool {
	switch {
	case g.place == "" || g.place == AfterOptimizer && kind != ZeroPass:
		return false
	case g.place == InOptimizer:
		return kind == UnscalePass
	case kind == CopyPass:
		return g.touches[0].framework
	case kind == DividePass:
		return true
	case g.family == multiply && !g.touches[0].tensor && nearOne(g.touches[0].factor):
		return false
	}
	return 2*g.updates < len(g.touches)
}

// cover counts how many elements of an owner's parameters some tensors are: as whole
// shapes, as shards by dimension 0, or as flat buffers of that total.
func (m *matcher) cover(o owner, tensors [][]int64, dtype string) (elements int64, count int, size int64) {
	size = DtypeBytes(dtype)
	left := make(map[string]int)
	whole := make(map[string]int64)
	for _, class := range o.classes {
		p := &m.rank.Params.Classes[class]
		if size == 0 {
			size = p.Size
		}
		for _, key := range m.forms(p) {
			left[key] += p.Count
			whole[key] = p.Numel
		}
	}
	flat := int64(0)
	for _, s := range tensors {
		key := shapeKey(s)
		if left[key] > 0 {
			left[key]--
			elements += whole[key]
			count++
		} else if len(s) == 1 {
			flat += s[0]
		}
	}
	if flatTotal := flat * max(m.shards(flat, o.numel), 1); elements < flatTotal && flatTotal <= 2*o.numel {
		return min(flatTotal, o.numel), len(tensors), size
	}
	return elements, count, size
}

// forms are the shapes that a parameter's gradient can have on this rank: its own,
// or a shard of dimension 0, rounded up.
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

// shards is over how many ranks a flat buffer must be spread to hold all parameters.
func (m *matcher) shards(flat, numel int64) int64 {
	if m.ranks > 1 && flat > 0 && flat*m.ranks >= numel*9/10 && flat < numel*9/10 {
		return m.ranks
	}
	return 1
}

// elements is how many elements the tensors of a run have on this rank.
func (g *run) elements() int64 {
	n := int64(0)
	for _, t := range g.touches {
		if n += t.local; t.local > 0 {
			continue
		}
		for _, s := range t.shapes() {
			n += numel(s)
		}
	}
	return n
}
