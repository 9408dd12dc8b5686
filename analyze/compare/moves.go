package compare

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/bounded"
)

// placeKey is the collectives of one kind from one place.
type placeKey struct {
	collective string
	place      Place
}

// placeSum is their number and size over the complete steps of a kind. Bytes is
// unknown as soon as one of them is.
type placeSum struct {
	count    int
	bytes    int64
	unsized  bool
	kernels  tally               // the sequences of their kernels, joined
	sequence map[string][]string // and apart
}

func (p *pool) addGroup(g *report.CollectiveGroup) {
	k := placeKey{g.Kind, Place{g.Site, g.Name}}
	sum := p.places[k]
	if sum == nil {
		sum = &placeSum{kernels: make(tally), sequence: make(map[string][]string)}
		p.places[k] = sum
	}
	sum.count += g.Count
	if g.Bytes == nil {
		sum.unsized = true
	} else {
		sum.bytes = bounded.Add(sum.bytes, *g.Bytes)
	}
	sum.addKernels(g.Kernels)
}

func (s *placeSum) addKernels(kernels []string) {
	joined := strings.Join(kernels, "\x00")
	s.kernels.add(joined)
	s.sequence[joined] = kernels
}

// kernelsOf is the sequence of kernels that most steps have.
func (s *placeSum) kernelsOf() []string { return s.sequence[s.kernels.most()] }

// perStep is the bytes of a step, nil where unknown.
func (s *placeSum) perStep(steps int) *int64 {
	if s == nil || s.unsized {
		return nil
	}
	n := s.bytes / int64(steps)
	return &n
}

// flow is collectives of one kind that both sides launch. Amounts are counts times the
// steps of the other side, so that sides with different numbers of steps compare in
// integers.
type flow struct {
	collective string
	from, to   Place
	amount     int
	whole      bool // all that the places launch on either side
}

// flows pairs the collectives of a kind of step on both sides.
//
//  1. What a place launches on both sides stayed.
//  2. Of the rest, what one place lost and another gained moved: first where number
//     and bytes agree, then where the number does, then in order.
//  3. What is left over is gone or added.
func (p *pair) flows() ([]flow, []CollectiveChange) {
	keys, r := p.placeKeys(), rest{lost: map[placeKey]int{}, gained: map[placeKey]int{}}
	var flows []flow
	for _, k := range keys {
		b, n := p.amounts(k)
		if stayed := min(b, n); stayed > 0 {
			flows = append(flows, flow{k.collective, k.place, k.place, stayed, b == n})
		}
		r.lost[k], r.gained[k] = b-min(b, n), n-min(b, n)
	}
	moved := func(from, to placeKey) {
		n := r.move(from, to)
		b, _ := p.amounts(from)
		_, a := p.amounts(to)
		flows = append(flows, flow{from.collective, from.place, to.place, n, n == b && n == a})
	}
	r.alike(keys, p.sizeOf, moved)
	r.alike(keys, func(k placeKey, amount int, _ bool) (alike, bool) {
		return alike{collective: k.collective, amount: amount}, true
	}, moved)
	r.inOrder(keys, moved)
	return flows, p.collectiveChanges(keys, flows, r)
}

// placeKeys are the places of both sides in a fixed order.
func (p *pair) placeKeys() []placeKey {
	var keys []placeKey
	for _, q := range []*pool{p.base, p.new} {
		for k := range q.places {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b placeKey) int {
		return cmp.Or(cmp.Compare(a.collective, b.collective), cmp.Compare(a.place.Site, b.place.Site),
			cmp.Compare(a.place.Name, b.place.Name))
	})
	return slices.Compact(keys)
}

func (p *pair) amounts(k placeKey) (base, new int) {
	if s := p.base.places[k]; s != nil {
		base = s.count * p.new.rankSteps
	}
	if s := p.new.places[k]; s != nil {
		new = s.count * p.base.rankSteps
	}
	return base, new
}

// sizeOf is the number and the bytes of what a place launches on one side, if these are known.
func (p *pair) sizeOf(k placeKey, amount int, gained bool) (alike, bool) {
	side := p.base
	if gained {
		side = p.new
	}
	bytes := side.places[k].perStep(side.rankSteps)
	if bytes == nil {
		return alike{}, false
	}
	return alike{k.collective, amount, *bytes}, true
}

// perStep turns an amount into a count per step.
func (p *pair) perStep(amount int) float64 {
	return float64(amount) / float64(p.base.rankSteps*p.new.rankSteps)
}

// collectiveChanges lists what is on one side only, and what has another size.
func (p *pair) collectiveChanges(keys []placeKey, flows []flow, r rest) []CollectiveChange {
	var list []CollectiveChange
	for _, k := range keys {
		one := CollectiveChange{Kind: p.name(), Collective: k.collective, Place: k.place,
			BaseBytes: p.base.places[k].perStep(p.base.rankSteps), NewBytes: p.new.places[k].perStep(p.new.rankSteps)}
		if n := r.lost[k]; n > 0 {
			one.Change, one.PerStep = "gone", p.perStep(n)
			list = append(list, one)
		}
		if n := r.gained[k]; n > 0 {
			one.Change, one.PerStep = "added", p.perStep(n)
			list = append(list, one)
		}
	}
	for _, f := range flows {
		from, to := placeKey{f.collective, f.from}, placeKey{f.collective, f.to}
		b, n := p.base.places[from].perStep(p.base.rankSteps), p.new.places[to].perStep(p.new.rankSteps)
		if f.whole && b != nil && n != nil && *b != *n {
			list = append(list, CollectiveChange{"resized", p.name(), f.collective, f.to, p.perStep(f.amount), b, n})
		}
	}
	return list
}

// moveKey is what a Move is of.
type moveKey struct {
	collective string
	from, to   Place
}

// addMove adds a flow of one kind of step to those of other kinds between the same
// places; at says where in d.Moves these are.
func (d *Diff) addMove(p *pair, f flow, at map[moveKey]int) {
	key := moveKey{f.collective, f.from, f.to}
	i, found := at[key]
	if !found {
		i = len(d.Moves)
		at[key] = i
		d.Moves = append(d.Moves, Move{Collective: f.collective, From: f.from, To: f.to})
	}
	m := &d.Moves[i]
	m.Base += f.amount / p.new.rankSteps
	m.New += f.amount / p.base.rankSteps
	m.Kinds = append(m.Kinds, MoveKind{p.name(), p.perStep(f.amount)})
}

// sortMoves puts what moved first, most first.
func sortMoves(moves []Move) {
	slices.SortStableFunc(moves, func(a, b Move) int {
		if a.Stayed() != b.Stayed() {
			if b.Stayed() {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.New, a.New), cmp.Compare(a.Collective, b.Collective))
	})
}
