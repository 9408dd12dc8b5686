package whatif

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace/graph"
)

// loaderRun is the trace of a loop that fetches a batch for load ns, launches a kernel of 4 ms in each of eight
// steps, takes 500 us for it, and waits for the kernel.
func loaderRun(load int64) string {
	var b strings.Builder
	line := func(at int64, thread string, dur int64, rest string, args ...any) {
		fmt.Fprintf(&b, "%s %dns +%dns %s\n", thread, at, dur, fmt.Sprintf(rest, args...))
	}
	b.WriteString("recording format=kineto\n")
	at := int64(0)
	for step := range 8 {
		line(at, "1/1", load, "user_annotation enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__")
		launch := at + load + 400_000
		line(launch, "1/1", 6_000, "cuda_runtime cudaLaunchKernel corr=%d", 10*step+1)
		line(launch+10_000, "0/7", 4_000_000, "kernel gemm corr=%d stream=7", 10*step+1)
		line(launch+20_000, "1/1", 80_000, "user_annotation Optimizer.step#A.step")
		line(launch+100_000, "1/1", 3_920_000, "cuda_runtime cudaDeviceSynchronize corr=%d", 10*step+2)
		at = launch + 4_100_000
	}
	return b.String()
}

// Steps without loading take 4.51 ms. With workers batches come no faster than these load them; sharing
// a core makes both slower.
func TestWorkers(t *testing.T) {
	const alone = 4_500_000
	w, _ := worldOfTexts(t, []string{loaderRun(10_000_000)})
	for edit, after := range map[string]int64{
		"hide-data-loading": alone, "hide-data-loading=1": 10_000_000, "hide-data-loading=2": 5_000_000,
		"hide-data-loading=3": alone, "hide-data-loading=65536": alone,
	} {
		p := predict(t, w, edit)
		took := w.durations(p.Times)[len(w.steps)-2] // the last one ends as its kernel does
		within(t, edit, took, after-60_000, after+60_000)
	}
	// A single worker is in the range of any number; half a millisecond of launching becomes 1.6 times as long.
	enough, two := predict(t, w, "hide-data-loading").Gain, predict(t, w, "hide-data-loading=2").Gain
	within(t, "low of enough", enough.Low, 3_000_000, 5_000_000)
	within(t, "low of two", two.Low, 4_500_000, 6_700_000)
	if _, err := Parse([]string{"hide-data-loading=0"}); err == nil {
		t.Error("no worker is a number of workers")
	}
}

// Loading that workers compete with costs the loop 0.6 of its own time at most.
func TestContention(t *testing.T) {
	for load, slower := range map[int64]float64{100_000: 0.6 * 100 / 580, 10_000_000: 0.6} {
		w, _ := worldOfTexts(t, []string{loaderRun(load)})
		c := w.change(AsRecorded)
		launch := graph.Node(-1)
		c.calls(func(_ int, n, own graph.Node) {
			if w.Ranks[0].Loading[own] > 0 && w.Ranks[0].Step[own] == 3 {
				launch = n
			}
		})
		before := c.G.Lag[c.G.Before[launch]]
		c.contend()
		more := float64(c.G.Lag[c.G.Before[launch]] - before)
		if want := slower * 486_000; more < want*0.9-1000 || more > want*1.1+1000 {
			t.Errorf("beside loading of %d ns it thinks %.0f ns more, want %.0f", load, more, want)
		}
	}
}
