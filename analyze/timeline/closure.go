package timeline

import "sort"

// findClosures finds the optimizer spans that run a closure: forward and backward passes inside
// Optimizer.step, as LBFGS and frameworks that wrap the training step do. Each is a Span of
// the optimizer's row that ends with the last backward node inside; what follows is the
// optimizer's own work. An optimizer that steps in backward runs none.
func (r *Rank) findClosures() {
	next := 0
	for _, o := range r.Optimizers {
		for next < len(r.Nodes) && r.Nodes[next].Start < o.Start {
			next++
		}
		if next == len(r.Nodes) {
			return
		}
		if r.Nodes[next].Start >= o.End || r.InBackward(o.Row) {
			continue
		}
		c := Span{o.Row, o.Start, o.Start}
		for i := next; i < len(r.Nodes) && r.Nodes[i].Start < o.End; i++ {
			c.End = max(c.End, r.Nodes[i].End)
		}
		r.closures = append(r.closures, c)
	}
}

// Closure returns the part of an optimizer span, given its row, that is a closure; ok is
// false if it runs none.
func (r *Rank) Closure(row int32) (c Span, ok bool) {
	return r.ClosureAt(r.Col.Start[row])
}

// ClosureAt returns the closure that runs at instant t (ns); ok is false if none does.
func (r *Rank) ClosureAt(t int64) (c Span, ok bool) {
	i := sort.Search(len(r.closures), func(i int) bool { return r.closures[i].Start > t }) - 1
	if i < 0 || t >= r.closures[i].End {
		return Span{}, false
	}
	return r.closures[i], true
}

// InUpdate reports whether a row is an optimizer's own work: inside an optimizer span, and
// in no closure that the optimizer runs.
func (r *Rank) InUpdate(row int32) bool {
	if !r.Inside(row, OptimizerStep) {
		return false
	}
	_, closure := r.ClosureAt(r.Col.Start[row])
	return !closure
}

// LaunchedByUpdate is LaunchedBy of an optimizer span without what a closure in it launches.
func (r *Rank) LaunchedByUpdate(row int32) []Launched {
	list := r.LaunchedBy(row)
	c, ok := r.Closure(row)
	if !ok {
		return list
	}
	return list[sort.Search(len(list), func(i int) bool { return r.Col.Start[list[i].call()] >= c.End }):]
}
