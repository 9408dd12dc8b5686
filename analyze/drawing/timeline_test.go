package drawing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/text"
)

func timelineText(t Timeline) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%d,%d) resolution %d, %d folded\n", t.Window.Start, t.Window.End, t.Resolution, t.Folded)
	for _, s := range t.Strips {
		exposed := ""
		if s.Exposed {
			exposed = " exposed"
		}
		fmt.Fprintf(&b, "%s: %s%s", s.Row, s.Class, exposed)
		for _, span := range s.Spans {
			fmt.Fprintf(&b, " [%d,%d)", span.Start, span.End)
		}
		b.WriteString("\n")
	}
	return b.String()
}

const streamsOfStep = `1/1 1 +1 cuda_runtime l corr=1
1/1 3 +1 cuda_runtime l corr=2
1/1 10 +5 user_annotation Optimizer.step#A.step
1/1 11 +1 cuda_runtime l corr=3
1/1 12 +1 cuda_runtime l corr=4
`

// draw draws the first step of a trace in text form.
func draw(t *testing.T, source string) (steps.Window, Timeline) {
	t.Helper()
	tr, err := text.Read(strings.NewReader(source), "test")
	if err != nil {
		t.Fatal(err)
	}
	x := timeline.New(tr)
	r := facts.Compute(x)[0]
	w := r.Steps[0].Windows[0]
	return w, Draw(x.Ranks[0], r, w)
}

func TestTimeline(t *testing.T) {
	for _, test := range []struct{ name, source, want string }{
		{"communication, hidden and exposed, copies and idle time", streamsOfStep + `
0/7 30 +20 kernel k corr=1
0/20 40 +40 kernel ncclDevKernel_ReduceScatter_Sum_f32_RING_LL corr=2
0/9 85 +5 gpu_memcpy c corr=3
0/7 95 +5 kernel k corr=4`, `
[30,100) resolution 1, 0 folded
phase: optimizer [95,100)
phase: unknown [30,50)
stream 7: compute [30,50) [95,100)
stream 9: memory [85,90)
stream 20: reduce_scatter [40,80)
stream 20: reduce_scatter exposed [50,80)
ledger: compute [30,50) [95,100)
ledger: memory [85,90)
ledger: reduce_scatter [50,80)
`},
		{"spans too close to be told apart are one", streamsOfStep + `
0/7 1000 +500 kernel k corr=1
0/7 1501 +500 kernel k corr=2
0/7 2010 +500 kernel k corr=3
0/7 40000 +1000 kernel k corr=4`, `
[1000,41000) resolution 10, 0 folded
phase: optimizer [2010,2510) [40000,41000)
phase: unknown [1000,2001)
stream 7: compute [1000,2510) [40000,41000)
ledger: compute [1000,2510) [40000,41000)
`},
		{"streams beyond the most share a row", streamsOfStep + `
0/1 100 +10 kernel k corr=1
0/2 100 +9 kernel k corr=1
0/3 100 +8 kernel k corr=1
0/4 100 +7 kernel k corr=1
0/5 100 +6 kernel k corr=1
0/6 100 +5 kernel k corr=1
0/7 100 +4 kernel k corr=1`, `
[100,110) resolution 1, 2 folded
phase: unknown [100,110)
stream 1: compute [100,110)
stream 2: compute [100,109)
stream 3: compute [100,108)
stream 4: compute [100,107)
stream 5: compute [100,106)
other streams: compute [100,105)
ledger: compute [100,110)
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, drawn := draw(t, test.source)
			if got, want := timelineText(drawn), strings.TrimLeft(test.want, "\n"); got != want {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
		})
	}
}

// The ledger row is the ledger: its spans are as long where nothing is too small to be seen.
func TestTimelineAgreesWithLedger(t *testing.T) {
	w, drawn := draw(t, streamsOfStep+`
0/7 30 +20 kernel k corr=1
0/20 40 +40 kernel ncclDevKernel_ReduceScatter_Sum_f32_RING_LL corr=2
0/21 60 +30 kernel ncclDevKernel_AllGather_RING_LL corr=2
0/9 70 +5 gpu_memset c corr=3
0/7 95 +5 kernel k corr=4`)
	sum := make(map[string]int64)
	for _, s := range drawn.Strips {
		for _, span := range s.Spans {
			if s.Row == LedgerRow {
				sum[s.Class] += span.End - span.Start
			}
		}
	}
	for b, ns := range w.Ledger {
		bucket := timeline.Bucket(b)
		if drawn := sum[bucket.String()]; bucket != timeline.IdleBucket && drawn != ns {
			t.Errorf("%s: %d in the timeline, %d in the ledger", bucket, drawn, ns)
		}
	}
}

// Spans that nest deeper than is looked at around a launch are drawn all the same.
func TestDeepNesting(t *testing.T) {
	var source strings.Builder
	const depth = 3000
	source.WriteString("1/1 0 +9000 user_annotation Optimizer.step#A.step\n")
	for i := range depth {
		fmt.Fprintf(&source, "1/1 %d +%d cpu_op aten::linear\n", i+1, 8000-2*i)
	}
	source.WriteString("1/1 4000 +1 cuda_runtime l corr=1\n0/7 4100 +10 kernel k corr=1\n")
	if _, drawn := draw(t, source.String()); len(drawn.Strips) != 3 {
		t.Errorf("%+v", drawn.Strips)
	}
}

// TestManyStreams: a graph that runs on hundreds of streams has no more rows than any step.
func TestManyStreams(t *testing.T) {
	var b strings.Builder
	b.WriteString("1/1 1 +5 cuda_runtime cudaGraphLaunch corr=1\n1/1 10 +5 user_annotation Optimizer.step#A.step\n")
	b.WriteString("0/7 30 +500 kernel k corr=1\n")
	for stream := range 300 {
		for _, at := range []int{200, 600} {
			fmt.Fprintf(&b, "0/%d %d +5 kernel k corr=1\n", 1000+stream, at+stream)
		}
	}
	_, drawn := draw(t, b.String())
	rows := make(map[string]bool)
	for _, s := range drawn.Strips {
		rows[s.Row] = true
	}
	if !rows["stream 7"] || len(rows) != timelineStreams+2 || drawn.Folded != 301-(timelineStreams-1) {
		t.Errorf("%d rows, %d folded", len(rows), drawn.Folded)
	}
}
