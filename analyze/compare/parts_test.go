package compare

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// idling is a report of steps of Adam whose durations are their compute and idle time;
// known says whether the causes of that are.
func idling(known bool, steps ...[3]int64) made {
	r := reportOf(0)
	for i, s := range steps {
		r = r.step("A", s[0]+s[1]+s[2], "Adam/1")
		row := &r.Steps[i]
		row.Ledger = &report.Ledger{Compute: s[0], Idle: s[1] + s[2]}
		if row.Idle = nil; known {
			row.Idle = &report.IdleCauses{DataLoading: s[1], KernelGap: s[2]}
		}
	}
	return r
}

// Parts are means, so they add up, also over steps of different length; idle time has
// causes where both sides know them.
func TestParts(t *testing.T) {
	known := idling(true, [3]int64{100, 50, 1}, [3]int64{100, 0, 4})
	host := reportOf(0).step("A", 7, "Adam/1")
	host.Steps[0].Duration, host.Steps[0].Ledger = nil, nil
	for _, test := range []struct {
		name      string
		base, new made
		want      string
	}{
		{"causes", known, idling(true, [3]int64{110, 0, 2}),
			"compute 100 110 10; idle_data_loading 25 0 -25; idle_kernel_gap 3 2 -1"},
		{"one side does not know causes", known, idling(false, [3]int64{110, 0, 2}),
			"compute 100 110 10; idle 28 2 -26"},
		{"nor does the other", idling(false, [3]int64{1, 1, 1}), known, "compute 1 100 99; idle 2 28 26"},
		{"no device", known, host, ""},
		{"another kind", known, reportOf(0).step("A", 7, "SGD/1"), ""},
	} {
		var got []string
		for _, k := range between(test.base, test.new).Kinds {
			for _, p := range k.Parts {
				got = append(got, fmt.Sprintf("%s %d %d %d", p.Name, p.Base, p.New, p.Change))
			}
		}
		if text := strings.Join(got, "; "); text != test.want {
			t.Errorf("%s: %s, want %s", test.name, text, test.want)
		}
	}
}

// Loaders are compared where both sides have some.
func TestDataLoaders(t *testing.T) {
	loaders := func(names ...string) made {
		r := reportOf(0).step("A", 7, "Adam/1")
		r.Source.DataLoaders = names
		return r
	}
	for _, test := range []struct {
		base, new made
		want      string
	}{
		{loaders("x"), loaders("y"), "[{data_loader  x y}]"},
		{loaders("x", "y"), loaders("y"), "[{data_loader  x or y y}]"},
		{loaders("x"), loaders("x"), "[]"},
		{loaders("x"), loaders(), "[]"},
	} {
		if got := fmt.Sprint(between(test.base, test.new).Settings); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}
