package whatif

import (
	"fmt"
	"strings"
	"testing"
)

// queueRun is steps of many short kernels that the host launches every 4 us. What fills the queue of 1021 places
// waits for the first in it to start.
func queueRun(kernel int64, note bool) string {
	const each, steps, depth = 700, 5, 1021
	var text strings.Builder
	var starts []int64
	host, device := int64(0), int64(0)
	for step := range steps {
		for i := range each {
			at := host + 1_000
			start := max(at+6_000, device+1_000)
			starts = append(starts, start)
			device = start + kernel
			host = at + 3_000
			if k := len(starts) - 1 - depth; k >= 0 && starts[k]+2_000 > host {
				if note {
					fmt.Fprintf(&text, "-1/0 %dns +%dns overhead \"Command Buffer Full\"\n", host, starts[k]+2_000-host)
				}
				host = starts[k] + 2_000
			}
			corr := step*each + i + 1
			fmt.Fprintf(&text, "1/1 %dns +%dns cuda_runtime cudaLaunchKernel corr=%d\n", at, host-at, corr)
			fmt.Fprintf(&text, "0/7 %dns +%dns kernel k corr=%d stream=7\n", start, kernel, corr)
			if i == each-1 {
				fmt.Fprintf(&text, "1/1 %dns +%dns user_annotation Optimizer.step#SGD.step\n", at-500, host-at+900)
			}
		}
	}
	return text.String()
}

// A host that waits for room in the queue runs on when the device gets faster, and one that gets ahead of a device that
// gets slower waits once the queue is full.
func TestQueue(t *testing.T) {
	full, slow := int64(20_000), int64(60_000)
	for _, c := range []struct {
		was, is int64
		factor  string
	}{
		{full, 2_000, "10"},     // launches take longer than kernels: the host decides
		{full, 10_000, "2"},     // still behind
		{2_000, slow, "0.0333"}, // never full as recorded
	} {
		w := alone(t, queueRun(c.was, true))
		truth := alone(t, queueRun(c.is, false))
		p := predict(t, w, "faster=k:"+c.factor)
		for n, want := range truth.Seen.Start {
			got := p.Times.Start[n]
			if off := got - want; max(off, -off) > want/100+2_000 {
				t.Fatalf("kernels of %d in place of %d ns: node %d starts at %d, want %d", c.is, c.was, n, got, want)
			}
		}
	}
	q := alone(t, queueRun(full, true)).Ranks[0].Queue
	if q.Depth != 1021 || q.Blocked < 2000 || q.Full < q.Blocked {
		t.Errorf("%+v", q)
	}
	if q = alone(t, queueRun(2_000, false)).Ranks[0].Queue; q.Depth > 10 || q.Blocked != 0 || q.Full != 0 {
		t.Errorf("never full: %+v", q)
	}
}

// Room in a queue is there long after the launch that would have to wait without it. What the host takes between two
// launches is no part of that: where loading is taken out, the second one comes at once.
func TestQueueAfterPause(t *testing.T) {
	run := func(load int64) string {
		const each, steps = 700, 6
		const fetch = "user_annotation enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
		var text strings.Builder
		host, device := int64(0), int64(0)
		for step := range steps {
			fmt.Fprintf(&text, "1/1 %dns +%dns %s\n", host, load, fetch)
			host += load
			for i := range each {
				at, corr := host+1_000, step*each+i+1
				host = at + 3_000
				device = max(at+6_000, device+1_000)
				fmt.Fprintf(&text, "1/1 %dns +3000ns cuda_runtime cudaLaunchKernel corr=%d\n", at, corr)
				fmt.Fprintf(&text, "0/7 %dns +4000ns kernel k corr=%d stream=7\n", device, corr)
				device += 4_000
				if i == each-1 {
					fmt.Fprintf(&text, "1/1 %dns +3900ns user_annotation Optimizer.step#SGD.step\n", at-500)
				}
			}
		}
		return text.String()
	}
	w, truth := alone(t, run(20_000_000)), alone(t, run(1_000))
	p := predict(t, w, "hide-data-loading")
	got, want := w.durations(p.Times), truth.durations(truth.Seen)
	for i := range want {
		within(t, fmt.Sprintf("step %d", i), got[i], want[i]-20_000, want[i]+20_000)
	}
}
