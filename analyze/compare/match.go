package compare

import "slices"

// pair is a kind of step on both sides, or on one with the other nil.
type pair struct{ base, new *pool }

// match pairs the kinds of step of two sides by their optimizers with their
// accumulation steps, then, of what is left, by the optimizers alone where that is
// unambiguous. Letters say nothing: they count first appearances.
func match(base, new *side) []pair {
	taken := make(map[*pool]bool)
	pairs := make([]pair, len(base.pools))
	find := func(of *pool, same func(p *pool) bool) *pool {
		if i := slices.IndexFunc(new.pools, func(p *pool) bool { return !taken[p] && same(p) }); i >= 0 {
			taken[new.pools[i]] = true
			return new.pools[i]
		}
		return nil
	}
	for i, p := range base.pools {
		pairs[i] = pair{p, find(p, func(q *pool) bool { return p.key == q.key })}
	}
	for i := range pairs {
		if p := pairs[i].base; pairs[i].new == nil && unmatched(pairs, p.names) == 1 && left(new, taken, p.names) == 1 {
			pairs[i].new = find(p, func(q *pool) bool { return p.names == q.names })
		}
	}
	for _, p := range new.pools {
		if !taken[p] {
			pairs = append(pairs, pair{nil, p})
		}
	}
	return pairs
}

// unmatched counts the base's kinds of some optimizers that have no partner.
func unmatched(pairs []pair, names string) int {
	n := 0
	for _, p := range pairs {
		if p.new == nil && p.base.names == names {
			n++
		}
	}
	return n
}

// left counts the new side's kinds of some optimizers that have no partner.
func left(new *side, taken map[*pool]bool, names string) int {
	n := 0
	for _, p := range new.pools {
		if !taken[p] && p.names == names {
			n++
		}
	}
	return n
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
