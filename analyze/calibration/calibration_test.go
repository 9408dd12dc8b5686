package calibration_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/calibration"
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/ranks"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/text"
)

// measure is what traces in the syntax of trace/text show, one of each rank.
func measure(t *testing.T, list ...string) *calibration.Measured {
	t.Helper()
	var traces []*trace.Trace
	for i, events := range list {
		head := fmt.Sprintf("recording format=kineto\ndistributed rank=%d world_size=2\n", i)
		tr, err := text.Read(strings.NewReader(head+events), "")
		if err != nil {
			t.Fatal(err)
		}
		traces = append(traces, tr)
	}
	return together(traces)
}

// together is what traces show, one of each rank.
func together(traces []*trace.Trace) *calibration.Measured {
	var samples []*calibration.Samples
	var sources []ranks.Source
	for _, one := range traces {
		x := timeline.New(one)
		of := facts.Compute(x)[0]
		samples = append(samples, calibration.Of(x.Ranks[0]))
		sources = append(sources, ranks.Source{Rank: of, ID: of.ID})
	}
	return calibration.Together(samples, ranks.Match(sources, ranks.Options{}))
}

// timesOf are the known times as text, and why others are not known.
func timesOf(m *calibration.Measured) map[string]string {
	of := make(map[string]string)
	for _, x := range m.Times {
		of[x.Name] = fmt.Sprintf("%d of %d", x.NS, x.Samples)
		if x.Why != "" {
			of[x.Name] = x.Why
		}
	}
	return of
}

// six operators in a row: each 16 us after the one before, its launch 3 us into it and 6 us long. Kernels begin later,
// and follow each other after 1.5 us.
func six() string {
	var b strings.Builder
	at := 100.0
	for i := range 6 {
		begin := float64(16 * i)
		fmt.Fprintf(&b, "1/1 %gus +13us cpu_op aten::mul_ dims=[[8192,8192],[]] type=[\"float\",\"double\"]\n", begin)
		fmt.Fprintf(&b, "1/1 %gus +6us cuda_runtime cudaLaunchKernel corr=%d\n", begin+3, i+1)
		fmt.Fprintf(&b, "0/7 %gus +90us kernel vectorized_elementwise_kernel corr=%d stream=7\n", at, i+1)
		at += 91.5
	}
	return b.String()
}

// What a host and a stream do is measured where it says something, and only there.
func TestTimes(t *testing.T) {
	got := timesOf(measure(t, six()))
	for name, want := range map[string]string{
		"eager":  "16000 of 5",
		"launch": "6000 of 6",
		"gap":    "1500 of 5",
		"start":  "no kernels that find the device idle",
		"memcpy": "no calls of it",
		"event":  "no collectives that wait for compute alone",
		"kernel": "no kernels of operators that move next to nothing",
	} {
		if got[name] != want {
			t.Errorf("%s: %s, want %s", name, got[name], want)
		}
	}
	// A call that waits for room says nothing of calls, nor of operators.
	blocked := strings.ReplaceAll(six(), "1/1 51us +6us", "1/1 51us +60us")
	got = timesOf(measure(t, blocked))
	if got["launch"] != "6000 of 5" || !strings.HasPrefix(got["eager"], "no operators") {
		t.Errorf("%v", got)
	}
	// Kernels that start later than all that is known explains wait for something else.
	apart := strings.ReplaceAll(six(), "+90us", "+40us")
	if got := timesOf(measure(t, apart)); !strings.HasPrefix(got["gap"], "no kernels") {
		t.Errorf("%v", got["gap"])
	}
	var idle strings.Builder // each kernel is launched when the one before has ended: it starts 9 us later
	for i := range 7 {
		fmt.Fprintf(&idle, "1/1 %dus +6us cuda_runtime cudaLaunchKernel corr=%d\n", 200*i, i+1)
		fmt.Fprintf(&idle, "0/7 %dus +90us kernel k corr=%d stream=7\n", 200*i+9, i+1)
	}
	if got := timesOf(measure(t, idle.String())); got["start"] != "9000 of 6" {
		t.Errorf("start: %s", got["start"])
	}
}

// one is an operator with the kernels that it launches, each so long.
func one(op string, kernel string, us ...int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "1/1 0us +90us cpu_op %s\n", op)
	for i, took := range us {
		fmt.Fprintf(&b, "1/1 %dus +5us cuda_runtime cudaLaunchKernel corr=%d\n", 10*i+5, i+1)
		fmt.Fprintf(&b, "0/7 %dus +%dus kernel %q corr=%d stream=7\n", 1000*i+100, took, kernel, i+1)
	}
	return b.String()
}

// copyOf is a copy of so many bytes.
func copyOf(what string, bytes int) string {
	return fmt.Sprintf("0/7 0us +40us gpu_memcpy %q stream=7 bytes=%d\n", "Memcpy "+what, bytes)
}

// Work follows from shapes, if they are there and say what the kernel does.
func TestWork(t *testing.T) {
	const bf, f = `"c10::BFloat16"`, `"float"`
	for _, c := range []struct{ events, want string }{
		{one(`aten::mm dims=[[64,32],[32,16]] type=[`+bf+`,`+bf+`]`, "gemm", 40), "64x32x16 c10::BFloat16 40000"},
		{one(`aten::mm dims=[[64,32],[32,16]] type=[`+bf+`,`+bf+`]`, "gemm", 40, 7), "64x32x16 c10::BFloat16 47000"},
		{one(`aten::addmm dims=[[16],[64,32],[32,16],[],[]] type=[`+f+`,`+f+`,`+f+`,"",""]`, "gemm", 40),
			"64x32x16 float 40000"},
		{one(`aten::mm dims=[[64,32],[31,16]] type=[`+bf+`,`+bf+`]`, "gemm", 40), ""},
		{one(`aten::bmm dims=[[8,64,32],[8,32,16]] type=[`+bf+`,`+bf+`]`, "gemm", 40), ""},
		{one(`aten::mm`, "gemm", 40), ""},
		// in place: read and written, the other one read
		{one(`aten::add_ dims=[[8192,8192],[8192,8192],[]] type=[`+bf+`,`+bf+`,"Scalar"]`, "vectorized", 140),
			"aten::add_ 402653184 140000"},
		{one(`aten::add dims=[[8192,8192],[8192,8192],[]] type=[`+f+`,`+bf+`,"Scalar"]`, "vectorized", 140),
			"aten::add 671088640 140000"},
		{one(`aten::copy_ dims=[[8192,8192],[8192,8192],[]] type=[`+bf+`,`+f+`,"Scalar"]`, "vectorized", 140),
			"aten::copy_ 402653184 140000"},
		{one(`aten::add_ dims=[[8192,8192],[8192,8192],[]] type=[`+bf+`,`+bf+`,"Scalar"]`,
			"void at::native::elementwise_kernel<128, 4>", 500), "strided 402653184 500000"},
		// the first one is broadcast; several kernels; too small to be limited by memory; an operator that is not known
		{one(`aten::add dims=[[8192],[8192,8192],[]] type=[`+bf+`,`+bf+`,"Scalar"]`, "k", 140), ""},
		{one(`aten::add_ dims=[[8192,8192],[8192,8192],[]] type=[`+bf+`,`+bf+`,"Scalar"]`, "k", 140, 3), ""},
		{one(`aten::add_ dims=[[64,8192],[64,8192],[]] type=[`+bf+`,`+bf+`,"Scalar"]`, "k", 10), ""},
		{one(`aten::index dims=[[8192,8192],[8192,8192],[]] type=[`+bf+`,`+bf+`,"Scalar"]`, "k", 140), ""},
		{copyOf("DtoD (Device -> Device)", 67108864), "copy 134217728 40000"},
		{copyOf("HtoD (Pinned -> Device)", 16777216), "pcie 16777216 40000"},
		{copyOf("HtoD (Pageable -> Device)", 16777216), ""},
	} {
		m, got := measure(t, c.events), ""
		for _, p := range m.Products {
			got += fmt.Sprintf("%dx%dx%d %s %d", p.Rows, p.Inner, p.Columns, p.Dtype, p.NS)
		}
		for _, v := range m.Moves {
			got += fmt.Sprintf("%s %d %d", v.Op, v.Bytes, v.NS)
		}
		if got != c.want {
			t.Errorf("%s\ngives %q, want %q", c.events, got, c.want)
		}
	}
}

// collectives are reduce-scatters of so many elements of bfloat16 on a rank, from so many us on and so long.
func collectives(list ...[3]int) string {
	var b strings.Builder
	for i, c := range list {
		fmt.Fprintf(&b, "0/23 %dus +%dus kernel ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL stream=23 "+
			"coll=_reduce_scatter_base in=%d out=%d dtype=BFloat16 gsize=2 group=0 granks=[0,1] seq=%d\n", c[1], c[2],
			c[0], c[0]/2, i+1)
	}
	return b.String()
}

func transfersOf(m *calibration.Measured) string {
	var list []string
	for _, x := range m.Transfers {
		list = append(list, fmt.Sprintf("%s of %d among %d: %d of %d", x.Kind, x.Bytes, x.Ranks, x.NS, x.Samples))
	}
	return strings.Join(list, "; ")
}

// A transfer is from the latest start to the earliest end, of one rank alone the least of its size and no more than
// that of a larger one.
func TestTransfers(t *testing.T) {
	first := collectives([3]int{1000, 0, 500}, [3]int{1000, 1000, 100}, [3]int{8000, 2000, 90}, [3]int{8000, 3000, 80})
	second := collectives([3]int{1000, 400, 105}, [3]int{1000, 1060, 45}, [3]int{8000, 2000, 95},
		[3]int{8000, 3000, 90})
	const alone = "reduce_scatter of 2000 among 2: 80000 of 1; reduce_scatter of 16000 among 2: 80000 of 1"
	if got := transfersOf(measure(t, first)); got != alone {
		t.Errorf("one rank: %s, want %s", got, alone)
	}
	const both = "reduce_scatter of 2000 among 2: 100000 of 2; reduce_scatter of 16000 among 2: 90000 of 2"
	if got := transfersOf(measure(t, first, second)); got != both {
		t.Errorf("both ranks: %s, want %s", got, both)
	}
}

// A line is through large messages, where there are two; where none fits it is said why.
func TestLines(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		events string
		want   string
	}{
		// 2 x bytes: 20 us + 4 us per MiB from 4 MiB on; what is smaller does not count
		{collectives([3]int{100, 0, 12}, [3]int{2 * mib, 1000, 36}, [3]int{8 * mib, 2000, 84}),
			"alpha 20.0 us, 3.81 us/MB, bus 131 GB/s, from 4194304, off 0.0"},
		{collectives([3]int{1000, 0, 12}, [3]int{2000, 1000, 14}),
			"alpha 10.0 us, 1000.00 us/MB, bus 1 GB/s, from 2000, off 0.0"},
		// no latency below 0
		{collectives([3]int{4 * mib, 0, 40}, [3]int{8 * mib, 1000, 90}),
			"alpha 0.0 us, 5.03 us/MB, bus 99 GB/s, from 8388608, off 6.2"},
		{collectives([3]int{4 * mib, 0, 40}), "all have the same size"},
		{collectives([3]int{4 * mib, 0, 90}, [3]int{8 * mib, 1000, 90}), "larger ones take no longer"},
	} {
		m := measure(t, c.events)
		l := m.Lines[0]
		got := l.Why
		if got == "" {
			got = fmt.Sprintf("alpha %.1f us, %.2f us/MB, bus %.0f GB/s, from %d, off %.1f", l.Alpha/1e3, l.Beta*1e3,
				l.Bus/1e9, l.From, 100*l.P90)
		}
		if got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// Nothing is made up of nothing.
func TestNothing(t *testing.T) {
	m := measure(t, "1/1 0us +5us cpu_op aten::mm\n")
	for _, x := range m.Times {
		if x.Why == "" {
			t.Errorf("%+v", x)
		}
	}
	if len(m.Products)+len(m.Moves)+len(m.Transfers)+len(m.Lines) > 0 || m.Uneven.Why == "" || m.Device != "" {
		t.Errorf("%+v", m)
	}
}
