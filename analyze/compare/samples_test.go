package compare

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

func TestMatch(t *testing.T) {
	partial := reportOf(0).step("A", 1, "X")
	partial.Steps[0].Complete = false
	for _, test := range []struct {
		name      string
		base, new made
		want      string
	}{
		{"nothing", reportOf(), reportOf(), ""},
		{"no complete step", partial, partial, ""},
		{"one side", reportOf(0).step("A", 1, "X").step("A", 2, "X"), reportOf(), "X [1 2] []"},
		{"the other side", reportOf(), reportOf(0).step("B", 1, "X"), "X [] [1]"},
		{
			"kinds by optimizers",
			reportOf(0).step("A", 1, "X").step("B", 2, "X", "Y"),
			reportOf(0).step("A", 3, "X", "Y"),
			"X [1] []; X + Y [2] [3]",
		},
		{"ranks of one step", reportOf(0, 1).stepOf(0, "A", 1, "X").stepOf(1, "A", 2, "X"), reportOf(), "X [1+2] []"},
	} {
		var got []string
		for _, s := range Match([]*report.Report{test.base.Report}, []*report.Report{test.new.Report}) {
			got = append(got, fmt.Sprintf("%s %v %v", s.Kind, durations(s.Base), durations(s.New)))
			if len(s.Optimizers) == 0 {
				t.Errorf("%s: no optimizers", test.name)
			}
		}
		if strings.Join(got, "; ") != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func durations(steps [][]*report.Step) []string {
	list := []string{}
	for _, rows := range steps {
		var parts []string
		for _, row := range rows {
			parts = append(parts, fmt.Sprint(*row.Duration))
		}
		list = append(list, strings.Join(parts, "+"))
	}
	return list
}

// Five values all below five others are one of 126 ways, on either side.
func TestP(t *testing.T) {
	low, high := []float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}
	if p := P(low, high); p < 2.0/252-1e-12 || p > 2.0/252+1e-12 {
		t.Errorf("p %v", p)
	}
	if p := P(low, low); p < 0.99 {
		t.Errorf("the same twice: p %v", p)
	}
}
