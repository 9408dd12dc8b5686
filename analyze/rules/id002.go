package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/idle"
	"github.com/gaprof/gaprof/internal/units"
)

// ID002 finds hosts that wait for the device and lose their head start.
var ID002 = analyze.Rule{
	ID:    "ID002",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "synchronization leaves the device idle",
		Why: "A call that waits for the device (item(), cpu(), nonzero(), a copy from pageable memory, " +
			"synchronize()) returns only once the device has drained. The host has lost its head start, so the " +
			"device waits for every launch until the host is ahead again.",
		Fix: "read values back one step later, or every k-th step; " +
			"pin_memory=True with .to(device, non_blocking=True); no barrier and no synchronize() in the loop",
	},
	Needs: idleNeeds,
	Edit:  "drop-host-sync",
	Run:   idleRule{idle.WaitingHost, "synchronization leaves the device idle", waiting, nil}.run,
}

// waiting says what the host does in the longest gap.
func waiting(s *idle.Shown) string {
	return fmt.Sprintf("the host waits %s in %s%s", units.Milliseconds(s.Event.Duration), s.Event.Name, inside(s))
}
