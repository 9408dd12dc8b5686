package rules

import (
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/timeline"
)

// TestWordsOfLateReductions: of reductions that are launched late each is said to be launched where it is.
func TestWordsOfLateReductions(t *testing.T) {
	step := timeline.LaunchSite{Site: timeline.SiteOptimizerStep, Name: "A"}
	other := timeline.LaunchSite{Site: timeline.SiteOptimizerStep, Name: "B"}
	hook := timeline.LaunchSite{Site: timeline.SiteBackwardHook, Name: "h"}
	outside := timeline.LaunchSite{Site: timeline.SiteUnknown}
	count := func(sites ...timeline.LaunchSite) siteCount {
		c := siteCount{count: make(map[timeline.LaunchSite]int)}
		for _, s := range sites {
			c.add(s)
		}
		c.flush()
		return c
	}
	for _, test := range []struct {
		all, late    siteCount
		subject, why string
	}{
		{count(step, step), count(step, step), "reduce-scatter", "2 of 2 linked reduce-scatters are launched inside " +
			"Optimizer.step (A 2)"},
		{count(step, outside, outside), count(step, outside, outside), "reduce-scatter", "1 of 3 linked " +
			"reduce-scatters are launched inside Optimizer.step (A 1); 2 of 3 linked " +
			"reduce-scatters of gradients are launched after backward, before Optimizer.step"},
		{count(outside, outside, outside, hook), count(outside, outside, outside), "reduce-scatter after backward",
			"3 of 4 linked reduce-scatters of gradients are launched after backward, before Optimizer.step"},
		{count(step, hook, hook), count(step), "reduce-scatter of A", "1 of 3 linked reduce-scatters are launched " +
			"inside Optimizer.step (A 1); 2 from backward hooks already"},
		{count(step, other, other, hook), count(step, other, other), "reduce-scatter of A and B", "3 of 4 linked " +
			"reduce-scatters are launched inside Optimizer.step (B 2, A 1); 1 from backward hooks already"},
	} {
		w := lateOf("reduce-scatter", test.all, test.late)
		if w.subject != test.subject || w.why != test.why || !strings.Contains(w.reduction, "reduce_scatter") {
			t.Errorf("%q: %q\nwant %q: %q", w.subject, w.why, test.subject, test.why)
		}
	}
}
