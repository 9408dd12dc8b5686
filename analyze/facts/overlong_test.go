package facts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
)

// TestOverlongEvent: a duration that cannot be true is said, with the longest, and changes no overlap.
func TestOverlongEvent(t *testing.T) {
	var b strings.Builder
	b.WriteString("0/9 100 +50 kernel ncclDevKernel_AllReduce_Sum_f32_RING_LL\n")
	for i := range 12 {
		fmt.Fprintf(&b, "0/7 %d +2 kernel gemm\n", 100+10*i)
	}
	whole := one(t, b.String())
	damaged := one(t, strings.Replace(b.String(), "0/7 100 +2 kernel gemm", "0/7 100 +7200000000000 kernel gemm", 1))
	if got, want := damaged.Measure(damaged.Select(func(*Collective) bool { return true })).Overlapped,
		whole.Measure(whole.Select(func(*Collective) bool { return true })).Overlapped-2; got != want {
		t.Errorf("%d ns overlapped, want %d", got, want)
	}
	if !hasProblem(damaged, trace.OverlongDevice) || hasProblem(whole, trace.OverlongDevice) ||
		damaged.Problems[0].Detail != "gemm on stream 7 of device 0, recorded with 2.0 hours" {
		t.Errorf("damaged %+v, whole %+v", damaged.Problems, whole.Problems)
	}
}
