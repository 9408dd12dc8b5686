package compare

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/bounded"
)

// passKey is gradient passes of one sort.
type passKey struct{ kind, where, optimizer string }

// passSum is what they sum to over the complete steps of a kind.
type passSum struct {
	count       int
	bytes, span int64
	verdict     tally
}

func (p *pool) addPass(row *report.GradientPass) {
	k := passKey{row.Kind, row.Where, row.Optimizer}
	if p.passes[k] == nil {
		p.passes[k] = &passSum{verdict: make(tally)}
	}
	s := p.passes[k]
	s.count++
	s.bytes = bounded.Add(s.bytes, row.Bytes)
	s.span = bounded.Add(s.span, row.Span)
	s.verdict.add(string(row.Verdict))
}

// on is the passes of one sort in a step of the pool, nil where there are none.
func (p *pool) on(k passKey) *PassSide {
	s := p.passes[k]
	if s == nil {
		return nil
	}
	n := int64(p.rankSteps)
	return &PassSide{float64(s.count) / float64(n), s.bytes / n, s.span / n, s.verdict.most()}
}

// passChanges lists the passes that differ in number, size or verdict.
func (p *pair) passChanges() []PassChange {
	var list []PassChange
	for _, k := range p.passKeys() {
		one := PassChange{
			Kind:      p.name(),
			Pass:      k.kind,
			Where:     k.where,
			Optimizer: k.optimizer,
			Base:      p.base.on(k),
			New:       p.new.on(k),
		}
		switch {
		case one.Base == nil:
			one.Change = "added"
		case one.New == nil:
			one.Change = "gone"
		case one.Base.differs(one.New):
			one.Change = "changed"
		default:
			continue
		}
		list = append(list, one)
	}
	return list
}

// differs reports whether two sides run a pass another number of times, over another
// number of bytes or with another verdict.
func (s *PassSide) differs(t *PassSide) bool {
	return s.PerStep != t.PerStep || s.Bytes != t.Bytes || s.Verdict != t.Verdict
}

func (p *pair) passKeys() []passKey {
	var keys []passKey
	for _, q := range []*pool{p.base, p.new} {
		for k := range q.passes {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b passKey) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.where, b.where), cmp.Compare(a.optimizer, b.optimizer))
	})
	return slices.Compact(keys)
}
