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
	count   int
	bytes   int64
	unsized bool
	kernels sequences
}

func (p *pool) addGroup(g *report.CollectiveGroup) {
	k := placeKey{g.Kind, Place{g.Site, g.Name}}
	sum := p.places[k]
	if sum == nil {
		sum = new(placeSum)
		p.places[k] = sum
	}
	sum.count = int(bounded.Add(int64(sum.count), int64(max(0, g.Count))))
	if g.Bytes == nil {
		sum.unsized = true
	} else {
		sum.bytes = bounded.Add(sum.bytes, max(0, *g.Bytes))
	}
	sum.kernels.add(g.Kernels)
}

// sequences are the kernels that a place launched in one step and another. Most places launch
// the same in all.
type sequences struct {
	first []string
	times int                 // that the first was launched
	texts tally               // the sequences, joined, once there is another one
	of    map[string][]string // and apart
}

func (s *sequences) add(kernels []string) {
	switch {
	case s.times == 0:
		s.first, s.times = kernels, 1
		return
	case s.texts == nil && slices.Equal(s.first, kernels):
		s.times++
		return
	case s.texts == nil:
		joined := strings.Join(s.first, "\x00")
		s.texts, s.of = tally{joined: s.times}, map[string][]string{joined: s.first}
	}
	joined := strings.Join(kernels, "\x00")
	s.texts.add(joined)
	s.of[joined] = kernels
}

// most is the sequence of kernels that most steps have.
func (s *sequences) most() []string {
	if s.texts == nil {
		return s.first
	}
	return s.of[s.texts.most()]
}

// perStep is the bytes of a step, nil where unknown.
func (s *placeSum) perStep(steps int) *int64 {
	if s == nil || s.unsized {
		return nil
	}
	n := s.bytes / int64(steps)
	return &n
}

// spot is a place on both sides of a kind of step.
type spot struct {
	placeKey
	base, new    *placeSum // nil where it launches nothing
	lost, gained int       // what is on that side only, and not paired yet
}

// flow is collectives of one kind that both sides launch. Amounts are counts times the
// steps of the other side, so that sides with different numbers of steps compare in
// integers.
type flow struct {
	from, to *spot
	amount   int
	whole    bool // all that the places launch on either side
}

// flows pairs the collectives of a kind of step on both sides.
//
//  1. What a place launches on both sides stayed.
//  2. Of the rest, what one place lost and another gained moved: first where number
//     and bytes agree, then where the number does, then in order.
//  3. What is left over is gone or added.
func (p *pair) flows() ([]flow, []CollectiveChange) {
	spots := p.spots()
	var flows []flow
	for i := range spots {
		at := &spots[i]
		b, n := p.amounts(at)
		if stayed := min(b, n); stayed > 0 {
			flows = append(flows, flow{at, at, stayed, b == n})
		}
		at.lost, at.gained = b-min(b, n), n-min(b, n)
	}
	moved := func(from, to *spot) {
		n := from.move(to)
		b, _ := p.amounts(from)
		_, a := p.amounts(to)
		flows = append(flows, flow{from, to, n, n == b && n == a})
	}
	alikes(spots, p.sizeOf, moved)
	alikes(spots, func(at *spot, gained bool) (alike, bool) {
		return alike{collective: at.collective, amount: at.rest(gained)}, true
	}, moved)
	inOrder(spots, moved)
	return flows, p.collectiveChanges(spots, flows)
}

// spots are the places of both sides in a fixed order.
func (p *pair) spots() []spot {
	list := make([]spot, 0, len(p.base.places)+len(p.new.places))
	for k, sum := range p.base.places {
		list = append(list, spot{placeKey: k, base: sum})
	}
	for k, sum := range p.new.places {
		list = append(list, spot{placeKey: k, new: sum})
	}
	slices.SortFunc(list, func(a, b spot) int {
		return cmp.Or(cmp.Compare(a.collective, b.collective), cmp.Compare(a.place.Site, b.place.Site),
			cmp.Compare(a.place.Name, b.place.Name))
	})
	n := 0
	for _, at := range list {
		if n > 0 && list[n-1].placeKey == at.placeKey {
			list[n-1].base, list[n-1].new = cmp.Or(list[n-1].base, at.base), cmp.Or(list[n-1].new, at.new)
			continue
		}
		list[n] = at
		n++
	}
	return list[:n]
}

func (p *pair) amounts(at *spot) (base, new int) {
	if at.base != nil {
		base = times(at.base.count, p.new.rankSteps)
	}
	if at.new != nil {
		new = times(at.new.count, p.base.rankSteps)
	}
	return base, new
}

func times(a, b int) int { return int(bounded.Mul(int64(a), int64(b))) }

// sizeOf is the number and the bytes of what a place launches on one side, if these are known.
func (p *pair) sizeOf(at *spot, gained bool) (alike, bool) {
	bytes := at.base.perStep(p.base.rankSteps)
	if gained {
		bytes = at.new.perStep(p.new.rankSteps)
	}
	if bytes == nil {
		return alike{}, false
	}
	return alike{at.collective, at.rest(gained), *bytes}, true
}

// perStep turns an amount into a count per step.
func (p *pair) perStep(amount int) float64 {
	return float64(amount) / float64(times(p.base.rankSteps, p.new.rankSteps))
}

// collectiveChanges lists what is on one side only, and what has another size.
func (p *pair) collectiveChanges(spots []spot, flows []flow) []CollectiveChange {
	var list []CollectiveChange
	for i := range spots {
		at := &spots[i]
		one := CollectiveChange{Kind: p.name(), Collective: at.collective, Place: at.place,
			BaseBytes: at.base.perStep(p.base.rankSteps), NewBytes: at.new.perStep(p.new.rankSteps)}
		if at.lost > 0 {
			one.Change, one.PerStep = "gone", p.perStep(at.lost)
			list = append(list, one)
		}
		if at.gained > 0 {
			one.Change, one.PerStep = "added", p.perStep(at.gained)
			list = append(list, one)
		}
	}
	for _, f := range flows {
		b, n := f.from.base.perStep(p.base.rankSteps), f.to.new.perStep(p.new.rankSteps)
		if f.whole && b != nil && n != nil && *b != *n {
			change := CollectiveChange{"resized", p.name(), f.to.collective, f.to.place, p.perStep(f.amount), b, n}
			list = append(list, change)
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
// places; at says where in d.Moves these are, and is nil where there is one kind only.
func (d *Diff) addMove(p *pair, f flow, at map[moveKey]int) {
	key := moveKey{f.from.collective, f.from.place, f.to.place}
	i, found := at[key]
	if !found {
		i = len(d.Moves)
		d.Moves = append(d.Moves, Move{Collective: key.collective, From: key.from, To: key.to})
	}
	if at != nil {
		at[key] = i
	}
	m := &d.Moves[i]
	m.Base = int(bounded.Add(int64(m.Base), int64(f.amount/p.new.rankSteps)))
	m.New = int(bounded.Add(int64(m.New), int64(f.amount/p.base.rankSteps)))
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
