package gate

import "github.com/gaprof/gaprof/analyze/report"

// missIdle is Missing of metrics of idle time by cause.
const missIdle = missDevice + "; reports of older versions do not have it"

// idleTime is a metric of what a device waits for.
func idleTime(name, field, waits, next string, of func(*report.Step) *int64) Metric {
	return timeOf(name, "steps[]."+field, "time in which the device waits "+waits+", in a step", next, "", of, missIdle)
}

// idleIn is a metric of one cause of idle time.
func idleIn(cause, why, next string) Metric {
	m := idleTime("idle."+cause+".time", "idle_causes_ns."+cause, "", next, func(s *report.Step) *int64 {
		for _, c := range report.AllIdleCauses() {
			if c.Name == cause && s.Idle != nil {
				n := c.Of(s.Idle)
				return &n
			}
		}
		return nil
	})
	m.Definition = "time in which the device does nothing " + why + ", in a step"
	return m
}

// idleRatio is the share of a step in which its device does nothing.
func idleRatio(_ *view, s *report.Step) (float64, bool) {
	if s.Ledger == nil || s.Duration == nil || *s.Duration == 0 {
		return 0, false
	}
	return float64(s.Ledger.Idle) / float64(*s.Duration), true
}
