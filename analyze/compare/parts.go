package compare

import (
	"math"

	"github.com/gaprof/gaprof/analyze/report"
)

// Part is a part of the time of a step on both sides, in ns: means over its complete
// steps, of each the mean over its ranks and devices. Unlike medians, means of parts add
// up to the mean of the whole. Idle time is parted by cause where both sides know it.
type Part struct {
	Name   string `json:"name"`      // a bucket of the ledger, or idle_ and a cause
	Base   int64  `json:"base_ns"`   // mean
	New    int64  `json:"new_ns"`    // likewise
	Change int64  `json:"change_ns"` // New - Base
}

// IdlePrefix begins the names of figures and parts that are causes of idle time.
const IdlePrefix = "idle_"

// idleFigures are the causes of idle time as figures.
func idleFigures() []figure {
	var list []figure
	for _, c := range report.AllIdleCauses() {
		list = append(list, figure{IdlePrefix + c.Name, "ns", func(s *report.Step) *int64 {
			if s.Idle == nil {
				return nil
			}
			n := c.Of(s.Idle)
			return &n
		}})
	}
	return list
}

// ledgerParts are the names of the figures that a step on a device consists of, idle time
// aside.
var ledgerParts = []string{
	"compute", "memory", "reduce_scatter", "all_gather", "all_reduce", "other_communication",
}

// partsOf parts the steps of a kind. It is empty where a side has no steps on a device.
func partsOf(p *pair) []Part {
	list := []Part{}
	if p.base == nil || p.new == nil {
		return list
	}
	idle := idleFigures()
	for _, f := range idle {
		if !known(p.base, f.of) || !known(p.new, f.of) {
			idle = []figure{figureNamed("idle")}
			break
		}
	}
	var parts []figure
	for _, name := range ledgerParts {
		parts = append(parts, figureNamed(name))
	}
	for _, f := range append(parts, idle...) {
		base, new := p.base.values(f.of), p.new.values(f.of)
		if len(base) == 0 || len(new) == 0 {
			return []Part{}
		}
		one := Part{Name: f.name, Base: meanOf(base), New: meanOf(new)}
		if one.Change = one.New - one.Base; one.Base != 0 || one.New != 0 {
			list = append(list, one)
		}
	}
	return list
}

func figureNamed(name string) figure {
	for _, f := range figures {
		if f.name == name {
			return f
		}
	}
	panic("compare: no figure " + name)
}

// known reports whether any row of a pool has a figure and none that has a ledger lacks it.
func known(p *pool, of func(*report.Step) *int64) bool {
	found := false
	for _, rows := range p.rows {
		for _, row := range rows {
			if has := of(row) != nil; has {
				found = true
			} else if row.Ledger != nil {
				return false
			}
		}
	}
	return found
}

func meanOf(values []float64) int64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return int64(math.Round(sum / float64(len(values))))
}
