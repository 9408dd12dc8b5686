// Package rules is the list of what gaprof looks for, one file a rule.
//
// A rule earns its place by correctness, frequency and precision: one that cries
// wolf costs more than it finds. Rules that were considered and left out stand in
// docs/rules/README.md with the evidence they would need.
package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
)

// All returns the rules in the order in which they may claim time: the specific
// before the general.
func All() []analyze.Rule {
	return []analyze.Rule{
		GS001, GS002, GS003, GS005, GS007, CL001, CL003, CL004, OP001, OP002,
		AC001, AC004, AC005, ST001, OV004, OV001, ST002,
		NM001, NM002, NM003, NM004,
		TH001, TH002, TH003, TH004, TH005, TH006,
	}
}

// Find returns the rule with an id.
func Find(id string) (analyze.Rule, bool) {
	for _, r := range All() {
		if r.ID == id {
			return r, true
		}
	}
	return analyze.Rule{}, false
}

// ms prints ns as milliseconds with the digits that a reader of a trace wants.
func ms(ns int64) string { return fmt.Sprintf("%.2f ms", float64(ns)/1e6) }

// perStep is "1.75 ms/step (2.9 % of 61.0 ms)".
func perStep(cost, step int64) string {
	return fmt.Sprintf("%s/step (%.1f %% of %.1f ms)", ms(cost), 100*float64(cost)/float64(step), float64(step)/1e6)
}

// plural is "1 thing" or "n things".
func plural(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
