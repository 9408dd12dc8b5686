package whatif

import (
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// A picture shows the step before and after: all spans lie in it, in order and apart, and what a
// hoist touches is communication, which comes earlier.
func TestPicture(t *testing.T) {
	w := worldOf(t, "traces/reduce-scatter-in-step.json")
	p := predict(t, w, "hoist-reduce-scatter")
	s := Picture(w, p, []int64{7})
	if s == nil || s.Rank != 7 || s.After.Duration >= s.Before.Duration {
		t.Fatalf("picture %+v", s)
	}
	before, after := touchedFrom(t, &s.Before), touchedFrom(t, &s.After)
	if before < 0 || after >= before {
		t.Errorf("what is touched begins at %d, and at %d afterwards", before, after)
	}
	if s.Before.Duration-s.After.Duration > 2*p.Gain.High {
		t.Errorf("from %d to %d ns, and the gain is %+v", s.Before.Duration, s.After.Duration, p.Gain)
	}
}

// touchedFrom is where what the edit touches begins, -1 without any.
func touchedFrom(t *testing.T, side *report.PredictedSide) int64 {
	t.Helper()
	from := int64(-1)
	for _, strip := range side.Strips {
		end := int64(0)
		for i, span := range strip.Spans {
			if span[0] < end || i > 0 && span[0] == end || span[1] <= 0 || span[0]+span[1] > side.Duration {
				t.Errorf("%s %s: span %v after %d of %d", strip.Row, strip.Class, span, end, side.Duration)
			}
			end = span[0] + span[1]
		}
		if strip.Exposed && strip.Row != "communication" {
			t.Errorf("%s is touched", strip.Row)
		}
		if strip.Exposed && (from < 0 || strip.Spans[0][0] < from) {
			from = strip.Spans[0][0]
		}
	}
	return from
}
