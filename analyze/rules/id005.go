package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/idle"
)

// ID005 finds long gaps in which the host does something of its own.
var ID005 = analyze.Rule{
	ID:    "ID005",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "host stall",
		Why: "For more than a millisecond at a time the host launches nothing: logging, checkpoints, garbage " +
			"collection, operators on the CPU, or a thread that is not scheduled.",
		Fix: "move it into another thread, or do it once everything of the step is launched; gc.disable() with " +
			"gc.collect() every k-th step; keep CPU tensors out of the loop",
	},
	Needs: idleNeeds,
	Run:   idleRule{idle.StalledHost, "the host stalls and leaves the device idle", stalling, nil}.run,
}

// stalling says what the host does in the longest gap.
func stalling(s *idle.Shown) string {
	if s.Unseen {
		return fmt.Sprintf("gaps longer than a millisecond, %s, during most of which no operator runs%s", longestGap(s),
			inside(s))
	}
	return fmt.Sprintf("gaps longer than a millisecond, %s; the longest operator in them is %s%s",
		longestGap(s), s.Event.Name, inside(s))
}
