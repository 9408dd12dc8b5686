package gate

import (
	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/analyze/report"
)

// StepValue is a metric of one step, the mean over its ranks and devices.
type StepValue struct {
	Metric *Metric // a row of Metrics
	Value  float64 // in the unit of the metric
}

// KindValues are the metrics of each complete step of one kind: those that have a unit
// for benchmarks, in the order of the table. What a step does not have is absent.
type KindValues struct {
	Steps  compare.Steps // the steps of the kind
	Values [][]StepValue // a list for each step of Steps.New
}

// StepValues are the metrics of each step of some reports.
func StepValues(reports []*report.Report) []KindValues {
	k := &check{views: make(map[*report.Step]*view), result: &Result{}, used: make(map[int]bool)}
	list, _ := k.selected(reports)
	var kinds []KindValues
	for _, s := range compare.Match(nil, list) {
		kind := KindValues{Steps: s}
		for _, rows := range s.New {
			var step []StepValue
			for _, m := range Metrics() {
				if m.bench == "" {
					continue
				}
				if v := k.values(m, [][]*report.Step{rows}); len(v) > 0 {
					step = append(step, StepValue{m, v[0]})
				}
			}
			kind.Values = append(kind.Values, step)
		}
		kinds = append(kinds, kind)
	}
	return kinds
}
