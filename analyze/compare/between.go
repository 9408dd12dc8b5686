package compare

import "github.com/gaprof/gaprof/analyze/report"

// Between compares the reports of two sides. It is a pure function: equal reports give
// equal differences, and nothing is changed in them.
func Between(base, new []*report.Report, version string) *Diff {
	b, n := newSide(base), newSide(new)
	d, pairs := timesOf(b, n, version)
	before := earlier{make(map[moveKey]int), make(map[string]int)}
	if len(pairs) < 2 {
		before = earlier{}
	}
	for i := range pairs {
		d.structure(&pairs[i], before)
	}
	sortMoves(d.Moves)
	d.Settings = settings(pairs, b, n)
	d.Findings = findings(b, n)
	return d
}

// Times is Between without what changed in the structure of steps, in settings and in findings,
// which is most of the work where reports are large.
func Times(base, new []*report.Report) *Diff {
	none := func(*report.Report, map[stepKey]*pool) {}
	d, _ := timesOf(sideOf(base, none), sideOf(new, none), "")
	return d
}

// timesOf is what Times says of two sides, and their kinds of step.
func timesOf(b, n *side, version string) (*Diff, []pair) {
	d := &Diff{
		Schema:      Schema,
		Version:     version,
		Base:        b.describe(),
		New:         n.describe(),
		Moves:       []Move{},
		Collectives: []CollectiveChange{},
		Orders:      []OrderChange{},
		Passes:      []PassChange{},
		Kinds:       []Kind{},
		Memory:      []MemoryChange{},
	}
	d.Unlike = unlike(&d.Base, &d.New, b, n)
	pairs := match(b, n)
	for i := range pairs {
		d.Kinds = append(d.Kinds, kindOf(&pairs[i], len(b.pools) > 0, len(n.pools) > 0))
	}
	d.StepTimes = stepTimes(d.Kinds)
	d.RecordSteps = recordSteps(d.Kinds)
	return d, pairs
}

// earlier says where in a Diff the changes of earlier kinds are, to which those of one more are added.
// Its maps are nil where there is one kind only.
type earlier struct {
	moves  map[moveKey]int
	orders map[string]int // by what orderKey says
}

// structure adds what changed in the steps of one kind that both sides have.
func (d *Diff) structure(p *pair, at earlier) {
	if !p.comparable() {
		return
	}
	flows, changes := p.flows()
	for _, f := range flows {
		d.addMove(p, f, at.moves)
		d.addOrder(p, f, at.orders)
	}
	d.Collectives = append(d.Collectives, changes...)
	d.Passes = append(d.Passes, p.passChanges()...)
	if c, ok := memoryChange(p.name(), p.base.memory, p.new.memory); ok {
		d.Memory = append(d.Memory, c)
	}
}
