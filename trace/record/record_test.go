package record

import (
	"strings"
	"sync"
	"testing"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/text"
)

// tracks of the tests: a host thread and a stream of device 0.
var tracks = []Track{
	{PID: 100, TID: 100, Process: "p", Labels: "CPU"},
	{PID: 0, TID: 7, Labels: "GPU 0", Thread: "stream 7 "},
}

type bytes int64

func (b bytes) Write(w *ArgWriter) {
	w.Int("bytes", int64(b))
	w.Text("dtype", "Float")
	w.JSON("Input Dims", "[[2]]")
}

func launch(corr, at int64) Event {
	return Event{Cat: trace.CatCUDARuntime, Name: "cudaLaunchKernel", Start: at, End: at + 2, Corr: corr, External: 9}
}

func kernel(corr, start, end int64) Event {
	return Event{Track: 1, Cat: trace.CatKernel, Name: "k", Start: start, End: end, Corr: corr}
}

// show writes the events of a trace as text, without those that every trace has.
func show(t *testing.T, tr *trace.Trace) string {
	t.Helper()
	var b strings.Builder
	if err := text.Write(&b, tr); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "100/") || strings.HasPrefix(line, "0/") {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
	}
	return strings.Join(lines, "\n")
}

func TestTrace(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []Event
		want   string
	}{
		{"nothing", nil, ""},
		{"arguments", []Event{{Cat: trace.CatCPUOp, Name: "op", Start: 1005, End: 1006, External: 3, Args: bytes(8)}},
			"100/100 5 +1 cpu_op op ext=3 bytes=8 dtype=Float dims=[[2]]"},
		{
			"an instant",
			[]Event{{Cat: trace.CatCPUInstant, Phase: trace.Instant, Name: "[memory]", Start: 1001, End: 1001}},
			"100/100 1 i cpu_instant_event [memory]",
		},
		{
			"launch, flow and kernel, told in any order",
			[]Event{kernel(4, 1010, 1020), launch(4, 1001)},
			"0/7 10 +10 kernel k corr=4\n0/7 10 f ac2g ac2g corr=4\n" +
				"100/100 1 +2 cuda_runtime cudaLaunchKernel corr=4 ext=9\n100/100 1 s ac2g ac2g corr=4",
		},
		{"a kernel without its launch", []Event{kernel(4, 1010, 1020)}, ""},
		{
			"neighbours that touch",
			[]Event{launch(1, 1000), launch(2, 1002), kernel(1, 1010, 1020), kernel(2, 1020, 1021)},
			"0/7 10 +9 kernel k corr=1\n0/7 10 f ac2g ac2g corr=1\n" +
				"0/7 20 +1 kernel k corr=2\n0/7 20 f ac2g ac2g corr=2\n" +
				"100/100 0 +1 cuda_runtime cudaLaunchKernel corr=1 ext=9\n100/100 0 s ac2g ac2g corr=1\n" +
				"100/100 2 +2 cuda_runtime cudaLaunchKernel corr=2 ext=9\n100/100 2 s ac2g ac2g corr=2",
		},
		{
			"inner and outer may end together, and touch the next together",
			[]Event{
				{Cat: trace.CatCPUOp, Name: "in", Start: 1005, End: 1010},
				{Cat: trace.CatCPUOp, Name: "out", Start: 1000, End: 1010},
				{Cat: trace.CatCPUOp, Name: "next", Start: 1010, End: 1011},
			},
			"100/100 0 +9 cpu_op out\n100/100 5 +4 cpu_op in\n100/100 10 +1 cpu_op next",
		},
		{
			"what has no length keeps none",
			[]Event{
				{Cat: trace.CatCPUOp, Name: "a", Start: 1001, End: 1001},
				{Cat: trace.CatCPUOp, Name: "b", Start: 1001, End: 1001},
			},
			"100/100 1 +0 cpu_op a\n100/100 1 +0 cpu_op b",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := New(tracks)
			for _, e := range c.events {
				l.Add(e)
			}
			tr := l.Trace(trace.Meta{BaseTime: 1000})
			if got := show(t, tr); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if len(tr.Problems()) > 0 {
				t.Errorf("problems %v", tr.Problems())
			}
			if again := show(t, l.Trace(trace.Meta{BaseTime: 1000})); again != c.want {
				t.Errorf("the second time\n%s", again)
			}
		})
	}
}

// Steps that are let go of take what they launched along, even if it ran later.
func TestStep(t *testing.T) {
	for _, c := range []struct {
		keep int
		want string
	}{{-1, "1 2 3"}, {0, "3"}, {1, "2 3"}, {5, "1 2 3"}} {
		l := New(tracks)
		for corr := int64(1); corr <= 3; corr++ {
			if corr > 1 {
				l.Step(c.keep)
				l.Add(kernel(corr-1, corr*100, corr*100+10))
			}
			l.Add(launch(corr, corr*100+20))
		}
		l.Add(kernel(3, 400, 410))
		var got []string
		tr := l.Trace(trace.Meta{})
		for i := range tr.Len() {
			if e := tr.Event(i); e.Cat() == trace.CatKernel {
				got = append(got, string(rune('0'+e.Corr())))
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("keep %d: kernels %s, want %s", c.keep, text, c.want)
		}
	}
}

func TestOff(t *testing.T) {
	var l *Log
	l.Add(launch(1, 1))
	l.Step(3)
	if l.Len() != 0 || l.Trace(trace.Meta{}).Len() != 0 {
		t.Error("a nil Log records")
	}
}

func TestConcurrent(t *testing.T) {
	l := New(tracks)
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 3000 {
				l.Add(launch(int64(g*3000+i+1), int64(i)))
			}
		})
	}
	all.Wait()
	if l.Len() != 12000 {
		t.Errorf("%d events", l.Len())
	}
}

func BenchmarkAdd(b *testing.B) {
	l, n := New(tracks), 0
	e := kernel(1, 1, 2)
	for b.Loop() {
		if n++; n%(1<<16) == 0 {
			l = New(tracks)
		}
		l.Add(e)
	}
}
