package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/idle"
)

// ID001 finds loops that wait for their batches.
var ID001 = analyze.Rule{
	ID:    "ID001",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "data loading leaves the device idle",
		Why: "While the loop waits for the next batch, nothing is launched and the device runs dry. Only the part of " +
			"loading in which the device is idle counts; what is hidden behind work does not. The saving is at most " +
			"that: workers share cores and memory bandwidth with the loop.",
		Fix: "DataLoader(..., num_workers=4, prefetch_factor=2, persistent_workers=True, pin_memory=True), " +
			"or cheaper transforms",
	},
	Needs: idleNeeds,
	Run: idleRule{idle.LateData, "data loading leaves the device idle", func(s *idle.Shown) string {
		return fmt.Sprintf("the host is in %s%s, %s", s.Event.Name, inside(s), longestGap(s))
	}}.run,
}
