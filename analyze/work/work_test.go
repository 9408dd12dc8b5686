package work_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/idle"
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/analyze/work"
	"github.com/gaprof/gaprof/trace/text"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// find is what the first rank of a trace does, and what its idle time is charged to without
// any cut.
func find(x *timeline.Rank) (work.Work, [][]idle.Window, *steps.Steps) {
	s := steps.Find(x)
	var list []work.Collective
	for dev, d := range x.Devices {
		for i, kind := range d.Kind {
			if kind != timeline.NotCommunication {
				list = append(list, work.Collective{Device: dev, Start: x.Col.Start[d.Rows[i]], End: x.End(d.Rows[i])})
			}
		}
	}
	_, w := work.Find(x, s, list)
	return w, idle.Find(x, s), s
}

// A collective beside which nothing computes is a cut, one that compute hides is none.
// Kernels of one name and another shape are another kernel.
func TestStretches(t *testing.T) {
	traces, err := text.Read(strings.NewReader(`
100/1 0us +5us cpu_op aten::mm dims=[[8,4],[4,2]] type=["float","float"]
100/1 1us +2us cuda_runtime launch corr=1
0/7 10us +90us kernel gemm corr=1 grid=[2,3,1]
100/1 6us +5us cpu_op aten::mm dims=[[8,4],[4,2]] type=["float","float"]
100/1 7us +2us cuda_runtime launch corr=2
0/7 100us +80us kernel gemm corr=2 grid=[2,3,1]
100/1 12us +2us cuda_runtime launch corr=3
0/20 100us +40us kernel ncclDevKernel_AllReduce corr=3
100/1 15us +2us cuda_runtime launch corr=4
0/20 180us +40us kernel ncclDevKernel_AllReduce corr=4
100/1 20us +200us python_function "<built-in function collect>"
100/1 230us +9us user_annotation Optimizer.step#A.step
100/1 231us +2us cuda_runtime launch corr=5
0/7 240us +30us kernel gemm corr=5 grid=[4,3,1]
`), "work.txt")
	if err != nil {
		t.Fatal(err)
	}
	w, _, _ := find(timeline.New(traces).Ranks[0])
	got := ""
	for _, s := range w.Devices[0].Stretches {
		got += fmt.Sprintf("%d to %d us idle %d us:", s.Collective, s.End/1000, s.Idle.Sum()/1000)
		for _, a := range s.Kernels {
			k := &w.Kernels[a.Kernel]
			got += fmt.Sprintf(" %s %s size %d, %d in %d us;", k.Name, k.Shape, k.Size, a.Count, a.NS/1000)
		}
		got += "\n"
	}
	const want = `1 to 220 us idle 0 us: gemm inputs [[8,4],[4,2]], grid [2,3,1] size 32, 2 in 170 us;
-1 to 270 us idle 20 us: gemm grid [4,3,1] size 12, 1 in 30 us;
`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if w.Garbage.Duration != 200_000 {
		t.Errorf("garbage %+v", w.Garbage)
	}
}

// Of real recordings no idle time and no kernel is lost between cuts.
func TestNothingIsLost(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/traces/gpu/*.json.gz")
	if len(files) == 0 {
		t.Skip("SKIP: real traces are not here")
	}
	for _, file := range files {
		traces, err := tracefile.Read(file, tracefile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		x := timeline.New(traces[0]).Ranks[0]
		w, windows, _ := find(x)
		var parts, whole idle.Charges
		for _, step := range windows {
			for i := range step {
				sum(&whole, &step[i].Charges)
			}
		}
		launches, in := 0, 0
		for dev := range w.Devices {
			of := &w.Devices[dev]
			for i := range of.Stretches {
				sum(&parts, &of.Stretches[i].Idle.Charges)
				for _, a := range of.Stretches[i].Kernels {
					launches += int(a.Count)
				}
			}
			for i, row := range x.Devices[dev].Rows {
				start := x.Col.Start[row]
				if x.Devices[dev].Bucket[i] == timeline.ComputeBucket && start >= of.Start && start < of.End {
					in++
				}
			}
		}
		if parts != whole || launches != in || in == 0 {
			t.Errorf("%s: idle %+v of %+v, %d launches of %d", filepath.Base(file), parts, whole, launches, in)
		}
	}
}

func sum(to, of *idle.Charges) {
	for c, ns := range of.Causes {
		to.Causes[c] += ns
	}
	to.LaunchGaps, to.LaunchBound = to.LaunchGaps+of.LaunchGaps, to.LaunchBound+of.LaunchBound
	to.HostStall += of.HostStall
}
