package compare

// pair is a kind of step on both sides, or on one with the other nil.
type pair struct{ base, new *pool }

// match pairs the kinds of step of two sides by their optimizers with their
// accumulation steps, then, of what is left, by the optimizers alone where that is
// unambiguous. Letters say nothing: they count first appearances.
func match(base, new *side) []pair {
	pairs := make([]pair, len(base.pools))
	taken := make(map[*pool]bool)
	of := make(map[string]*pool)
	for _, p := range new.pools {
		of[p.key] = p
	}
	apart := make(map[string]int) // the base's kinds without a partner, by optimizers
	for i, p := range base.pools {
		pairs[i] = pair{p, of[p.key]}
		if taken[pairs[i].new] = true; pairs[i].new == nil {
			apart[p.names]++
		}
	}
	left := make(map[string][]*pool) // those of the new side
	for _, p := range new.pools {
		if !taken[p] {
			left[p.names] = append(left[p.names], p)
		}
	}
	for i := range pairs {
		if names := pairs[i].base.names; pairs[i].new == nil && apart[names] == 1 && len(left[names]) == 1 {
			pairs[i].new = left[names][0]
			taken[pairs[i].new] = true
		}
	}
	for _, p := range new.pools {
		if !taken[p] {
			pairs = append(pairs, pair{nil, p})
		}
	}
	return pairs
}

// comparable reports whether both sides have complete steps of the kind.
func (p *pair) comparable() bool {
	return p.base != nil && p.new != nil && p.base.rankSteps > 0 && p.new.rankSteps > 0
}

// only tells which side alone has the kind, or else why a kind without a partner cannot be
// said to be missing.
func (p *pair) only(anyBase, anyNew bool) (side, uncompared string) {
	for _, s := range []struct {
		name, other string
		has, lacks  *pool
		any         bool // the other side has steps at all
	}{{"base", "new", p.base, p.new, anyNew}, {"new", "base", p.new, p.base, anyBase}} {
		switch {
		case s.has == nil || s.has.rankSteps == 0:
		case s.lacks != nil && s.lacks.rankSteps > 0:
		case s.lacks != nil:
			return "", s.other + " has incomplete ones only"
		case !s.any:
			return "", s.other + " has no optimizer steps"
		default:
			return s.name, ""
		}
	}
	if !p.comparable() {
		return "", "none is complete"
	}
	return "", ""
}

// name is what the kind is called: its optimizers.
func (p *pair) name() string {
	q := p.base
	if q == nil {
		q = p.new
	}
	if q.names == "" {
		return "no optimizer"
	}
	return q.names
}
