package chrome

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/input"
)

// TestMostDocuments: as many documents as are read, and one more, which is told.
func TestMostDocuments(t *testing.T) {
	one := "[" + ev + "]\n"
	for _, c := range []struct {
		behind, problem string
	}{{"", "several_documents:1@0"}, {" \n ", "several_documents:1@0"}, {one, "trailing_data"}, {one + one, "trailing_data"}, {"x", "trailing_data"}} {
		got := readAll(t, strings.Repeat(one, maxDocuments)+c.behind)
		last := problems(got[len(got)-1])
		if len(got) != maxDocuments || strings.Contains(last, "trailing_data") != (c.problem == "trailing_data") {
			t.Errorf("%.20q behind all: %d traces, %s", c.behind, len(got), last)
		}
		if c.problem == "trailing_data" && !strings.Contains(last, fmt.Sprintf("trailing_data:1@%d", maxDocuments*len(one))) {
			t.Errorf("%.20q behind all: %s", c.behind, last)
		}
	}
}

// TestNotATraceBehind: what follows a trace and is none is told to that trace, which stays as it is.
func TestNotATraceBehind(t *testing.T) {
	for _, behind := range []string{"x", "{}", `{"a":1}`, "[1]", `{"a":`, `"text"`, "[" + `{"a":1}` + "]"} {
		got := readAll(t, "["+ev+"] "+behind)
		if len(got) != 1 || dump(got[0]) != evRow || problems(got[0]) != "trailing_data:1@55" {
			t.Errorf("%s: %d traces, %s", behind, len(got), problems(got[0]))
		}
	}
}

// TestLinesFromAnyKey: an event without anything around it is one whatever key it begins with, and
// leaves nothing in the header.
func TestLinesFromAnyKey(t *testing.T) {
	for _, first := range []string{
		ev, `{"name":"a","pid":1,"tid":2,"ts":1,"dur":2,"ph":"X"}`, `{"args":{},"name":"a","pid":1,"tid":2,"ts":1,"ph":"X","dur":2}`,
		`{"name":"a","traceName":"x","schemaVersion":1,"pid":1,"tid":2,"ts":1,"dur":2,"ph":"X"}`,
	} {
		for _, space := range []string{"", " ", "\n"} {
			in := space + first + "\n" + next + "\n" + ev
			got := readOne(t, in)
			m := got.Meta()
			if dump(got) != evRow+evRow+nextRow || len(m.Extra) > 0 || m.TraceName != "" || m.Format != "chrome" || m.EventsInFile != 3 {
				t.Errorf("%s: %s%+v", first, dump(got), m)
			}
			if p := problems(got); p != fmt.Sprintf("line_delimited:1@%d", len(space)) {
				t.Errorf("%s: %s", first, p)
			}
		}
	}
	got := readOne(t, `{"q":NaN,"name":"a","ph":"X","pid":1,"tid":2,"ts":1,"dur":2}`+"\n"+next)
	if dump(got) != evRow+nextRow || problems(got) != "non_finite_number:1@5 line_delimited:1@0" {
		t.Errorf("%s%s", dump(got), problems(got))
	}
}

// TestListIsFound: behind a broken header the list of events is found, wherever windows end.
func TestListIsFound(t *testing.T) {
	const w = input.WindowSize
	for _, between := range []string{"", " ", strings.Repeat(" ", 5000)} {
		for _, n := range []int{0, 1, w - 40, w - 30, w - 25, w - 20, w - 15, w - 10, w - 5, w - 1, w, 2*w - 20, 3 * w} {
			for _, fill := range []string{"x", `"traceEvents" `} {
				in := `{"a":!` + strings.Repeat(fill, n/len(fill)) + `"traceEvents"` + between + ":" + between + "[" + ev + "]}"
				if got := readOne(t, in); dump(got) != evRow || problems(got) != "broken_event:1@1" {
					t.Errorf("%d bytes of %s: %s%s", n, fill, dump(got), problems(got))
				}
			}
		}
	}
	for _, in := range []string{
		`{"a":!"traceEvents"}`, `{"a":!"traceEvents":{}}`, `{"a":!"traceEvents"[]}`, `{"a":!"traceEvents`, `{"a":!"traceEvents":`, `{"a":!"traceEvents":{"b":[` + ev + `]}}`,
	} {
		if _, err := Read(strings.NewReader(in), Options{}); err == nil || !strings.Contains(err.Error(), "no event list behind byte 1") {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// TestXLARows: what of a file without Kineto's categories becomes activity of a device, and what
// a launch of it.
func TestXLARows(t *testing.T) {
	const names = `{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}},
	{"ph":"M","pid":1,"tid":20,"name":"thread_name","args":{"name":"Stream #20(Compute)"}},
	{"ph":"M","pid":1,"tid":21,"name":"thread_name","args":{"name":"XLA Modules"}},
	{"ph":"M","pid":9,"name":"process_name","args":{"name":"/host:CPU"}},
	{"ph":"M","pid":9,"tid":20,"name":"thread_name","args":{"name":"Stream #20(Compute)"}},`
	event := func(pid, tid int, more, name string) string {
		return fmt.Sprintf(`{"pid":%d,"tid":%d,"ts":5,"name":"%s",%s}`, pid, tid, name, more)
	}
	const plain, linked = `"ph":"X","dur":1`, `"ph":"X","dur":1,"args":{"correlation_id":5}`
	for _, c := range []struct{ event, cat string }{
		{event(1, 20, plain, "fusion"), "kernel"},
		{event(1, 20, linked, "cuLaunchKernel"), "kernel"},
		{event(1, 20, plain, "memcpyD2H"), "gpu_memcpy"}, {event(1, 20, plain, "MemcpyH2D"), "gpu_memcpy"},
		{event(1, 20, plain, "CopyHostToDevice"), "gpu_memcpy"}, {event(1, 20, plain, "CopyDeviceToHost"), "gpu_memcpy"},
		{event(1, 20, plain, "Copy"), "kernel"},
		{event(1, 20, plain, "Memset 4B"), "gpu_memset"}, {event(1, 20, plain, "FillBuffer"), "gpu_memset"},
		{event(1, 20, plain, "FillBuffers"), "kernel"},
		{event(1, 20, `"ph":"i"`, "fusion"), ""},
		{event(1, 20, `"ph":"X","dur":1,"cat":"mine"`, "fusion"), "mine"},
		{event(1, 21, plain, "fusion"), ""}, {event(1, 21, linked, "cuLaunchKernel"), ""},
		{event(9, 3, linked, "cuLaunchKernel"), "cuda_runtime"}, {event(9, 3, linked, "cudaMemcpyAsync"), "cuda_runtime"},
		{event(9, 3, linked, "cuMemsetD8Async"), "cuda_runtime"}, {event(9, 3, linked, "hipLaunchKernel"), "cuda_runtime"},
		{event(9, 20, linked, "hipMemcpy"), "cuda_runtime"},
		{event(9, 3, linked, "cuCtxSynchronize"), ""}, {event(9, 3, linked, "hipInit"), ""}, {event(9, 3, linked, "myLaunch"), ""},
		{event(9, 3, linked, "Memcpy"), ""}, {event(9, 3, plain, "cuLaunchKernel"), ""}, {event(9, 3, plain, "fusion"), ""},
		{event(9, 20, plain, "fusion"), ""},
		{event(9, 3, `"ph":"i","args":{"correlation_id":5}`, "cuLaunchKernel"), ""},
	} {
		got := readOne(t, "["+names+c.event+"]")
		if cat := got.CatName(got.Event(0).Cat()); got.Len() != 1 || cat != c.cat {
			t.Errorf("%s: %q, want %q", c.event, cat, c.cat)
		}
	}
	host := strings.Replace(names, "Stream", "Thread", 1) // no stream of a device: no file of XLA
	if got := readOne(t, "["+host+event(9, 3, linked, "cuLaunchKernel")+"]"); got.Event(0).Cat() != trace.CatNone {
		t.Error("a file without streams was adapted")
	}
}
