package render

import (
	"testing"

	"github.com/gaprof/gaprof/analyze/compare"
)

// What accounts for a change of step time is the largest part in its direction; what goes
// against it is said, and small changes have no cause worth a word.
func TestPartSentences(t *testing.T) {
	const ms = 1_000_000
	part := func(name string, base, new int64) compare.Part {
		return compare.Part{Name: name, Base: base * ms, New: new * ms, Change: (new - base) * ms}
	}
	for _, test := range []struct {
		parts  []compare.Part
		median int64 // change of the median step
		want   string
	}{
		{[]compare.Part{part("compute", 100, 101), part("idle_data_loading", 50, 0), part("idle_optimizer", 5, 15)},
			-45,
			"idle in data loading accounts for more than all of it: -50.00 of -39.00 ms/step by means; in the other " +
				"direction idle while the optimizer runs on the host +10.00 ms"},
		{[]compare.Part{part("compute", 100, 140), part("reduce_scatter", 5, 15)}, 50,
			"compute accounts for it: +40.00 of +50.00 ms/step by means"},
		{[]compare.Part{part("compute", 100, 130), part("all_gather", 5, 25), part("memory", 1, 11)}, 60,
			"compute accounts for most of it: +30.00 of +60.00 ms/step by means; exposed all-gather +20.00 ms"},
		{[]compare.Part{part("compute", 100, 120), part("all_gather", 5, 20), part("memory", 1, 16)}, 50,
			"compute accounts for the largest part of it: +20.00 of +50.00 ms/step by means; " +
				"exposed all-gather +15.00 ms, copies and memsets +15.00 ms"},
		{[]compare.Part{part("compute", 100, 102)}, 2, ""},
		{[]compare.Part{part("compute", 100, 150)}, -1, ""},
		{nil, 5, ""},
	} {
		d := compare.Diff{
			Kinds:     []compare.Kind{{Name: "A", Parts: test.parts}},
			StepTimes: []compare.StepTime{{Kind: "A", Change: test.median}},
		}
		got := ""
		for _, s := range partSentences(&d) {
			got += s.text
		}
		if got != test.want {
			t.Errorf("%s\nwant %s", got, test.want)
		}
	}
}
