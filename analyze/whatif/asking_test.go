package whatif

import (
	"strings"
	"testing"
)

// askedRun is steps in which the device waits for the host: five all-reduces of 500 kB and one of 4 MB, each asked for
// in 42 us of the host with 8 us of its own between them, and an update that the last of them is over for.
func askedRun(steps int) string {
	var m madeRun
	t := 0.0
	for range steps {
		m.call("1/1", t, 7, t+10, 20, "gemm", "")
		t += 30
		for i := range 6 {
			elems, dur := 125_000, 20.0
			if i == 5 {
				elems, dur = 1_000_000, 34
			}
			m.add("1/1", t, 1, "cuda_runtime cudaEventRecord")
			m.add("1/1", t+1, 40, "cpu_op c10d::allreduce_")
			m.reduce("1/1", t+5, 20, t+18, dur, allReduceKernel, "0", elems)
			m.add("1/1", t+41, 1, "cuda_runtime cudaEventRecord")
			t += 50
		}
		m.add("1/1", t, 1, "cuda_runtime cudaStreamWaitEvent")
		m.add("1/1", t+2, 10, "user_annotation Optimizer.step#SGD.step")
		m.call("1/1", t+52, 7, t+62, 100, "adam", "")
		m.corr++
		m.add("1/1", t+70, 100, "cuda_runtime cudaDeviceSynchronize corr=%d", m.corr)
		t += 190
	}
	return m.text.String()
}

// Where the device waits for the host, a bucket gains what the host takes to ask for the collectives that are no more,
// with the calls for events around them, and nothing of what it does between them. The large one fills the bucket.
func TestBucketTakesHostTime(t *testing.T) {
	w := alone(t, askedRun(4))
	p := predict(t, w, "bucket=4MB")
	if want := int64(5 * 42_000); p.Kinds[0].MedianBefore-p.Kinds[0].MedianAfter != want {
		t.Errorf("gains %d, want %d", p.Kinds[0].MedianBefore-p.Kinds[0].MedianAfter, want)
	}
	uses, _ := Parse([]string{"bucket=4MB"})
	r, _, err := w.Report([][]Use{uses})
	if err != nil || !strings.Contains(r.Edits[0].Fitted, "24 collectives become 4") {
		t.Errorf("%v: %s", err, r.Edits[0].Fitted)
	}
}

// A kernel that starts late because it was launched late says nothing of the gap that it would have otherwise.
func TestGapsOfLateLaunches(t *testing.T) {
	var m madeRun
	at := 0.0
	for range 4 {
		m.add("1/1", at, 10, "user_annotation Optimizer.step#SGD.step")
		for range 20 { // each starts 9 us after its launch, which is 2.5 us after the one before has ended
			m.call("1/1", at, 7, at+9, 91.5, "gemm", "")
			at += 94
		}
		m.call("1/1", at, 7, at+9, 91.5, "long", "")
		for i := range 3 {
			m.call("1/1", at+4*float64(1+i), 7, at+102+11*float64(i), 9.5, "ahead", "")
		}
		at += 160
	}
	w := alone(t, m.text.String())
	if got := w.Ranks[0].Usual[classOrder]; got != 1500 {
		t.Errorf("a gap is usually %d ns, want 1500", got)
	}
}
