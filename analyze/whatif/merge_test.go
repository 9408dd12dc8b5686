package whatif

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace/graph"
)

// madeRun is a trace in the making. Times are in us.
type madeRun struct {
	text strings.Builder
	corr int
}

func (m *madeRun) add(thread string, at, dur float64, rest string, args ...any) {
	fmt.Fprintf(&m.text, "%s %.3fus +%.3fus %s\n", thread, at, dur, fmt.Sprintf(rest, args...))
}

// call is a launch by a thread and what it launches, which starts at an instant.
func (m *madeRun) call(thread string, at float64, on int, start, dur float64, name, rest string) {
	m.corr++
	m.add(thread, at, 3, "cuda_runtime cudaLaunchKernel corr=%d", m.corr)
	m.add(fmt.Sprintf("0/%d", on), start, dur, "kernel %q corr=%d stream=%d %s", name, m.corr, on, rest)
}

const (
	allReduceKernel     = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
	reduceScatterKernel = "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
)

// reduce is a collective as ProcessGroupNCCL launches it.
func (m *madeRun) reduce(thread string, at float64, on int, start, dur float64, kernel, group string, elems int) {
	message := fmt.Sprintf("coll=allreduce in=%d out=%d dtype=Float group=%s gsize=2", elems, elems, group)
	m.add(thread, at, 8, "cpu_op record_param_comms %s", message)
	m.add(thread, at+1, 1, "cuda_runtime cudaEventRecordWithFlags")
	m.call(thread, at+3, on, start, dur, kernel, message)
}

// bucketRun is steps of a kernel, an all-reduce of 4 MB in 60 us and some of 1 MB in 30 us, which an update waits for,
// which the host waits for. What follows the first of the small ones is launched at once, unless waits is set:
// then a kernel that needs it comes between it and the next.
func bucketRun(steps, small int, waits bool) string {
	var m madeRun
	t := 0.0
	for range steps {
		m.call("1/1", t, 7, t+10, 1000, "gemm", "")
		end := t + 1010
		m.reduce("1/1", t+20, 20, end+8, 60, allReduceKernel, "0", 1_000_000)
		end += 68
		for i := range small {
			m.reduce("1/1", t+40+20*float64(i), 20, end+2, 30, allReduceKernel, "0", 250_000)
			if end += 32; waits && i == 0 {
				m.add("1/1", t+52, 1, "cuda_runtime cudaStreamWaitEvent")
				m.call("1/1", t+54, 7, end+6, 1, "uses_it", "")
			}
		}
		m.add("1/1", t+200, 1, "cuda_runtime cudaStreamWaitEvent")
		m.add("1/1", t+210, 10, "user_annotation Optimizer.step#SGD.step")
		m.call("1/1", t+212, 7, end+8, 100, "adam", "")
		end += 108
		m.corr++
		m.add("1/1", t+230, end+5-t-230, "cuda_runtime cudaDeviceSynchronize corr=%d", m.corr)
		t = end + 20
	}
	return m.text.String()
}

// alone is the graph of one rank by itself.
func alone(t *testing.T, events string) *World {
	t.Helper()
	w := Together([]*Rank{rankOfText(t, events)}, nil)
	f, err := w.Fit()
	if err != nil || f.Worst != 0 || f.Replayed != f.Span {
		t.Fatalf("the replay is not what was recorded: %+v, %v", f, err)
	}
	return w
}

// With 30 us for 1 MB and 60 us for 4 MB alpha is 20 us and beta 10 us per MB, so that four of 1 MB in one take 60 us
// where they took 4 * 30 and 3 gaps of 2.
func TestBucketKnownTruth(t *testing.T) {
	w := alone(t, bucketRun(4, 4, false))
	for edit, want := range map[string]int64{
		"bucket=4MB":                 66_000,
		"bucket=3MB":                 (3*30 + 2*2 - 50) * 1000, // the fourth is left over
		"bucket=2000kB":              2 * (2*30 + 2 - 40) * 1000,
		"bucket=4MB,faster=gemm:2":   566_000,
		"faster=gemm:2,bucket=4MB":   566_000,
		"bucket=4MB,free-collective": (60 + 4*32 - 2) * 1000, // one gap stays
		"bucket=4MB,faster=nccl:2":   66_000 + 60_000,
		"bucket=4MB,cuda-graph":      66_000 + 15_000, // 20 us of the host before each step but the first
		"bucket=4MB,faster=adam:10":  66_000 + 90_000,
	} {
		p := predict(t, w, edit)
		if off := p.Gain.Mean - want; max(off, -off) > 50 {
			t.Errorf("%s gains %d, want %d", edit, p.Gain.Mean, want)
		}
		if p.Gain.Low > p.Gain.Mean || p.Gain.High < p.Gain.Mean {
			t.Errorf("%s: %+v", edit, p.Gain)
		}
	}
	const want = "alpha 20.0 us, beta 10.00 us per MB (100.0 GB/s), from 20 of 2 sizes, 1.0 MB to 4.0 MB"
	uses, _ := Parse([]string{"bucket=4MB"})
	r, _, err := w.Report([][]Use{uses})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{want, "16 collectives become 4"} {
		if got := r.Edits[0].Fitted; !strings.Contains(got, want) {
			t.Errorf("fitted %q, want %q", got, want)
		}
	}
}

// What cannot be merged says why.
func TestBucketRefused(t *testing.T) {
	for _, c := range []struct{ edit, events, want string }{
		{"bucket=4MB", launched, "no all-reduce"},
		{"bucket=500kB", bucketRun(4, 4, false), "no all-reduce or reduce-scatter is below 500.0 kB"},
		{"bucket", strings.ReplaceAll(bucketRun(4, 4, false), "1000000", "250000"), "all of them have 1.0 MB"},
		{"bucket=4MB", strings.ReplaceAll(bucketRun(4, 4, false), "dtype=Float", ""), "sizes"},
		{"bucket=4MB", bucketRun(4, 1, false), "no two"},
		{"bucket=4MB", bucketRun(4, 2, true), "no two"},
		{"bucket=4MB", strings.ReplaceAll(bucketRun(4, 4, false), "+60.000us", "+30.000us"), "larger ones take no"},
	} {
		w := Together([]*Rank{rankOfText(t, c.events)}, nil)
		uses, err := Parse([]string{c.edit})
		if err != nil {
			t.Fatal(err)
		}
		p, err := w.Predict(uses)
		if err != nil || !strings.Contains(p.Reason, c.want) || p.Gain != (Range{}) || p.Times != nil {
			t.Errorf("%s: %q, %v, want %q", c.edit, p.Reason, err, c.want)
		}
	}
}

// A line is fitted by relative errors, and not where it would mean nothing.
func TestFitCost(t *testing.T) {
	line, why := fitCost([]point{{4e6, 60_000}, {1e6, 30_000}, {1e6, 29_000}, {1e6, 90_000}, {8e6, 100_000}})
	if why != "" || line.sizes != 3 || line.count != 5 || line.off > 1e-9 ||
		int64(line.alpha+0.5) != 20_000 || int64(1e6*line.beta+0.5) != 10_000 {
		t.Errorf("%+v, %s", line, why)
	}
	if got := line.merged(4e6, 30_000, 120_000, asFitted); got != 60_000 {
		t.Errorf("merged %d", got)
	}
	if got := line.merged(4e6, 30_000, 50_000, asFitted); got != 50_000 {
		t.Errorf("more than one after the other: %d", got)
	}
	line.off = 0.5
	less, more := line.merged(4e6, 40_000, 1e9, cheaper), line.merged(4e6, 40_000, 1e9, dearer)
	if less != 40_000 || more != 90_000 {
		t.Errorf("range %d to %d", less, more)
	}
	for want, list := range map[string][]point{
		"none has a known size":  {{0, 5}, {-1, 7}},
		"all of them have 5 B":   {{5, 5}, {5, 7}},
		"larger ones take no":    {{5, 5}, {50, 5}},
		"grows with the bytes a": {{10, 10}, {100, 200}},
	} {
		if _, why := fitCost(list); !strings.Contains(why, want) {
			t.Errorf("%v: %q, want %q", list, why, want)
		}
	}
}

// On several ranks the same collectives are merged on each, and waiting for the late one stays.
func TestBucketOfRanks(t *testing.T) {
	var list []string
	for rank := range 2 {
		head := fmt.Sprintf("distributed backend=nccl rank=%d world_size=2\n", rank)
		list = append(list, head+bucketRun(4, 4, false))
	}
	w, _ := worldOfTexts(t, list)
	if w.Joined != 20 {
		t.Fatalf("%d joined", w.Joined)
	}
	if p := predict(t, w, "bucket=4MB"); p.Gain.Mean != 66_000 {
		t.Errorf("gains %d", p.Gain.Mean)
	}
	uses, _ := Parse([]string{"bucket=4MB,free-collective"})
	c := w.change(AsRecorded)
	for _, i := range inTurn(uses) {
		uses[i].Edit.apply(c, uses[i].Arg)
	}
	for n, group := range c.G.Group {
		if c.gone[graph.Node(n)] != (group == graph.None && c.Graph.Group[n] != graph.None) {
			t.Errorf("node %d: gone %v, group %d", n, c.gone[graph.Node(n)], group)
		}
	}
}

// A peer that comes late to the first collective is waited for in the bucket as well; one that comes late to the
// last is not met sooner.
func TestBucketWaitsForPeers(t *testing.T) {
	late := func(i int, by float64) string {
		var m madeRun
		at := 0.0
		for step := range 4 {
			m.call("1/1", at, 7, at+10, 100, "gemm", "")
			end := at + 118
			m.reduce("1/1", at+20, 20, end, 60, allReduceKernel, "0", 1_000_000)
			end += 60
			for k := range 4 {
				dur := 30.0
				if k == i && step > 0 {
					dur += by
				}
				m.reduce("1/1", at+40+20*float64(k), 20, end, dur, allReduceKernel, "0", 250_000)
				end += dur
			}
			m.add("1/1", at+200, 10, "user_annotation Optimizer.step#SGD.step")
			m.corr++
			m.add("1/1", at+220, end+5-at-220, "cuda_runtime cudaDeviceSynchronize corr=%d", m.corr)
			at = end + 20
		}
		return m.text.String()
	}
	for i, by := range []float64{200, 300, 400, 500} {
		w := alone(t, late(i, by))
		if p := predict(t, w, "bucket=4MB"); p.Gain.Mean != 60_000 {
			t.Errorf("a peer %.0f us late to number %d: gains %d", by, i, p.Gain.Mean)
		}
	}
}

// What waited for any part of a bucket waits for all of it.
func TestBucketIsWaitedFor(t *testing.T) {
	w := alone(t, bucketRun(4, 4, false))
	c := w.change(AsRecorded)
	r := w.Ranks[0]
	for i, n := range r.Kernel { // the update of each step waits for the second of the small ones, too
		if i%5 == 2 && i+3 < len(r.Kernel) {
			c.G.Connect(n, r.Kernel[i+3], graph.Event, 0)
		}
	}
	bucket.apply(c, "4MB")
	for e, from := range c.G.From {
		if from != graph.None && c.gone[from] && c.G.Kind[e] != graph.Order && !c.G.Kind[e].FromStart() {
			t.Errorf("node %d still waits for %d, which is in a bucket", c.G.To[e], from)
		}
	}
	if len(c.gone) != 4*3 {
		t.Errorf("%d are gone", len(c.gone))
	}
}

// What is waited for several times is needed by the first of those that wait.
func TestFirstUse(t *testing.T) {
	c := alone(t, bucketRun(3, 4, false)).change(AsRecorded)
	used := firstUse(c, func(n graph.Node) bool { return c.Ranks[0].Collective[n] >= 0 })
	several := 0
	for n, at := range used {
		var asked []int64
		for e, from := range c.G.From {
			if from == n && c.G.Kind[e] != graph.Order && !c.G.Kind[e].FromStart() {
				asked = append(asked, askedFor(c, c.G.To[e]))
			}
		}
		if at != slices.Min(asked) {
			t.Errorf("node %d is needed at %d, of %v", n, at, asked)
		}
		several += oneIf(slices.Max(asked) > slices.Min(asked))
	}
	if len(used) == 0 || several == 0 {
		t.Errorf("%d are waited for, %d of them several times", len(used), several)
	}
}
