package gradients

// shapeCounts is how many parameters there are of each shape that a gradient can have on
// this rank, and the numbers of elements of flat views of them.
type shapeCounts struct {
	most  map[string]int // by shape as text
	flat  map[int64]bool
	count int   // of all parameters
	whole int64 // elements of all parameters
}

// shapeCounts counts the shapes of all parameters.
func (m *matcher) shapeCounts() *shapeCounts {
	c := &shapeCounts{make(map[string]int), map[int64]bool{m.params.Numel: true}, m.params.Count, m.params.Numel}
	for i := range m.params.Classes {
		p := &m.params.Classes[i]
		if p.Count == 0 {
			continue
		}
		c.flat[p.Numel] = true
		for _, key := range m.forms(p) {
			c.most[key] += p.Count
		}
	}
	return c
}

// room reports whether the tensors of a product may be other ones than those of a run:
// there are as many parameters of their shapes. Of shapes of no parameter nothing is known.
func (c *shapeCounts) room(g *run, t *operation) bool {
	if !t.multiplies() {
		return true
	}
	added := make(map[string]int)
	for _, s := range t.shapes() {
		key := shapeKey(s)
		added[key]++
		if most := c.most[key]; most > 0 && g.used[key]+added[key] > most {
			return false
		}
	}
	return true
}

// markNorms makes norms of the reductions of gradients to one number, such as the sums of
// their squares, and removes all others.
func (c *shapeCounts) markNorms(list []operation) {
	for i := range list {
		t := &list[i]
		if t.family != reduceAll {
			continue
		}
		t.family = noFamily
		if s := t.shapes(); len(s) == 1 && (c.most[shapeKey(s[0])] > 0 || len(s[0]) == 1 && c.flat[s[0][0]]) {
			t.family = norm
		}
	}
}

// joinPieces joins the runs that clip a part of the gradients each, module by module or
// parameter by parameter, into runs over different tensors.
func (c *shapeCounts) joinPieces(runs []run) []run {
	var list []run
	for _, r := range runs {
		joined := false
		for i := 0; i < len(list) && !joined; i++ {
			joined = c.join(&list[i], &r)
		}
		if !joined {
			list = append(list, r)
		}
	}
	return list
}

// join adds the operations of another run to g if both clip and there is room for them.
func (c *shapeCounts) join(g, other *run) bool {
	if !g.isPiece() || !other.isPiece() || g.region != other.region || !g.operations[0].alike(&other.operations[0]) {
		return false
	}
	for key, n := range other.used {
		if most := c.most[key]; most > 0 && g.used[key]+n > most {
			return false
		}
	}
	for _, t := range other.operations {
		g.add(t)
	}
	return true
}

// isPiece reports whether a run clips, and may clip a part of the gradients.
func (g *run) isPiece() bool {
	return g.operations[0].multiplies() && g.afterNorm && (g.place == AfterBackward || g.place == BetweenMicroBatches)
}
