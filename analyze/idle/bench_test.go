package idle

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/text"
)

// many is a shape of a recording in which the device is idle very often.
type many struct {
	steps, gaps int // gaps of each step
	depth       int // operators around each launch
	waits       int // one of so many launches is followed by a call that waits for the device; 0 none
	threads     int // driving ones beside the main one, which launch in turn
	loose       int // threads that count alone, likewise
	devices     int // that launches go to in turn
}

// String names the shape in benchmarks.
func (m many) String() string {
	return fmt.Sprintf("steps=%d/gaps=%d/depth=%d/waits=%d/threads=%d/loose=%d/devices=%d", m.steps, m.gaps, m.depth,
		m.waits, m.threads, m.loose, m.devices)
}

// rank reads the recording: a launch every 20 us, of a kernel of 4 us.
func (m many) rank(tb testing.TB) (*timeline.Rank, *steps.Steps) {
	var b strings.Builder
	at, corr := 1000, 0
	others := m.threads + m.loose
	for step := range m.steps {
		begin := at
		for gap := range m.gaps {
			thread := 1
			if others > 0 && gap%2 == 1 {
				thread = 2 + gap/2%others
			}
			if thread > 1 && thread < 2+m.threads {
				fmt.Fprintf(&b, "1/%d %dus +2us cpu_op \"autograd::engine::evaluate_function: X\"\n", thread, at-1)
			}
			for d := range m.depth {
				fmt.Fprintf(&b, "1/%d %d.%03dus +9us cpu_op aten::op%d\n", thread, at, d, d%7)
			}
			corr++
			device := corr % max(1, m.devices)
			fmt.Fprintf(&b, "1/%d %dus +2us cuda_runtime cudaLaunchKernel corr=%d\n", thread, at+2, corr)
			fmt.Fprintf(&b, "%d/7 %dus +4us kernel k corr=%d stream=7\n", device, at+6, corr)
			if m.waits > 0 && gap%m.waits == 0 {
				fmt.Fprintf(&b, "1/%d %dus +5us cuda_runtime cudaStreamSynchronize\n", thread, at+5)
			}
			at += 20
		}
		fmt.Fprintf(&b, "1/1 %dus +%dus user_annotation ProfilerStep#%d\n", begin-2, at-begin+6, step)
		fmt.Fprintf(&b, "1/1 %dus +2us user_annotation Optimizer.step#A.step\n", at+1)
		at += 5
	}
	tr, err := text.Read(strings.NewReader(b.String()), "many")
	if err != nil {
		tb.Fatal(err)
	}
	x := timeline.New(tr).Ranks[0]
	return x, steps.Find(x)
}

// shapes are cases in which something is searched for again and again, if anything is.
var shapes = []many{
	{steps: 4}, {steps: 64}, {steps: 4, depth: 20}, {steps: 4, waits: 1}, {steps: 4, waits: 3, threads: 1},
	{steps: 4, threads: 30, waits: 2}, {steps: 4, loose: 30, waits: 2}, {steps: 4, devices: 8, waits: 1},
}

// Time per gap does not depend on how many gaps there are.
func BenchmarkFind(b *testing.B) {
	for _, m := range shapes {
		for _, gaps := range []int{10_000, 100_000} {
			m.gaps = gaps / m.steps
			b.Run(m.String(), func(b *testing.B) {
				x, s := m.rank(b)
				b.ReportAllocs()
				for b.Loop() {
					Find(x, s)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*m.gaps*m.steps), "ns/gap")
			})
		}
	}
}

// Memory grows with the number of gaps and no faster, whatever the shape.
func TestMemoryIsLinear(t *testing.T) {
	for _, m := range shapes {
		var took [2]uint64
		for i, gaps := range []int{2_000, 16_000} {
			m.gaps = gaps / m.steps
			x, s := m.rank(t)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			found := Find(x, s)
			runtime.ReadMemStats(&after)
			took[i] = after.TotalAlloc - before.TotalAlloc
			sum := int64(0)
			for i := range found {
				for k := range found[i] {
					sum += found[i][k].Sum()
				}
			}
			if sum == 0 {
				t.Errorf("%s: no idle time", m)
			}
		}
		if took[1] > 10*took[0] {
			t.Errorf("%s: %d bytes, %d with 8 times as many gaps", m, took[0], took[1])
		}
	}
}
