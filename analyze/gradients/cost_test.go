package gradients

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// ofRows are operations of the rows of a name, in order of time.
func ofRows(x *timeline.Rank, name string) (list []operation) {
	for row := range int32(len(x.Col.Start)) {
		if x.Name(row) == name {
			list = append(list, operation{row: row, start: x.Col.Start[row], end: x.End(row)})
		}
	}
	return list
}

// products are two products of 10 and 20 ns on a device, one after the other, with 10 ns between.
const products = `
device 0 "H100"
1/1 10 +4 cpu_op aten::mul_
1/1 11 +1 cuda_runtime cudaLaunchKernel corr=1
1/1 20 +4 cpu_op aten::mul_
1/1 21 +1 cuda_runtime cudaLaunchKernel corr=2
0/7 100 +10 kernel mul corr=1 stream=7
0/7 120 +20 kernel mul corr=2 stream=7
`

// TestMeasure: what a pass costs: on the device if it launched work there, else on the host.
func TestMeasure(t *testing.T) {
	const other = "1/1 %d +1 cuda_runtime cudaLaunchKernel corr=%d\n0/%d %d +%d kernel gemm corr=%d stream=%d\n"
	waits := func() *timeline.Set {
		set := timeline.NewSet(0)
		set.Add(12, 16)
		set.Add(22, 30)
		return set
	}
	for _, test := range []struct {
		what, source string
		want         string
	}{
		{"alone", products, "busy 30 in 40, others 0, 2 kernels true, first mul at 100"},
		{"a kernel of others between", products + fmt.Sprintf(other, 30, 3, 7, 112, 5, 3, 7),
			"busy 30 in 40, others 5, 2 kernels true, first mul at 100"},
		{"beside and after", products + fmt.Sprintf(other, 30, 3, 8, 125, 30, 3, 8),
			"busy 30 in 40, others 0, 2 kernels true, first mul at 100"},
		{"before", products + fmt.Sprintf(other, 30, 3, 8, 50, 60, 3, 8),
			"busy 30 in 40, others 0, 2 kernels true, first mul at 100"},
		{"one kernel", "1/1 10 +4 cpu_op aten::mul_\n" + fmt.Sprintf(other, 11, 1, 7, 100, 10, 1, 7),
			"busy 10 in 10, others 0, 1 kernels true, first gemm at 100"},
		{"on the host", "1/1 10 +4 cpu_op aten::mul_\n1/1 20 +4 cpu_op aten::mul_\n",
			"busy 8 in 14, others 2, 0 kernels false, first aten::mul_ at 10"},
		{"a long one that holds the next", "1/1 10 +20 cpu_op aten::mul_\n1/2 20 +4 cpu_op aten::mul_\n",
			"busy 20 in 20, others 0, 0 kernels false, first aten::mul_ at 10"},
		{"kernels in another order", products + "1/1 5 +2 cpu_op aten::mul_\n" + fmt.Sprintf(other, 6, 3, 8, 150, 7, 3,
			8), "busy 37 in 57, others 0, 3 kernels true, first gemm at 150"},
	} {
		x := rankOf(t, test.source)
		var p Pass
		spans := measure(x, &p, ofRows(x, "aten::mul_"), waits)
		got := fmt.Sprintf("busy %d in %d, others %d, %d kernels %v, first %s at %d", p.Busy, p.Span, p.OtherIn,
			p.Kernels, p.OnDevice, p.First.Name, p.First.Start)
		if got != test.want || len(spans) != max(p.Kernels, len(ofRows(x, "aten::mul_"))) {
			t.Errorf("%s: %s of %d, want %s", test.what, got, len(spans), test.want)
		}
	}
}

// TestHidden: how much of a pass runs beside compute kernels that are of no pass; copies and
// messages hide nothing.
func TestHidden(t *testing.T) {
	x := rankOf(t, products+`
0/9 105 +10 kernel gemm
0/9 130 +30 kernel gemm
0/7 150 +5 kernel div
0/7 170 +5 kernel div
0/10 170 +5 gpu_memcpy "Memcpy DtoD"
0/11 170 +5 kernel ncclDevKernel_AllReduce_Sum_f32_RING_LL
`)
	k := make(kernelsOf)
	k.add(0, []timeline.Span{{Row: startingAt(t, x, "mul", 100)}, {Row: startingAt(t, x, "mul", 120)}})
	k.add(1, []timeline.Span{{Row: startingAt(t, x, "div", 150)}, {Row: startingAt(t, x, "div", 170)}})
	found := []Pass{{Busy: 30}, {Busy: 10}, {Busy: 5}}
	k.hide(x, found)
	if found[0].Hidden != 15 || found[1].Hidden != 5 || found[2].Hidden != 0 {
		t.Errorf("%d, %d and %d are hidden, want 15, 5 and 0", found[0].Hidden, found[1].Hidden, found[2].Hidden)
	}
	found = []Pass{{Busy: 12}, {Busy: 10}}
	if k.hide(x, found); found[0].Hidden != 12 {
		t.Errorf("of 12 ns %d are hidden", found[0].Hidden)
	}
}

// TestWaits: how long the device, or without one the host, waits from the first norm to the last
// collective that goes with them.
func TestWaits(t *testing.T) {
	host := []operation{{start: 10, end: 15}, {start: 30, end: 35}}
	x := rankOf(t, "1/1 60 +10 cpu_op record_param_comms\n1/1 40 +5 cpu_op record_param_comms\n")
	first, last := startingAt(t, x, "record_param_comms", 40), startingAt(t, x, "record_param_comms", 60)
	for _, test := range []struct {
		what  string
		norms []operation
		rows  []int32
		want  int64
	}{
		{"two collectives", host, []int32{first, last}, 50}, {"in another order", host, []int32{last, first}, 50},
		{"none", host, nil, 30}, {"no time between", []operation{{start: 10, end: 50}}, nil, 0},
		{"norms of two threads", []operation{{start: 10, end: 50}, {start: 10, end: 50}}, nil, 0},
	} {
		if got := waitBetween(x, &Pass{HostStart: 10, HostEnd: 50}, test.norms, test.rows); got != test.want {
			t.Errorf("%s: %d, want %d", test.what, got, test.want)
		}
	}
	const messages = `
1/1 30 +5 cpu_op record_param_comms
1/1 31 +1 cuda_runtime cudaLaunchKernel corr=5
0/9 145 +15 kernel ncclDevKernel_AllReduce_Sum_f32_RING_LL corr=5 stream=9
1/1 40 +5 cpu_op aten::norm
`
	x = rankOf(t, products+messages)
	p := Pass{OnDevice: true, Span: 40}
	p.First.Start = 100
	row := startingAt(t, x, "record_param_comms", 30)
	norms := ofRows(x, "aten::mul_")
	if got := waitBetween(x, &p, norms, nil); got != 10 {
		t.Errorf("the device waits for %d", got)
	}
	if got := waitBetween(x, &p, norms, []int32{row}); got != 15 {
		t.Errorf("with a message the device waits for %d", got)
	}
	if got := waitBetween(x, &p, norms[:1], nil); got != 10 {
		t.Errorf("of one norm %d", got)
	}
	if got := waitBetween(x, &p, ofRows(x, "aten::norm"), nil); got != 0 {
		t.Errorf("of norms that launch nothing: %d", got)
	}
	const second = `
device 1 "H100"
1/1 5 +1 cuda_runtime cudaLaunchKernel corr=8
1/7 100 +60 kernel gemm corr=8 stream=7
`
	x = rankOf(t, products+second)
	if got := waitBetween(x, &p, ofRows(x, "aten::mul_"), nil); got != 10 {
		t.Errorf("beside another device %d", got)
	}
}

// TestOfDevice: an event is of the device whose rows hold it.
func TestOfDevice(t *testing.T) {
	x := rankOf(t, `
0/7 10 +5 kernel a
0/8 10 +5 kernel b
0/9 10 +5 kernel c
0/7 30 +5 kernel d
`)
	row := func(name string, at int64) int32 { return startingAt(t, x, name, at) }
	a, b, c, d := row("a", 10), row("b", 10), row("c", 10), row("d", 30)
	for _, test := range []struct {
		rows []int32
		row  int32
		want bool
	}{
		{[]int32{a, b, c, d}, a, true}, {[]int32{a, b, c, d}, c, true}, {[]int32{a, b, c, d}, d, true},
		{[]int32{a, b, d}, c, false}, {[]int32{a, b, c}, d, false}, {[]int32{d}, a, false}, {nil, a, false},
		{[]int32{c}, c, true},
	} {
		if got := ofDevice(x, &timeline.Device{Rows: test.rows}, test.row); got != test.want {
			t.Errorf("%d of %v: %v", test.row, test.rows, got)
		}
	}
}

// TestReads: real numbers that the host reads after the first norm, before the norms are used.
func TestReads(t *testing.T) {
	x := rankOf(t, `
1/1 5 +1 cpu_op aten::item dims=[[]] type=["float"]
1/1 10 +1 cpu_op aten::norm
1/1 20 +1 cpu_op aten::item dims=[[]] type=["float"]
1/1 30 +1 cpu_op aten::item dims=[[]] type=["long int"]
1/1 40 +1 cpu_op aten::item dims=[[]] type=["bool"]
1/1 50 +1 cpu_op aten::item
1/1 55 +1 cpu_op aten::add dims=[[]] type=["float"]
1/1 60 +1 cpu_op aten::item dims=[[]] type=["double"]
1/1 70 +1 cpu_op aten::item dims=[[]] type=["float"]
1/2 25 +1 cpu_op aten::item dims=[[]] type=["float"]
`)
	norm := startingAt(t, x, "aten::norm", 10)
	for limit, want := range map[int64]string{70: "[20 50 60]", 71: "[20 50 60 70]", 20: "[]", 21: "[20]",
		1e9: "[20 50 " +
			"60 70]"} {
		if got := fmt.Sprint(readsAfter(x, norm, limit)); got != want {
			t.Errorf("before %d: %s, want %s", limit, got, want)
		}
	}
	if x = rankOf(t, "1/1 10 +1 cpu_op aten::norm\n"); readsAfter(x, 0, 100) != nil {
		t.Error("reads without any")
	}
}

// TestOwnWork: what an optimizer's span holds after a closure is its own from its first sum on.
func TestOwnWork(t *testing.T) {
	const span = "1/1 100 +100 user_annotation Optimizer.step#LBFGS.step\n"
	const closure = `
1/1 110 +2 cpu_op aten::linear
1/1 112 +2 cpu_op aten::add_
1/1 120 +20 cpu_op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
1/1 121 +5 cpu_op torch::autograd::AccumulateGrad dims=[[8]] type=["float"]
`
	for _, test := range []struct {
		what, source string
		want         int64
	}{
		{"no closure", span + "1/1 150 +2 cpu_op aten::add_\n", 100},
		{"products, then a sum", span + closure + "1/1 145 +2 cpu_op aten::mul_\n1/1 150 +2 cpu_op aten::add_\n" +
			"1/1 160 +2 cpu_op aten::add_\n", 150},
		{"no sum", span + closure + "1/1 145 +2 cpu_op aten::mul_\n", 140},
		{"a sum after the span", span + closure + "1/1 205 +2 cpu_op aten::add_\n", 140},
		{"a sum right after the closure", span + closure + "1/1 140 +2 cpu_op aten::add_\n", 140},
	} {
		x := rankOf(t, test.source)
		list := steps.Find(x).List
		if got := ownWork(x, &list[0]); got != test.want {
			t.Errorf("%s: from %d, want %d", test.what, got, test.want)
		}
	}
}

// TestRoundsOfNorms: all-reduces and reads for each of two norms on a device, up to where the norms
// are used.
func TestRoundsOfNorms(t *testing.T) {
	x := rankOf(t, `
device 0 "H100"
1/1 10 +3 cpu_op aten::norm
1/1 11 +1 cuda_runtime cudaLaunchKernel corr=1
0/7 100 +10 kernel norm corr=1 stream=7
1/1 15 +1 cpu_op record_param_comms
1/1 20 +1 cpu_op aten::item dims=[[]] type=["float"]
1/1 30 +3 cpu_op aten::norm
1/1 31 +1 cuda_runtime cudaLaunchKernel corr=2
0/7 130 +10 kernel norm corr=2 stream=7
1/1 35 +1 cpu_op record_param_comms
1/1 40 +1 cpu_op aten::item dims=[[]] type=["float"]
`)
	f := passFinder{x: x, collectives: []HostCollective{*at(5, 0, 0, 1), *at(10, 0, 0, 1), *at(15, 0, 0, 2), *at(35,
		0, 0, 1)},
		rows: []int32{0, startingAt(t, x, "record_param_comms", 15), 0, startingAt(t, x, "record_param_comms", 35)}}
	norms := ofRows(x, "aten::norm")
	for _, test := range []struct {
		what     string
		params   int
		limit    int64
		onDevice bool
		want     string
	}{
		{"both", 2, 100, true, "[1 3] 2 reads, waits 20"}, {"used before the second read", 2, 40, true,
			"[1 3] 0 reads, waits 20"},
		{"used right after it", 2, 41, true, "[1 3] 2 reads, waits 20"},
		{"used before the second sum", 2, 35, true, "[] 0 reads, waits 0"}, {"of one", 1, 100, true,
			"[] 0 reads, waits 0"},
		{"of many", 9, 100, true, "[] 0 reads, waits 0"}, {"on the host", 2, 100, false, "[1 3] 0 reads, waits 20"},
	} {
		p := Pass{Parameters: test.params, OnDevice: test.onDevice, HostStart: 10, HostEnd: 33, Span: 40}
		p.First.Start = 100
		r := f.rounds(&p, norms, test.limit)
		if got := fmt.Sprintf("%v %d reads, waits %d", r.Collectives, r.Reads, r.Wait); got != test.want {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
	if f.collectives = nil; f.rounds(&Pass{Parameters: 2, OnDevice: true, HostStart: 10, Span: 40}, norms,
		100).Reads != 2 {
		t.Error("reads alone")
	}
}

// TestHiddenDivision: what is divided before its reduce-scatter, on a stream of its own, costs less than
// it lasts; what clips does not run beside anything.
func TestHiddenDivision(t *testing.T) {
	loop := func(scatter bool) string {
		var b strings.Builder
		now, corr := 0, 0
		line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
		for range 2 {
			for range 5 {
				line("1/1 %d +1 cpu_op aten::linear", now)
				now += 2
			}
			line("1/1 %d +1 cpu_op \"autograd::engine::evaluate_function: NllLossBackward0\"", now)
			for _, n := range []int{2000, 64} {
				now += 4
				line("1/1 %d +3 cpu_op torch::autograd::AccumulateGrad dims=[[%d]] type=[\"float\"]", now, n)
			}
			for _, n := range []int{2000, 64} {
				now += 10
				corr++
				line("1/1 %d +4 cpu_op aten::mul_ dims=[[%d],[]] type=[\"float\",\"float\"]", now, n)
				line("1/1 %d +1 cuda_runtime cudaLaunchKernel corr=%d", now+1, corr)
				line("0/7 %d +10 kernel mul corr=%d stream=7", 1000*corr, corr)
				line("0/8 %d +6 kernel gemm stream=8", 1000*corr+2)
				if scatter {
					const asked = "1/1 %d +1 cpu_op record_param_comms coll=_reduce_scatter_base in=%d out=%d gsize=4"
					line(asked, now+5, n, n/4)
				}
			}
			now += 10
			line("1/1 %d +10 user_annotation Optimizer.step#A.step", now)
			line("1/1 %d +1 cpu_op aten::addcdiv_ dims=[[2000]]", now+1)
			line("1/1 %d +1 cpu_op aten::addcdiv_ dims=[[64]]", now+3)
			now += 20
		}
		return b.String()
	}
	for scatter, want := range map[bool]int64{true: 12, false: 0} {
		for _, p := range one(t, loop(scatter)).Passes {
			if p.Hidden != want || p.BeforeScatter != scatter || !p.OnDevice || p.Busy != 20 || p.Parameters != 2 {
				t.Errorf("scattered %v: %+v", scatter, p)
			}
		}
	}
}
