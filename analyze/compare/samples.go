package compare

import "github.com/gaprof/gaprof/analyze/report"

// Steps are the complete steps of one kind on both sides. Each step is its rows, one a
// rank and device, which point into the reports.
type Steps struct {
	Kind       string             // its optimizers, by name
	Optimizers []report.Optimizer // of the base, or of the new side where only that has the kind
	Base, New  [][]*report.Step   // by step; nil on a side without the kind
}

// Match pairs the steps of two sides by kind, as Between does; kinds without a complete
// step are left out. Either side may be empty.
func Match(base, new []*report.Report) []Steps {
	var list []Steps
	none := func(*report.Report, map[stepKey]*pool) {}
	for _, p := range match(sideOf(base, none), sideOf(new, none)) {
		s := Steps{Kind: p.name(), Base: p.base.steps(), New: p.new.steps()}
		if p.base != nil {
			s.Optimizers = p.base.optimizers
		} else {
			s.Optimizers = p.new.optimizers
		}
		if len(s.Base)+len(s.New) > 0 {
			list = append(list, s)
		}
	}
	return list
}
