package whatif

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace/graph"
)

// plainRun is steps of five kernels of 20 us, launched every 25 us and joined to their calls by correlation ids.
func plainRun(steps int, pid, device string, corr int) string {
	var m madeRun
	t := 0.0
	for range steps {
		for range 5 {
			corr++
			m.add(pid+"/1", t, 3, "cuda_runtime cudaLaunchKernel corr=%d", corr)
			m.add(device+"/7", t+10, 20, "kernel gemm corr=%d stream=7", corr)
			t += 25
		}
		m.add(pid+"/1", t-26, 6, "user_annotation Optimizer.step#SGD.step")
		t += 20
	}
	return m.text.String()
}

// graphRun is steps that launch one CUDA graph each, without anything that says what its kernels are. Kernels on three
// streams run beside each other.
func graphRun(steps int, annotated bool) string {
	var m madeRun
	t := 0.0
	for step := range steps {
		m.add("1/1", t, 6, "cuda_runtime cudaGraphLaunch corr=%d", step+1)
		for i := range 30 {
			m.add(fmt.Sprintf("0/%d", 7+i%3), t+10+20*float64(i), 30, "kernel k corr=%d stream=%d", step+1, 7+i%3)
		}
		t += 700
		if annotated {
			m.add("1/1", t-100, 4, "user_annotation Optimizer.step#SGD.step")
		}
	}
	return m.text.String()
}

// What cannot be answered has a reason and no number; what can is replayed as it was recorded, and nothing in it is
// infinite, negative or longer than the run.
func TestHostileTraces(t *testing.T) {
	ok := plainRun(4, "1", "0", 0)
	without := func(pattern string) string { return regexp.MustCompile(pattern).ReplaceAllString(ok, "") }
	for name, c := range map[string]struct{ events, want string }{
		"one operator":         {"1/1 0us +5us cpu_op aten::mm\n", "no device activity"},
		"one kernel":           {"0/7 0us +5us kernel k stream=7\n", "no correlation ids"},
		"one launch":           {"1/1 0us +5us cuda_runtime cudaLaunchKernel corr=1\n", "no device activity"},
		"no correlation":       {without(`corr=\d+`), "no correlation ids"},
		"no calls":             {without(`(?m)^.*cuda_runtime.*\n`), "no correlation ids"},
		"no steps":             {without(`(?m)^.*Optimizer.*\n`), "no complete step"},
		"one step":             {plainRun(1, "1", "0", 0), "no complete step"},
		"graph without steps":  {graphRun(4, false), "no complete step"},
		"graph":                {graphRun(4, true), ""},
		"some calls":           {without(`(?m)^.*LaunchKernel corr=\d*[036]\n`), ""},
		"negative durations":   {strings.ReplaceAll(ok, "+20.000us", "+-5.000us"), ""},
		"no durations":         {regexp.MustCompile(`\+[0-9.]+us (kernel|cuda)`).ReplaceAllString(ok, "+0us $1"), ""},
		"all at once":          {regexp.MustCompile(`(?m)^0/7 \S+`).ReplaceAllString(ok, "0/7 10us"), ""},
		"before their launch":  {strings.ReplaceAll(ok, "0/7 35.000us", "0/7 -900us"), ""},
		"kernels of years":     {strings.ReplaceAll(ok, "+20.000us", "+9000000000000us"), ""},
		"kernels in one stack": {regexp.MustCompile(`\+20.000us`).ReplaceAllString(ok, "+2000us"), ""},
	} {
		t.Run(name, func(t *testing.T) { hostile(t, c.events, c.want) })
	}
}

func hostile(t *testing.T, events, want string) {
	w := Together([]*Rank{rankOfText(t, events)}, nil)
	r, list, err := w.Report(Each())
	if want != "" {
		if err == nil || !strings.Contains(err.Error(), want) || r != nil || list != nil {
			t.Fatalf("%v, %v, want %q", r, err, want)
		}
		return
	}
	if err != nil || r.Replay.SpanError != 0 || r.Replay.Worst != 0 {
		t.Fatalf("%v, %+v", err, r)
	}
	for _, e := range r.Edits {
		if e.Legal == (e.Reason != "") || e.Legal != (e.Gain != nil) {
			t.Errorf("%s: legal %v, %q", e.Edit, e.Legal, e.Reason)
		}
		for _, k := range e.Kinds {
			if k.After < 0 || max(k.Gain.High, -k.Gain.Low) > r.Replay.Span {
				t.Errorf("%s: %+v of a run of %d", e.Edit, k, r.Replay.Span)
			}
		}
	}
}

// What a CUDA graph launches does not begin before the graph launched before it is over, however fast the host is.
func TestGraphsInOrder(t *testing.T) {
	w := alone(t, graphRun(4, true))
	p := predict(t, w, "cuda-graph")
	over := make(map[int32]int64) // by step
	w.Ranks[0].ops(func(op graph.Node) {
		step := w.Ranks[0].Step[op]
		over[step] = max(over[step], p.Times.End[op])
	})
	w.Ranks[0].ops(func(op graph.Node) {
		step := w.Ranks[0].Step[op]
		if before, ok := over[step-1]; ok && step > 0 && p.Times.Start[op] < before {
			t.Errorf("an operation of step %d starts at %d, that before ends at %d", step, p.Times.Start[op], before)
		}
	})
}

// Ranks with different programs, and with no collective in common, are replayed side by side.
func TestDifferentPrograms(t *testing.T) {
	const head = "distributed backend=nccl rank=%d world_size=2\n"
	w, _ := worldOfTexts(t, []string{
		fmt.Sprintf(head, 0) + bucketRun(4, 4, false),
		fmt.Sprintf(head, 1) + plainRun(5, "1", "0", 0),
	})
	f, err := w.Fit()
	if err != nil || f.Worst != 0 || w.Joined != 0 {
		t.Errorf("%+v, %d joined, %v", f, w.Joined, err)
	}
	uses, _ := Parse([]string{"no-straggler"})
	if p, err := w.Predict(uses); err != nil || !strings.Contains(p.Reason, "could not be matched") {
		t.Errorf("%+v, %v", p, err)
	}
}

// A host that runs ahead launches many collectives before anything waits for the first: 10^5 take no longer for each
// than 10^3, which the number of those looked at shows.
func TestManyPending(t *testing.T) {
	const n = 100_000
	r := &Rank{}
	for i := range n {
		r.End, r.Kernel = append(r.End, int64(i)*20_000), append(r.Kernel, int32(i))
	}
	p := newPending(&builder{r: r})
	for i := range int32(n) {
		p.launch(i)
	}
	for _, c := range []struct{ start, want int64 }{
		{50_000*20_000 + 3_000, 50_000}, // the one that ends shortly before
		{50_000*20_000 + 4_000, 0},      // is taken: the oldest
		{60_000*20_000 + 15_000, 1},     // none ends shortly before
		{2 * 20_000, 2},                 // at once
	} {
		if got := p.take(c.start); int64(got) != c.want {
			t.Errorf("at %d: %d, want %d", c.start, got, c.want)
		}
	}
	for range n - 4 {
		if p.take(0) < 0 {
			t.Fatal("none is left")
		}
	}
	if p.take(0) != -1 {
		t.Error("more than there were")
	}
}
