package pprof

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/text"
	"github.com/gaprof/gaprof/trace/tracefile"
	"github.com/google/pprof/profile"
)

func read(t *testing.T, source string) *trace.Trace {
	t.Helper()
	tr, err := text.Read(strings.NewReader(source), "test")
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// parsed is the profile of a trace as a reader of its file sees it.
func parsed(t *testing.T, tr *trace.Trace, o Options) *profile.Profile {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, tr, o); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	return p
}

const step = `recording format=kineto base=1700000000000000000
distributed backend=nccl rank=3 world_size=8
1/1 1us +3us cpu_op aten::mm
1/1 2us +1us cuda_runtime l corr=1
1/2 10us +9us cpu_op "autograd::engine::evaluate_function: MmBackward0"
1/2 11us +1us cpu_op torch::autograd::AccumulateGrad
1/2 12us +5us cpu_op c10d::reduce_scatter
1/2 13us +3us cpu_op record_param_comms coll=_reduce_scatter_base in=500 out=250 dtype=Float
1/2 14us +1us cuda_runtime l corr=2
1/1 30us +9us user_annotation Optimizer.step#A.step
1/1 31us +3us cpu_op aten::add_
1/1 32us +1us cuda_runtime l corr=3
1/1 35us +1us cuda_runtime m corr=4
0/7 50us +10us kernel "gemm(int)" corr=1
0/9 55us +10us kernel ncclDevKernel_ReduceScatter corr=2
0/7 70us +4us kernel "add \x1b[2J" corr=3
0/7 71us +4us gpu_memcpy copy corr=4 bytes=77
0/7 80us +1us kernel lost corr=99
`

// A sample a line: values, then the stack from the kernel outwards, then the tags.
func TestSamples(t *testing.T) {
	p := parsed(t, read(t, step), Options{Version: "0.1"})
	want := []string{
		"[10000 0 1 0] gemm(int) < aten::mm < phase forward < step A [device=0 kind=A rank=3 step=0 stream=7]",
		`[4000 0 1 0] add \x1b[2J < aten::add_ < phase optimizer < step A [device=0 kind=A rank=3 step=0 stream=7]`,
		"[4000 0 1 77] copy < m < phase optimizer < step A [device=0 kind=A rank=3 step=0 stream=7]",
		"[1000 0 1 0] lost < launched outside the recording [device=0 rank=3 stream=7]",
		"[10000 5000 1 2000] ncclDevKernel_ReduceScatter < c10d::reduce_scatter < from backward hook < " +
			"phase gradient sync < step A [correlation=2 device=0 kind=A rank=3 step=0 stream=9]",
	}
	var got []string
	for _, s := range p.Sample {
		got = append(got, line(s))
	}
	slices.Sort(got)
	slices.Sort(want)
	if text := strings.Join(got, "\n"); text != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", text, strings.Join(want, "\n"))
	}
	if p.DefaultSampleType != "device_time" || p.Comments[0] != "gaprof 0.1" {
		t.Errorf("default %s, comments %q", p.DefaultSampleType, p.Comments)
	}
	if p.TimeNanos != 1700000000000050000 || p.DurationNanos != 31000 {
		t.Errorf("time %d, duration %d", p.TimeNanos, p.DurationNanos)
	}
}

func line(s *profile.Sample) string {
	var frames, tags []string
	for _, l := range s.Location {
		frames = append(frames, l.Line[0].Function.Name)
	}
	for key, values := range s.Label {
		tags = append(tags, key+"="+strings.Join(values, ","))
	}
	for key, values := range s.NumLabel {
		tags = append(tags, fmt.Sprintf("%s=%d", key, values[0]))
	}
	slices.Sort(tags)
	return fmt.Sprintf("%v %s %v", s.Value, strings.Join(frames, " < "), tags)
}

func TestOptions(t *testing.T) {
	const bare = "0/7 5 +1 kernel k\n"
	seven, rank := int64(7), func() (int64, bool) { return 4, true }
	for _, test := range []struct {
		name, source string
		o            Options
		want         string
	}{
		{"nothing is known", bare, Options{}, "time 0 rank 0"},
		{"the file says the rank", bare, Options{Rank: rank}, "time 0 rank 4"},
		{"the file does not say the rank", bare,
			Options{Rank: func() (int64, bool) { return 0, false }}, "time 0 rank 0"},
		{"the trace says it", "distributed backend=nccl rank=3 world_size=8\n1/1 1 +1 cpu_op a\n" + bare,
			Options{Rank: rank}, "time 0 rank 3"},
		{"the time is given", "recording base=1000\n" + bare, Options{TimeNanos: &seven}, "time 7 rank 0"},
		{"the time is the trace's", "recording base=1000\n" + bare, Options{}, "time 1005 rank 0"},
	} {
		p := parsed(t, read(t, test.source), test.o)
		if got := fmt.Sprintf("time %d rank %d", p.TimeNanos, p.Sample[0].NumLabel["rank"][0]); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	for _, source := range []string{"", "1/1 1 +1 cpu_op a\n"} {
		if err := Write(io.Discard, read(t, source), Options{}); !errors.Is(err, ErrNoDevice) {
			t.Errorf("%q: %v", source, err)
		}
	}
}

// The totals are those of the report, to the nanosecond, and equal traces give equal bytes.
func TestTotalsAreThoseOfTheReport(t *testing.T) {
	files, _ := filepath.Glob("../../traces/*.trace.txt")
	shared := []string{
		"gpu/nanogpt-current.json.gz", "gpu/nanogpt-hook.json.gz", "gpu/normuon-rank3.json.gz",
		"damaged/gpu-only.json.gz", "damaged/no-optimizer.json.gz", "damaged/truncated-gzip.json.gz",
		"damaged/comm-on-compute-stream.json.gz",
	}
	if _, err := os.Stat("../../../shared/traces"); err != nil {
		t.Log("real traces are not here: samples only")
		shared = nil
	}
	for _, name := range shared {
		files = append(files, filepath.Join("../../../shared/traces", name))
	}
	for _, file := range files {
		traces, err := tracefile.Read(file, tracefile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		compare(t, file, traces[0])
	}
	compare(t, "hand-made", read(t, step))
}

func compare(t *testing.T, name string, tr *trace.Trace) {
	t.Helper()
	var first, second bytes.Buffer
	err := errors.Join(Write(&first, tr, Options{}), Write(&second, tr, Options{}))
	if err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("%s: two profiles of one trace differ: %v", name, err)
	}
	p, err := profile.Parse(&first)
	if err != nil {
		t.Fatal(err)
	}
	var got [numValues]int64
	byName := make(map[string]int64)
	for _, s := range p.Sample {
		for i, v := range s.Value {
			got[i] += v
		}
		byName[s.Location[0].Line[0].Function.Name] += s.Value[deviceTime]
	}
	// After the profile: an analysis lets go of traces.
	r := analyze.Run([]analyze.Input{{File: name, Trace: tr}}, analyze.Options{Top: math.MaxInt32})
	var want [numValues]int64
	for _, k := range r.Kernels {
		want[deviceTime] += k.Busy
		if name != "hand-made" && byName[k.Name] != k.Busy {
			t.Errorf("%s: %s has %d ns, the report says %d", name, k.Name, byName[k.Name], k.Busy)
		}
	}
	for _, c := range r.Communication {
		want[exposed] += c.Exposed
	}
	for _, d := range r.Health.DeviceEvents {
		want[events] += int64(d.Count)
	}
	want[size] = got[size]
	if got != want || got[deviceTime] == 0 {
		t.Errorf("%s: %v, the report says %v", name, got, want)
	}
}

// Spans that nest deeper than is looked at around a launch are in the profile all the same.
func TestDeepNesting(t *testing.T) {
	var source strings.Builder
	const depth = 3000
	source.WriteString("1/1 0us +9000us user_annotation Optimizer.step#A.step\n")
	for i := range depth {
		fmt.Fprintf(&source, "1/1 %dus +%dus cpu_op aten::linear\n", i+1, 8000-2*i)
	}
	source.WriteString("1/1 4000us +1us cuda_runtime l corr=1\n0/7 4100us +10us kernel k corr=1\n")
	p := parsed(t, read(t, source.String()), Options{})
	if len(p.Sample) != 1 || p.Sample[0].Value[deviceTime] != 10_000 {
		t.Errorf("%v", p.Sample)
	}
}
