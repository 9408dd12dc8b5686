package compare

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"

	"github.com/gaprof/gaprof/analyze/report"
)

// Few is the number of steps of a kind below which times are of low confidence: four
// against four cannot reach p < 0.029.
const Few = 5

// confidence is that of the intervals of medians; significance is the p below which
// a difference is called significant.
const (
	confidence   = 0.95
	significance = 0.05
)

// figure is a figure of a step; one that a row does not have is nil.
type figure struct {
	name, unit string
	of         func(*report.Step) *int64
}

// figures is the table of all figures but the causes of idle time, which follow idle.
var figures = []figure{
	{"duration", "ns", func(s *report.Step) *int64 { return s.Duration }},
	{"compute", "ns", bucket(func(l *report.Ledger) int64 { return l.Compute })},
	{"memory", "ns", bucket(func(l *report.Ledger) int64 { return l.Memory })},
	{"exposed_communication", "ns", bucket(func(l *report.Ledger) int64 {
		return l.ReduceScatter + l.AllGather + l.AllReduce + l.OtherComm
	})},
	{"reduce_scatter", "ns", bucket(func(l *report.Ledger) int64 { return l.ReduceScatter })},
	{"all_gather", "ns", bucket(func(l *report.Ledger) int64 { return l.AllGather })},
	{"all_reduce", "ns", bucket(func(l *report.Ledger) int64 { return l.AllReduce })},
	{"other_communication", "ns", bucket(func(l *report.Ledger) int64 { return l.OtherComm })},
	{"idle", "ns", bucket(func(l *report.Ledger) int64 { return l.Idle })},
	{"host_duration", "ns", func(s *report.Step) *int64 { return &s.HostDuration }},
	{"device_events", "count", func(s *report.Step) *int64 {
		if s.Duration == nil {
			return nil
		}
		n := int64(s.LinkedEvents)
		return &n
	}},
}

func bucket(of func(*report.Ledger) int64) func(*report.Step) *int64 {
	return func(s *report.Step) *int64 {
		if s.Ledger == nil {
			return nil
		}
		n := of(s.Ledger)
		return &n
	}
}

// kindOf compares the times of a pair; anyBase and anyNew: whether a side has any steps.
func kindOf(p *pair, anyBase, anyNew bool) Kind {
	k := Kind{Name: p.name(), BaseLetters: []string{}, NewLetters: []string{}, BaseOptimizers: []report.Optimizer{},
		NewOptimizers: []report.Optimizer{}, Figures: []Figure{}}
	if b := p.base; b != nil {
		k.BaseLetters, k.BaseOptimizers = b.letters, b.optimizers
		k.BaseSteps, k.BaseRankSteps, k.BaseLeftOut = len(b.units), b.rankSteps, b.incomplete
	}
	if n := p.new; n != nil {
		k.NewLetters, k.NewOptimizers = n.letters, n.optimizers
		k.NewSteps, k.NewRankSteps, k.NewLeftOut = len(n.units), n.rankSteps, n.incomplete
	}
	k.Only, k.Uncompared = p.only(anyBase, anyNew)
	k.LowConfidence = k.BaseSteps < Few || k.NewSteps < Few
	for _, f := range figures {
		k.add(p, f)
		if f.name == "idle" {
			for _, cause := range idleFigures() {
				k.add(p, cause)
			}
		}
	}
	k.Parts = partsOf(p)
	return k
}

// add compares a figure, unless neither side has it.
func (k *Kind) add(p *pair, f figure) {
	one := Figure{Name: f.name, Unit: f.unit}
	one.compare(p.base.values(f.of), p.new.values(f.of))
	if one.Base != nil || one.New != nil {
		k.Figures = append(k.Figures, one)
	}
}

// values are a figure of each step: the mean over its ranks and devices, which are not
// independent of each other.
func (p *pool) values(of func(*report.Step) *int64) []float64 {
	if p == nil {
		return nil
	}
	list := make([]float64, 0, len(p.rows))
	for _, rows := range p.rows {
		sum, n := 0.0, 0
		for _, row := range rows {
			if v := of(row); v != nil {
				sum, n = sum+float64(*v), n+1
			}
		}
		if n > 0 {
			list = append(list, sum/float64(n))
		}
	}
	return list
}

// compare fills in the statistics: medians with their intervals, and the Mann-Whitney
// test, which assumes nothing of the distribution.
func (f *Figure) compare(base, new []float64) {
	f.Base, f.New = summary(base), summary(new)
	if f.Base == nil || f.New == nil {
		return
	}
	if f.Base.Median != 0 {
		delta := float64(f.New.Median)/float64(f.Base.Median) - 1
		f.Delta = &delta
	}
	p := P(base, new)
	f.P, f.Significant = &p, p < significance
}

func summary(values []float64) *Summary {
	if len(values) == 0 {
		return nil
	}
	s := benchmath.AssumeNothing.Summary(sample(values), confidence)
	return &Summary{len(values), int64(math.Round(s.Center)), finite(s.Lo), finite(s.Hi)}
}

// sample copies values, because benchmath sorts them.
func sample(values []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
}

func finite(v float64) *int64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	n := int64(math.Round(v))
	return &n
}

// recordSteps is how many steps to record so that each kind has Few complete ones, at
// the shares in which they come, and at least ten; nil where there are enough. The
// first step of a recording is seldom complete, hence one more where one was not.
func recordSteps(kinds []Kind) *int {
	need := 0
	for _, of := range []func(*Kind) (steps, leftOut int){
		func(k *Kind) (int, int) { return k.BaseSteps, k.BaseLeftOut },
		func(k *Kind) (int, int) { return k.NewSteps, k.NewLeftOut },
	} {
		total, first := 0, 0
		for i := range kinds {
			steps, leftOut := of(&kinds[i])
			total += steps
			if leftOut > 0 {
				first = 1
			}
		}
		for i := range kinds {
			steps, leftOut := of(&kinds[i])
			if steps < Few && steps+leftOut > 0 && total > 0 {
				need = max(need, 10, (Few*total+max(1, steps)-1)/max(1, steps)+first)
			}
		}
	}
	if need == 0 {
		return nil
	}
	return &need
}
