package rules

import (
	"fmt"
	"strings"

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
	Edit:  "hide-data-loading",
	Run:   idleRule{idle.LateData, "data loading leaves the device idle", loading, moreWorkers}.run,
}

// moreWorkers is the fix for a loader that has workers already, "" for one of none.
func moreWorkers(s *idle.Shown) string {
	if !strings.Contains(s.Event.Name, "MultiProcessing") {
		return ""
	}
	return "the workers do not keep up: raise num_workers up to the cores that each rank has, then prefetch_factor; " +
		"persistent_workers=True, pin_memory=True, cheaper transforms, faster storage"
}

// loading says what the host does in the longest gap.
func loading(s *idle.Shown) string {
	return fmt.Sprintf("the host is in %s%s, %s", s.Event.Name, inside(s), longestGap(s))
}
