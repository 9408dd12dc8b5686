package timeline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/text"
)

// index indexes a trace in text form.
func index(t *testing.T, source string) *Index {
	t.Helper()
	tr, err := text.Read(strings.NewReader(source), "test")
	if err != nil {
		t.Fatal(err)
	}
	x := New(tr)
	checkInvariants(t, x)
	return x
}

// only is the rank of a trace in text form that holds one.
func only(t *testing.T, source string) *Rank {
	t.Helper()
	x := index(t, source)
	if len(x.Ranks) != 1 {
		t.Fatalf("%d ranks, want 1", len(x.Ranks))
	}
	return x.Ranks[0]
}

// checkInvariants checks what is true of every index: a device event belongs to one rank
// at the most, the slices of a device are parallel and in order, its sets add up.
func checkInvariants(t *testing.T, x *Index) {
	t.Helper()
	owned := make(map[int32]bool)
	for i, r := range x.Ranks {
		events, unlinked := 0, 0
		for _, d := range r.Devices {
			checkDevice(t, r, d)
			for k, row := range d.Rows {
				if owned[row] {
					t.Errorf("rank %d: row %d belongs to two devices", i, row)
				}
				owned[row] = true
				unlinked += oneIf(d.Launch[k] < 0)
			}
			events += len(d.Rows)
		}
		if l := r.Links; l.Events != events || l.Unlinked != unlinked || l.UnlinkedAtStart > l.Unlinked {
			t.Errorf("rank %d: %+v, want %d events, %d of them unlinked", i, l, events, unlinked)
		}
		if r.Only != (len(x.Ranks) == 1) {
			t.Errorf("rank %d of %d: Only is %t", i, len(x.Ranks), r.Only)
		}
	}
}

func checkDevice(t *testing.T, r *Rank, d *Device) {
	t.Helper()
	n := len(d.Rows)
	if len(d.Launch) != n || len(d.Kind) != n || len(d.Bucket) != n {
		t.Fatalf("%d rows, %d launches, %d kinds, %d buckets", n, len(d.Launch), len(d.Kind), len(d.Bucket))
	}
	for i := 1; i < n; i++ {
		if r.Col.Start[d.Rows[i]] < r.Col.Start[d.Rows[i-1]] {
			t.Errorf("row %d stands behind one that starts later", d.Rows[i])
		}
	}
	start, end := int64(-1000), int64(1)<<40
	l := d.Busy.Ledger(start, end)
	if l.Sum() != end-start {
		t.Errorf("device %s: the ledger sums to %d of %d", d.PID, l.Sum(), end-start)
	}
	for b := range d.Busy.Each {
		if each, alone := d.Busy.Each[b], d.Busy.Alone[b]; alone.Len() > each.Len() || alone.Len() != l[b] {
			t.Errorf("%v: %d ns alone of %d, %d in the ledger", Bucket(b), alone.Len(), each.Len(), l[b])
		}
	}
}

// layout describes who has which events of which devices, by their names: "10: 0 a,b; 20: 1 c".
func layout(x *Index) string {
	var ranks []string
	for _, r := range x.Ranks {
		text := r.Process + ":"
		for _, d := range r.Devices {
			var names []string
			for _, row := range d.Rows {
				names = append(names, r.Name(row))
			}
			text += " " + d.PID + " " + strings.Join(names, ",")
		}
		ranks = append(ranks, text)
	}
	return strings.Join(ranks, "; ")
}

// twoProcesses is the host's side of a file merged from two ranks, whose correlation ids
// clash and whose External ids do not.
const twoProcesses = `
10/10 1 +2 cuda_runtime cudaLaunchKernel corr=1 ext=1
10/10 4 +2 cuda_runtime cudaLaunchKernel corr=2 ext=3
20/20 1 +2 cuda_runtime cudaLaunchKernel corr=1 ext=2
20/20 4 +2 cuda_runtime cudaLaunchKernel corr=2 ext=4
`

// TestPartition: whose is which device, in files of one rank and of several.
func TestPartition(t *testing.T) {
	var ten strings.Builder // eleven launches of process 10 and one of process 20 on one device
	for i := range 11 {
		fmt.Fprintf(&ten, "10/10 %d +1 cuda_runtime cudaLaunchKernel corr=%d ext=%d\n", i, i+1, i+1)
		fmt.Fprintf(&ten, "0/7 %d +1 kernel a corr=%d ext=%d\n", 100+i, i+1, i+1)
	}
	ten.WriteString("20/20 0 +1 cuda_runtime cudaLaunchKernel corr=1 ext=90\n0/7 200 +1 kernel b corr=1 ext=90\n")
	for _, test := range []struct {
		name, source string
		want         string // see layout
		problem      trace.Code
		count        int64 // of the problem
	}{
		{"nothing", "", "", "", 0},
		{"a device alone", "0/7 30 +5 kernel a\n1/7 30 +5 kernel b", ": 0 a 1 b", "", 0},
		{"a host alone", "1/1 0 +5 cpu_op aten::mm", "1:", "", 0},
		{"one process has every device, whatever the ids say", `
10/10 1 +2 cuda_runtime cudaLaunchKernel corr=1
0/7 30 +5 kernel a corr=1
1/7 30 +5 kernel b corr=99`, "10: 0 a 1 b", "", 0},
		{"a process that only loads data is no rank", `
10/10 1 +2 cuda_runtime cudaLaunchKernel corr=1
30/30 1 +2 cpu_op aten::stack
0/7 30 +5 kernel a corr=1`, "10: 0 a", "", 0},
		{"where no process launches or trains all are ranks", `
10/10 1 +2 cpu_op aten::mm
30/30 1 +2 cpu_op aten::mm`, "10:; 30:", "", 0},
		{"clashing ids: the External id decides", twoProcesses + `
1/7 30 +5 kernel a corr=1 ext=1
0/7 30 +5 kernel b corr=1 ext=2`, "10: 1 a; 20: 0 b", "", 0},
		{"without External ids a launch that only one process has decides", `
10/10 1 +2 cuda_runtime cudaLaunchKernel corr=1
20/20 1 +2 cuda_runtime cudaLaunchKernel corr=2
1/7 30 +5 kernel a corr=1
0/7 30 +5 kernel b corr=2`, "10: 1 a; 20: 0 b", "", 0},
		{"a launch after the event cannot be its launch", `
10/10 1 +2 cuda_runtime cudaLaunchKernel corr=1
20/20 40 +2 cuda_runtime cudaLaunchKernel corr=1
20/20 1 +2 cuda_runtime cudaLaunchKernel corr=2
1/7 30 +5 kernel a corr=1
0/7 50 +5 kernel b corr=2`, "10: 1 a; 20: 0 b", "", 0},
		{"a device shared by name is split event by event", twoProcesses + `
0/7 30 +5 kernel a corr=1 ext=1
0/7 40 +9 kernel b corr=2 ext=4
0/7 50 +9 kernel c corr=77`, "10: 0 a; 20: 0 b", trace.SharedDevice, 1},
		{"ten times the votes are a majority", ten.String(), "10: 0 " + strings.Repeat("a,", 11) + "b; 20:", "", 0},
		{"a device without any launch goes to the first process without one", twoProcesses + `
0/7 30 +5 kernel a corr=1 ext=1
1/7 30 +5 kernel b
1/7 40 +5 kernel c`, "10: 0 a; 20: 1 b,c", trace.UnknownDeviceShare, 2},
		{"a device that is alone goes to the first process", `
10/10 1 +2 cuda_runtime cudaLaunchKernel corr=1
20/20 1 +2 cuda_runtime cudaLaunchKernel corr=2
0/7 30 +5 kernel a`, "10: 0 a; 20:", trace.UnknownDeviceShare, 1},
		{"at the time of its launch an event can be its", `
10/10 30 +2 cuda_runtime cudaLaunchKernel corr=1
20/20 31 +2 cuda_runtime cudaLaunchKernel corr=1
20/20 1 +2 cuda_runtime cudaLaunchKernel corr=2
1/7 30 +5 kernel a corr=1
0/7 50 +5 kernel b corr=2`, "10: 1 a; 20: 0 b", "", 0},
		{"where none is left, to the first", twoProcesses + `
0/7 30 +5 kernel a corr=1 ext=1
1/7 30 +5 kernel b corr=1 ext=2
2/7 30 +5 kernel c`, "10: 0 a 2 c; 20: 1 b", trace.UnknownDeviceShare, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			x := index(t, test.source)
			if got := layout(x); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			switch {
			case test.problem == "" && len(x.Problems) == 0:
			case len(x.Problems) != 1 || x.Problems[0].Code != test.problem || x.Problems[0].Count != test.count:
				t.Errorf("problems %+v, want %d of %q", x.Problems, test.count, test.problem)
			}
		})
	}
}

// TestDevicesInOrder: devices without any launch go to a process each.
func TestDevicesInOrder(t *testing.T) {
	x := index(t, `
10/10 1 +2 cuda_runtime cudaLaunchKernel corr=1
20/20 1 +2 cuda_runtime cudaLaunchKernel corr=2
0/7 30 +5 kernel a
1/7 30 +5 kernel b
2/7 30 +5 kernel c`)
	if got := layout(x); got != "10: 0 a 2 c; 20: 1 b" || len(x.Problems) != 3 || x.Problems[0].Offset != -1 {
		t.Errorf("%s, %+v", got, x.Problems)
	}
}

// TestEmptyBuilder: a trace without tracks and names.
func TestEmptyBuilder(t *testing.T) {
	x := New(trace.NewBuilder().Build())
	if len(x.Ranks) != 0 || len(x.Problems) != 0 || x.AnyName() != 0 {
		t.Errorf("%+v", x)
	}
}

// TestMergedLaunches: each rank of a merged file sees its own launches only, by ids that
// the other has, too.
func TestMergedLaunches(t *testing.T) {
	x := index(t, twoProcesses+`
0/7 30 +5 kernel a corr=1 ext=1
0/7 40 +5 kernel b corr=2 ext=3
1/7 30 +9 kernel c corr=1 ext=2`)
	for i, want := range []string{"a b", "c"} {
		r := x.Ranks[i]
		var got []string
		for _, id := range r.Host {
			track := x.Trace.Tracks()[id]
			for row := track.First; row < track.First+track.N; row++ {
				for _, l := range r.LaunchedBy(int32(row)) {
					got = append(got, r.Name(l.Event()))
				}
			}
		}
		if text := strings.Join(got, " "); text != want || r.Links.Unlinked != 0 || r.Links.Duplicates != 0 {
			t.Errorf("rank %d launches %q, want %q; %+v", i, text, want, r.Links)
		}
		for _, d := range r.Devices {
			for k, row := range d.Rows {
				if p := x.Trace.Tracks()[r.Col.Track[d.Launch[k]]].PID; p != r.Process {
					t.Errorf("rank %d: %s is launched by process %s", i, r.Name(row), p)
				}
			}
		}
	}
}

// TestSharedDeviceRow: both ranks call their device 0, so its rows are split by launch,
// and what no rank can claim is dropped and reported.
func TestSharedDeviceRow(t *testing.T) {
	x := index(t, `
10/10 1 +2 cuda_runtime cudaLaunchKernel corr=1 ext=1
20/20 1 +2 cuda_runtime cudaLaunchKernel corr=1 ext=2
0/7 30 +5 kernel a corr=1 ext=1
0/7 30 +9 kernel b corr=1 ext=2
0/7 10 +9 kernel c corr=77`)
	if len(x.Ranks) != 2 || x.Ranks[0].Links.Events != 1 || x.Ranks[1].Links.Events != 1 {
		t.Fatalf("%d ranks: %s", len(x.Ranks), layout(x))
	}
	if p := x.Problems[0]; len(x.Problems) != 1 || p.Code != trace.SharedDevice || p.Count != 1 {
		t.Errorf("problems %+v", x.Problems)
	}
}

// TestProcessNumberOfADevice: in a container the process is number 1, and so is the second
// device. Annotations that a writer puts on the device do not make it a process.
func TestProcessNumberOfADevice(t *testing.T) {
	r := only(t, `
0/7 5 +10 kernel gemm corr=1
1/7 15 +10 kernel gemm corr=2
1/8 15 +10 user_annotation ProfilerStep#0
1/100 0 +1 cuda_runtime cudaLaunchKernel corr=1
1/100 2 +1 cuda_runtime cudaLaunchKernel corr=2
1/100 4 +9 user_annotation Optimizer.step#Adam.step`)
	if r.Links.Events != 2 || r.Links.Unlinked != 0 {
		t.Errorf("%+v", r.Links)
	}
	if len(r.Devices) != 2 || len(r.Host) != 1 || len(r.Optimizers) != 1 {
		t.Errorf("%d devices, %d host threads, %d optimizer spans", len(r.Devices), len(r.Host), len(r.Optimizers))
	}
}

// TestOtherRowsOfADevice: derived rows of a device's process are not a host.
func TestOtherRowsOfADevice(t *testing.T) {
	r := only(t, `
1/1 100 +50 kernel fusion
1/3 100 +70 - "XLA op"
700/9 90 +5 - "PjitFunction(step)"`)
	if r.Links.Events != 1 || r.Process != "700" || len(r.Host) != 1 {
		t.Errorf("%d device events, process %q, %d host threads", r.Links.Events, r.Process, len(r.Host))
	}
}

// TestNodes: an accumulation that is recorded twice, by itself and by the span around it,
// counts once; where only the outer span is recorded, that counts.
func TestNodes(t *testing.T) {
	const outer = `1/1 %d +8 cpu_op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"` + "\n"
	const inner = "1/1 %d +4 " + accumulateGrad + "\n"
	const other = `1/1 %d +8 cpu_op "autograd::engine::evaluate_function: MulBackward0"` + "\n"
	for _, test := range []struct {
		name, source string
		nodes, want  int
	}{
		{"both", fmt.Sprintf(outer+inner+other, 10, 11, 30), 3, 1},
		{"the outer one", fmt.Sprintf(outer+other, 10, 30), 2, 1},
		{"the inner one", fmt.Sprintf(inner+other, 10, 30), 2, 1},
	} {
		r := only(t, test.source)
		n := 0
		for _, s := range r.Nodes {
			n += oneIf(r.Accumulates(s.Row))
		}
		if len(r.Nodes) != test.nodes || n != test.want {
			t.Errorf("%s: %d of %d nodes accumulate, want %d of %d",
				test.name, n, len(r.Nodes), test.want, test.nodes)
		}
	}
}

// TestOutermostOptimizers: an optimizer inside another one is a part of its step.
func TestOutermostOptimizers(t *testing.T) {
	r := only(t, `
1/1 10 +20 user_annotation Optimizer.step#Mine.step
1/1 11 +10 user_annotation Optimizer.step#AdamW.step
1/2 5 +2 user_annotation Optimizer.step#B.step`)
	var got []string
	for _, s := range r.Optimizers {
		got = append(got, OptimizerName(r.Name(s.Row)))
	}
	if text := strings.Join(got, " "); text != "B Mine" {
		t.Errorf("optimizers %s", text)
	}
}

// TestTooDeep: a stack is cut off, which is noted for the trace as a whole.
func TestTooDeep(t *testing.T) {
	for _, n := range []int{Deepest, Deepest + 1} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "1/1 %d +%d cpu_op outer\n", i, 3*n-2*i)
		}
		fmt.Fprintf(&b, "1/1 %d +1 cpu_op inner\n", n)
		r := only(t, b.String())
		seen := 0
		r.Stack(int32(n), func(int32) bool { seen++; return true })
		if seen != Deepest || r.TooDeep() != (n > Deepest) {
			t.Errorf("%d spans: %d looked at, too deep is %t", n, seen, r.TooDeep())
		}
	}
}
