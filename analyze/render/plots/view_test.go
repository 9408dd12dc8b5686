package plots

import (
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// What a page has no room for is counted, and a large timeline keeps no small one out.
func TestViewsWithin(t *testing.T) {
	one := func(rank int64, spans int) report.Timeline {
		return report.Timeline{Rank: rank, Duration: 100, Strips: []report.Strip{
			{Row: "7", Class: "compute", Spans: make([][2]int64, spans)}}}
	}
	first := one(0, 3)
	first.Others = []report.TimelineStep{{Step: 1, Duration: 100, Strips: first.Strips}, {Step: 2, Duration: 100}}
	r := &report.Report{Drawing: &report.Drawing{Timelines: []report.Timeline{first, one(1, 9), one(2, 2)}}}
	for _, c := range []struct{ spans, views, left int }{{17, 4, 0}, {16, 3, 1}, {8, 3, 1}, {5, 2, 2}, {1, 0, 4}} {
		if views, left := Views(r, c.spans); len(views) != c.views || left != c.left {
			t.Errorf("%d spans: %d views and %d left out, want %d and %d", c.spans, len(views), left, c.views, c.left)
		}
	}
}

// A span has a letter that every page can carry as it is, and none where the names do not fit the spans.
func TestLetters(t *testing.T) {
	for _, c := range []struct {
		numbers []int
		n       int
		want    string
	}{
		{[]int{0, 1, 2, 63}, 4, "?@A~"},
		{[]int{64, -1, 1}, 3, "??@"},
		{[]int{1}, 2, ""}, {nil, 2, ""}, {nil, 0, ""},
	} {
		if got := inLetters(c.numbers, c.n); got != c.want {
			t.Errorf("%v: %q, want %q", c.numbers, got, c.want)
		}
	}
}
