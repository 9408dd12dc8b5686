package gradients

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/timeline"
)

// TestStretches: where the program is inside no_sync(), by annotations and by the frames that enter
// and leave it.
func TestStretches(t *testing.T) {
	// call is a frame of no_sync called by some others, the outermost first.
	call := func(thread, at int, callers ...string) string {
		s := ""
		for i, name := range callers {
			s += fmt.Sprintf("1/%d %d +%d python_function %q\n", thread, at+i, 20-2*i, name)
		}
		return s + fmt.Sprintf("1/%d %d +4 python_function \"distributed.py(1680): no_sync\"\n", thread, at+8)
	}
	const enter, exit, next = "contextlib.py(132): __enter__", "contextlib.py(141): __exit__",
		"<built-in function next>"
	for _, test := range []struct{ what, source, want string }{
		{"annotated", "1/1 10 +50 user_annotation no_sync\n", "10-60"},
		{"entered and left", call(1, 100, enter, next) + call(1, 200, exit, next), "112-208"},
		{"without the frame of next", call(1, 100, enter) + call(1, 200, exit), "112-208"},
		{"with a frame more", call(1, 100, enter, next, "helper") + call(1, 200, exit, next, "helper"), "112-208"},
		{"with two frames more", call(1, 100, enter, next, "a", "b") + call(1, 200, exit, next, "a", "b"), ""},
		{"left alone", call(1, 200, exit, next), ""},
		{"entered alone", call(1, 100, enter, next), ""},
		{"called", call(1, 100, enter, next) + call(1, 150, "loop") + call(1, 200, exit, next), "112-208"},
		{"one in the other", call(1, 100, enter, next) + call(1, 150, enter, next) + call(1, 200, exit, next) +
			call(1, 250, exit, next), "112-258, 162-208"},
		{"one after the other", call(1, 100, enter, next) + call(1, 150, exit, next) + call(1, 200, enter, next) +
			call(1, 250, exit, next), "112-158, 212-258"},
		{"left twice", call(1, 100, enter, next) + call(1, 150, exit, next) + call(1, 200, exit, next), "112-158"},
		{"on two threads", call(1, 100, enter, next) + call(2, 150, exit, next), ""},
		{"nothing of the kind", "1/1 10 +50 user_annotation sync\n", ""},
	} {
		var got []string
		for _, s := range noSyncs(rankOf(t, test.source)) {
			got = append(got, fmt.Sprintf("%d-%d", s.Start, s.End))
		}
		if text := strings.Join(got, ", "); text != test.want {
			t.Errorf("%s: %s, want %s", test.what, text, test.want)
		}
	}
}

// TestForwardBefore: DDP decides in forward whether backward reduces.
func TestForwardBefore(t *testing.T) {
	const ddp = "1/1 %d +%d cpu_op DistributedDataParallel.forward\n"
	first := fmt.Sprintf(ddp, 20, 10)
	for _, test := range []struct {
		what, source string
		start, end   int64
		want         bool
	}{
		{"forward, then no_sync", first, 40, 60, true}, {"right after forward", first, 30, 60, true},
		{"while forward runs", first, 29, 60, false}, {"around it", first, 10, 60, false},
		{"before it", first, 5, 15, false}, {"right before it", first, 5, 20, false},
		{"another inside", first + fmt.Sprintf(ddp, 45, 5), 40, 60, false},
		{"another right after", first + fmt.Sprintf(ddp, 60, 5), 40, 60, true},
		{"of FSDP", "1/1 20 +10 user_annotation \"FSDP::forward (0)\"\n", 40, 60, false},
		{"beside FSDP", first + "1/1 45 +5 user_annotation \"FSDP::forward (0)\"\n", 40, 60, true},
		{"without any", "1/1 20 +10 cpu_op aten::linear\n", 40, 60, false},
	} {
		list := []NoSync{{Start: test.start, End: test.end}}
		if forwardsBefore(rankOf(t, test.source), list); list[0].ForwardBefore != test.want {
			t.Errorf("%s: %v", test.what, list[0].ForwardBefore)
		}
	}
}

// TestReducedInside: reductions of hooks that no_sync() ought to have prevented, by the stretch that
// lasts longest of those around them.
func TestReducedInside(t *testing.T) {
	inside := []NoSync{{Start: 10, End: 100}, {Start: 20, End: 30}, {Start: 40, End: 110}, {Start: 45, End: 110}}
	for _, test := range []struct {
		what  string
		start int
		span  string
		again bool
		want  int
	}{
		{"before", 9, accumulateGrad, true, -1}, {"at its start", 10, accumulateGrad, true, 0},
		{"in a short one, too", 25, accumulateGrad, true, 0}, {"in the second long one", 42, accumulateGrad, true, 2},
		{"in two that end together", 50, accumulateGrad, true, 3}, {"near the end", 109, accumulateGrad, true, 3},
		{"at the end", 110, accumulateGrad, true, -1}, {"not repeated", 50, accumulateGrad, false, -1},
		{"by the loop", 50, "part", true, -1}, {"by FSDP", 50, "FSDP::post_backward_reduce (0)", true, 3},
	} {
		cat := "cpu_op"
		if strings.HasPrefix(test.span, "FSDP") {
			cat = "user_annotation"
		}
		x := rankOf(t, fmt.Sprintf("1/1 %d +9 %s %q\n1/1 %d +5 cpu_op record_param_comms\n", test.start-1, cat,
			test.span,
			test.start))
		row := startingAt(t, x, "record_param_comms", int64(test.start))
		list := []HostCollective{{Event: timeline.Event{Start: int64(test.start)}, Again: test.again, NoSync: -1}}
		markNoSync(x, list, []int32{row}, inside)
		if list[0].NoSync != test.want {
			t.Errorf("%s: %d, want %d", test.what, list[0].NoSync, test.want)
		}
		list[0].NoSync = -1
		if markNoSync(x, list, []int32{row}, nil); list[0].NoSync != -1 {
			t.Errorf("%s: without a stretch %d", test.what, list[0].NoSync)
		}
		markNoSync(x, list, []int32{row}, inside[:1])
		if want := test.want >= 0 && test.start < 100; (list[0].NoSync == 0) != want {
			t.Errorf("%s: in one stretch %d", test.what, list[0].NoSync)
		}
	}
}
