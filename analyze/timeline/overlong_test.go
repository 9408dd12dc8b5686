package timeline

import (
	"fmt"
	"strings"
	"testing"
)

// kernels is n kernels of 2 us, one every 10 us, on a stream.
func kernels(n int, name, stream, more string) string {
	var b strings.Builder
	for i := range n {
		args := strings.ReplaceAll(more, "N", fmt.Sprint(i+1))
		fmt.Fprintf(&b, "0/%s %dus +2us kernel %s%s\n", stream, 10*i+10, name, args)
	}
	return b.String()
}

// TestOverlong: an event that lasts over the starts of more than ten later ones of its own
// stream has no time, and all others keep theirs.
func TestOverlong(t *testing.T) {
	const nccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
	long := func(stream, name, dur string) string {
		return fmt.Sprintf("0/%s 5us +%s kernel %s\n", stream, dur, name)
	}
	graph := "1/1 0us +2us cuda_runtime cudaGraphLaunch corr=9\n"
	for _, test := range []struct {
		name, source string
		overlong     int
		busy         int64 // us, of all buckets
	}{
		{"over eleven", long("7", "gemm", "200us") + kernels(20, "add", "7", ""), 1, 40},
		{"over ten", long("7", "gemm", "105us") + kernels(20, "add", "7", ""), 0, 105 + 20},
		{"over ten, and a start at its end", long("7", "gemm", "105us") + kernels(11, "add", "7", ""), 0, 105 + 2},
		{"213 days", long("7", "gemm", "18403200000000us") + kernels(11, "add", "7", ""), 1, 22},
		{"ten are left", long("7", "gemm", "9000us") + kernels(10, "add", "7", ""), 0, 9000},
		{"of another stream", long("8", "gemm", "300us") + kernels(20, "add", "7", ""), 0, 300},
		{"communication over compute", long("7", nccl, "300us") + kernels(20, "add", "7", ""), 0, 300},
		{"compute over communication", long("7", "gemm", "300us") + kernels(20, nccl, "7", ""), 0, 300},
		{"communication", long("9", nccl, "300us") + kernels(20, nccl, "9", ""), 1, 40},
		{"annotations are no events of a stream", long("7", "gemm", "300us") +
			strings.ReplaceAll(kernels(20, "span", "7", ""), "kernel", "gpu_user_annotation"), 0, 300},
		{"a replayed part over others", graph + strings.TrimSuffix(long("7", "gemm", "300us"), "\n") + " corr=9\n" +
			kernels(20, "add", "7", " corr=9"), 0, 300},
		{"over the parts of a graph", graph + long("7", "gemm", "300us") + kernels(20, "add", "7", " corr=9"), 0, 300},
		{"a part of a graph launched before the recording", strings.TrimSuffix(long("7", "gemm", "300us"), "\n") +
			" graph=3 node=1\n" + kernels(20, "add", "7", " graph=3 node=N"), 0, 300},
		{"two of them", long("7", "gemm", "300us") + long("7", "gemm", "400us") + kernels(20, "add", "7", ""), 2, 40},
		{"a copy", strings.ReplaceAll(long("7", "Memcpy", "300us"), "kernel", "gpu_memcpy") +
			kernels(20, "add", "7", ""), 1, 40},
	} {
		r := only(t, test.source)
		n, busy := 0, int64(0)
		for _, d := range r.Devices {
			n += len(d.Overlong)
			for _, set := range d.Busy.Alone {
				busy += set.Len()
			}
			for _, i := range d.Overlong {
				row := d.Rows[i]
				if recorded := r.Trace.Event(int(row)).Dur(); r.Col.Dur[row] != 0 || recorded == 0 {
					t.Errorf("%s: %d ns in the index, %d in the trace", test.name, r.Col.Dur[row], recorded)
				}
			}
		}
		if n != test.overlong || busy != 1000*test.busy {
			t.Errorf("%s: %d overlong, busy for %d ns; want %d, %d us", test.name, n, busy, test.overlong, test.busy)
		}
	}
}
