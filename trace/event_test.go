package trace_test

import (
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/text"
)

func someEvents(t *testing.T) *trace.Trace {
	t.Helper()
	tr, err := text.Read(strings.NewReader(`1/1 0 +9 cpu_op aten::mm dims=[[2,3]] ext=7
1/1 1 +1 cuda_runtime cudaLaunchKernel corr=5
0/7 20 +4 kernel gemm corr=5 stream=7
0/7 30 +2 gpu_memcpy copy bytes=64
0/7 40 +4 kernel nccl "Collective name"=allreduce "mine"=11
`), "test")
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestEvents(t *testing.T) {
	tr := someEvents(t)
	for _, test := range []struct {
		cats []trace.Cat
		want string
	}{
		{nil, "gemm copy nccl aten::mm cudaLaunchKernel"},
		{[]trace.Cat{trace.CatKernel}, "gemm nccl"},
		{[]trace.Cat{trace.CatGPUMemcpy, trace.CatCPUOp}, "copy aten::mm"},
		{[]trace.Cat{trace.CatPythonFunction}, ""},
	} {
		var names []string
		for e := range tr.Events(test.cats...) {
			names = append(names, e.Name())
		}
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("%v: %s, want %s", test.cats, got, test.want)
		}
	}
	for e := range tr.Events() { // a loop may end early
		if e.Name() != "gemm" {
			t.Error(e.Name())
		}
		break
	}
	for range new(trace.Trace).Events() {
		t.Error("an empty trace has events")
	}
}

func TestArgByName(t *testing.T) {
	tr := someEvents(t)
	events := make(map[string]trace.Event)
	for e := range tr.Events() {
		events[e.Name()] = e
	}
	for _, test := range []struct{ event, name, want string }{
		{"nccl", "Collective name", "allreduce"},
		{"nccl", "mine", "11"},
		{"copy", "bytes", "64"},
		{"aten::mm", "Input Dims", "[[2,3]]"},
		{"aten::mm", "External id", "7"},
		{"aten::mm", "correlation", ""},
		{"gemm", "correlation", "5"},
		{"gemm", "External id", ""},
		{"gemm", "Collective name", ""},
		{"gemm", "no such name", ""},
		{"gemm", "", ""},
	} {
		a, ok := events[test.event].ArgByName(test.name)
		got := events[test.event].TextByName(test.name)
		if got != test.want || ok != (test.want != "") {
			t.Errorf("%s of %s: %q %v %v, want %q", test.name, test.event, got, a, ok, test.want)
		}
	}
	if k, ok := tr.Key("mine"); !ok || tr.KeyName(k) != "mine" {
		t.Errorf("key %d %v", k, ok)
	}
}

// The number of an arrow is not an argument of it: it ties it to others, and is no
// correlation that a person could look up.
func TestArrowsHaveNoCorrelation(t *testing.T) {
	tr, err := text.Read(strings.NewReader("1/1 1 +2 cuda_runtime launch corr=3\n1/1 1 s ac2g arrow corr=3\n"), "case")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"launch": true, "arrow": false}
	for e := range tr.Events() {
		if _, ok := e.ArgByName("correlation"); ok != want[e.Name()] || e.Corr() != 3 {
			t.Errorf("%s: correlation %v, %d", e.Name(), ok, e.Corr())
		}
	}
}
