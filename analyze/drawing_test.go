package analyze

import (
	"fmt"
	"testing"
)

// Without being asked a report has no drawing, so that its JSON form stays small.
func TestNoDrawing(t *testing.T) {
	if r := Run([]Input{{File: "a", Trace: read(t, stepping(3, 300))}}, Options{}); r.Drawing != nil {
		t.Error("a drawing that nobody asked for")
	}
}

func TestDrawing(t *testing.T) {
	for _, test := range []struct {
		name, source string
		options      Options
		step         int // of the timeline, -1 none
		collectives  int
	}{
		{"no steps", "0/7 100 +600 kernel gemm\n0/9 700 +5 kernel ncclDevKernel_ReduceScatter", Options{}, -1, 1},
		{
			"a CPU alone",
			"1/1 5 +1 cpu_op torch::autograd::AccumulateGrad\n1/1 10 +50 user_annotation Optimizer.step#A.step",
			Options{},
			-1,
			0,
		},
		{"one step", stepping(1, 300), Options{}, 0, 1},
		{"the last but one", stepping(5, 300), Options{}, 3, 5},
		{"of the steps asked for", stepping(5, 300), Options{Steps: func(int) (int, int) { return 0, 2 }}, 0, 2},
		{"a rank left out", stepping(2, 300), Options{Ranks: func(int64) bool { return false }}, -1, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.options.Drawing = true
			d := Run([]Input{{File: "a", Trace: read(t, test.source)}}, test.options).Drawing
			step := -1
			for _, line := range d.Timelines {
				step = line.Step
			}
			if step != test.step || len(d.Collectives) != test.collectives {
				t.Errorf("timeline of step %d, %d collectives; want %d, %d", step, len(d.Collectives), test.step,
					test.collectives)
			}
		})
	}
}

// Times of a timeline are from the start of its window; what is exposed is said twice.
func TestTimelineRows(t *testing.T) {
	d := Run([]Input{{File: "a", Trace: read(t, stepping(3, 300))}}, Options{Drawing: true}).Drawing
	line := d.Timelines[0]
	got := fmt.Sprintf("%d %s %d %d", line.Step, line.Kind, line.Start, line.Duration)
	for _, s := range line.Strips {
		got += fmt.Sprintf("\n%s %s %v %v", s.Row, s.Class, s.Exposed, s.Spans)
	}
	want := `1 A 1100 1000
phase optimizer false [[0 600]]
stream 7 compute false [[0 600]]
stream 9 reduce_scatter false [[600 300]]
stream 9 reduce_scatter true [[600 300]]
ledger compute false [[0 600]]
ledger reduce_scatter false [[600 300]]`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
