package timeline

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// many repeats lines of a trace, given the number of the repetition.
func many(n int, line func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i))
	}
	return b.String()
}

// inMicroseconds is the times of a line.
var inMicroseconds = regexp.MustCompile(`(?m)^(\S+ )(\d+) \+(\d+)`)

// TestEarlyReturns: what a call that waits says of the device's clock. Plain numbers are us.
func TestEarlyReturns(t *testing.T) {
	const launch = "1/1 1 +5 cuda_runtime cudaLaunchKernel corr=1\n"
	for _, test := range []struct {
		name, source string
		early        int
	}{
		{"no call that waits", launch + "0/7 10 +5 kernel a corr=1", 0},
		{"it returns as the work ends", launch + "1/1 10 +90 cuda_runtime cudaDeviceSynchronize\n" +
			"0/7 20 +75 kernel a corr=1", 0},
		{"it has nothing to wait for", launch + "1/1 40 +90 cuda_runtime cudaDeviceSynchronize\n" +
			"0/7 20 +15 kernel a corr=1", 0},
		{"the work begins a millisecond after it", launch + "1/1 10 +90 cuda_runtime cudaDeviceSynchronize\n" +
			"0/7 1100 +75 kernel a corr=1", 1},
		{"a little less than that", launch + "1/1 10 +90 cuda_runtime cudaDeviceSynchronize\n" +
			"0/7 1099 +75 kernel a corr=1", 0},
		{"work that was launched while it waited", "1/2 20 +5 cuda_runtime cudaLaunchKernel corr=1\n" +
			"1/1 10 +90 cuda_runtime cudaDeviceSynchronize\n0/7 2000 +75 kernel a corr=1", 0},
		{"the last of several calls counts", launch + "1/1 10 +90 cuda_runtime cudaDeviceSynchronize\n" +
			"1/1 200 +5 cuda_runtime cudaLaunchKernel corr=2\n1/1 210 +90 cuda_runtime hipDeviceSynchronize\n" +
			"0/7 20 +60 kernel a corr=1\n0/7 1500 +75 kernel b corr=2", 1},
		{"which of two devices is meant, nobody says", launch + "1/1 6 +2 cuda_runtime cudaLaunchKernel corr=2\n" +
			"1/1 10 +90 cuda_runtime cudaDeviceSynchronize\n0/7 20 +60 kernel a corr=1\n1/7 1500 +75 kernel b corr=2",
			0},
		{"a graph that was replayed", "1/1 1 +5 cuda_runtime cudaGraphLaunch corr=1\n" +
			"1/1 10 +90 cuda_runtime cudaDeviceSynchronize\n0/7 1500 +75 kernel a corr=1", 0},
		{"item(): a copy, and the stream", "1/1 0 +99 cpu_op aten::_local_scalar_dense\n" +
			"1/1 1 +5 cuda_runtime cudaMemcpyAsync corr=1\n1/1 10 +80 cuda_runtime cudaStreamSynchronize\n" +
			"0/7 20 +60 gpu_memcpy a corr=1", 0},
		{"the copy is over a millisecond later", "1/1 0 +99 cpu_op aten::_local_scalar_dense\n" +
			"1/1 1 +5 cuda_runtime cudaMemcpyAsync corr=1\n1/1 10 +80 cuda_runtime cudaStreamSynchronize\n" +
			"0/7 1030 +60 gpu_memcpy a corr=1", 1},
		{"a stream without a copy before", "1/1 0 +99 cpu_op aten::_local_scalar_dense\n" + launch +
			"1/1 10 +80 cuda_runtime cudaStreamSynchronize\n0/7 1030 +60 kernel a corr=1", 0},
		{"a copy of another operator", "1/1 0 +8 cpu_op aten::copy_\n" +
			"1/1 1 +5 cuda_runtime cudaMemcpyAsync corr=1\n1/1 10 +80 cuda_runtime cudaStreamSynchronize\n" +
			"0/7 1030 +60 gpu_memcpy a corr=1", 0},
	} {
		r := only(t, inMicroseconds.ReplaceAllString(test.source, "${1}${2}us +${3}us"))
		if n := EarlyReturns(r); n != test.early {
			t.Errorf("%s: %d, want %d", test.name, n, test.early)
		}
	}
}

// TestDisordered: ids count the calls of a process, so their times ascend as well, on all threads
// together.
func TestDisordered(t *testing.T) {
	calls := func(late int) string {
		return many(24, func(i int) string {
			thread, at := 1, 1000*i
			if i%8 == 7 {
				thread, at = 2, at-late
			}
			return fmt.Sprintf("1/%d %dus +5us cuda_runtime cudaLaunchKernel corr=%d\n0/7 %dus +5us kernel a corr=%d\n",
				thread, at+20000, i+1, 60000+10*i, i+1)
		})
	}
	for late, want := range map[int]int{0: 0, 5999: 0, 6001: 3, 9000: 3} {
		if n := only(t, calls(late)).Links.Disordered; n != want {
			t.Errorf("a thread late by %d us: %d calls, want %d", late, n, want)
		}
	}
	backwards := many(12, func(i int) string {
		return fmt.Sprintf("1/1 %dus +5us cuda_runtime cudaLaunchKernel corr=%d\n0/7 %dus +5us kernel a corr=%d\n",
			3000*i, 100-i, 100000+10*i, 100-i)
	})
	if n := only(t, backwards).Links.Disordered; n != 0 {
		t.Errorf("ids that are no count: %d", n)
	}
}

// TestOverlaps: how long kernels of one stream run at the same time.
func TestOverlaps(t *testing.T) {
	for _, test := range []struct {
		name, rows    string
		overlap, busy int64
	}{
		{"one after the other", "0/7 100001ns +10us kernel a corr=1\n0/7 120us +10us kernel b corr=2", 0, 20e3},
		{"beside each other", "0/7 100001ns +10us kernel a corr=1\n0/7 105001ns +10us kernel b corr=2", 5e3, 20e3},
		{"one within the other", "0/7 100001ns +10us kernel a corr=1\n0/7 102001ns +2us kernel b corr=2", 2e3, 12e3},
		{"on two streams", "0/7 100001ns +10us kernel a corr=1\n0/8 105001ns +10us kernel b corr=2", 0, 20e3},
		{"in whole microseconds", "0/7 100us +10us kernel a corr=1\n0/7 105us +10us kernel b corr=2", 0, 0},
		{"communication and compute", "0/7 100001ns +10us kernel ncclDevKernel_AllReduce_Sum_f32_RING_LL corr=1\n" +
			"0/7 105001ns +10us kernel b corr=2", 0, 10e3},
		{"without a launch", "0/7 100001ns +10us kernel a corr=1\n0/7 105001ns +10us kernel b corr=9", 0, 10e3},
	} {
		source := "1/1 10us +5us cuda_runtime cudaLaunchKernel corr=1\n" +
			"1/1 20us +5us cuda_runtime cudaLaunchKernel corr=2\n"
		overlap, busy := Overlaps(only(t, source+test.rows))
		if overlap != test.overlap || busy != test.busy {
			t.Errorf("%s: %d of %d ns, want %d of %d", test.name, overlap, busy, test.overlap, test.busy)
		}
	}
}

// TestCrossed: copies that kernels' launches launched.
func TestCrossed(t *testing.T) {
	r := only(t, `
1/1 1 +2 cuda_runtime cudaLaunchKernel corr=1
1/1 5 +2 cuda_runtime cudaMemcpyAsync corr=2
1/1 9 +2 cuda_runtime cudaLaunchKernel corr=3
0/7 20 +1 kernel a corr=1
0/7 30 +1 gpu_memcpy b corr=2
0/7 40 +1 gpu_memset c corr=3
0/7 50 +1 gpu_memcpy d corr=4`)
	if crossed, all := Crossed(r); crossed != 1 || all != 2 {
		t.Errorf("%d of %d", crossed, all)
	}
}

// TestEnds: where arrows from launches end.
func TestEnds(t *testing.T) {
	r := only(t, `
1/1 1 +2 cuda_runtime cudaLaunchKernel corr=1
1/1 1 s ac2g ac2g corr=1
1/1 5 s ac2g ac2g corr=2
0/7 20 +1 kernel a corr=1
0/7 20 f ac2g ac2g corr=1
0/7 30 f ac2g ac2g corr=2
0/7 30 f ac2g ac2g corr=3
0/7 40 f fwdbwd fwdbwd corr=4`)
	if n := EndsOf(r); n != (Ends{3, 2}) {
		t.Errorf("%+v", n)
	}
}

// TestLaunching: which operators launch work, and which of them not always.
func TestLaunching(t *testing.T) {
	source := func(name string, calls, without int) string {
		return many(calls, func(i int) string {
			at, id := 100*i+len(name), 1000*len(name)+i
			text := fmt.Sprintf("1/%d %dus +50us cpu_op %s\n", len(name), at, name)
			if i >= without {
				text += fmt.Sprintf("1/%d %dus +5us cuda_runtime cudaLaunchKernel corr=%d\n", len(name), at+5, id)
				text += fmt.Sprintf("0/7 %dus +1us kernel a corr=%d\n", at+30, id)
			}
			return text
		})
	}
	for _, test := range []struct {
		name, source string
		want         Launching
	}{
		{"always", source("aten::a", 8, 0), Launching{Steady: 1, Calls: 8}},
		{"too few calls to tell", source("aten::a", 7, 0), Launching{}},
		{"one is none", source("aten::a", 9, 1), Launching{Steady: 1, Calls: 9}},
		{"two are", source("aten::a", 10, 2), Launching{Broken: 1, Missing: 2, Calls: 10}},
		{"two of a hundred and one are not", source("aten::a", 101, 2), Launching{Steady: 1, Calls: 101}},
		{"half of them", source("aten::a", 16, 8), Launching{Broken: 1, Missing: 8, Calls: 16}},
		{"more than half launch nothing on purpose", source("aten::a", 17, 9), Launching{}},
		{"several", source("aten::a", 8, 0) + source("aten::bb", 12, 3),
			Launching{Steady: 1, Broken: 1, Missing: 3, Calls: 20}},
		{"the host alone", "1/1 1 +2 cpu_op aten::a", Launching{}},
	} {
		if got := LaunchingOf(only(t, test.source)); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
	captured := many(8, func(i int) string {
		return fmt.Sprintf("1/1 %dus +50us cpu_op aten::a\n1/1 %dus +9us cuda_runtime cudaLaunchKernel corr=%d\n"+
			"1/1 %dus +2us cuda_driver cuLaunchKernel corr=%d\n", 100*i, 100*i+5, i+1, 100*i+7, i+1)
	})
	replayed := "1/1 2000us +5us cuda_runtime cudaGraphLaunch corr=99\n0/7 2010us +1us kernel a corr=99"
	got := LaunchingOf(only(t, captured+replayed))
	if want := (Launching{Steady: 1, Calls: 8}); got != want {
		t.Errorf("what a graph captures launches: %+v", got)
	}
}

// TestNumbers: operators whose numbers are missing.
func TestNumbers(t *testing.T) {
	numbered := func(from, to, step int) string {
		return many((to-from)/step, func(i int) string {
			return fmt.Sprintf("1/1 %dus +1us cpu_op aten::a ext=%d\n", (from+i*step)*10, from+i*step)
		})
	}
	for _, test := range []struct {
		name, source string
		want         Numbers
	}{
		{"none", "1/1 1 +2 cpu_op aten::a", Numbers{}},
		{"all", numbered(100, 300, 1), Numbers{200, 0}},
		{"a hole", numbered(100, 300, 1) + numbered(310, 400, 1), Numbers{290, 10}},
		{"every other one", numbered(100, 300, 2), Numbers{100, 99}},
		{"no count", numbered(0, 9000, 10), Numbers{}},
		{"across the end of a block", numbered(100, 201, 1) + numbered(520, 600, 1), Numbers{181, 319}},
		{"the rest of a block", numbered(100, 300, 1) + numbered(513, 600, 1), Numbers{287, 0}},
		{"the head of one", numbered(400, 513, 1) + numbered(700, 800, 1), Numbers{213, 0}},
		{"more than two blocks", numbered(100, 513, 1) + numbered(1600, 1700, 1), Numbers{513, 1087}},
		{"annotations count, calls do not", numbered(100, 110, 1) + "1/1 9000us +1us user_annotation b ext=110\n" +
			"1/1 9100us +1us cuda_runtime cudaLaunchKernel ext=120", Numbers{11, 0}},
	} {
		if got := NumbersOf(only(t, test.source)); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// TestCrossingSpans: spans that outlast the one in which they begin.
func TestCrossingSpans(t *testing.T) {
	for _, test := range []struct {
		source   string
		crossing int
	}{
		{"1/1 0us +10us cpu_op a\n1/1 5us +5us cpu_op b", 0},
		{"1/1 0us +10us cpu_op a\n1/1 5us +7us cpu_op b", 0}, // within rounding
		{"1/1 0us +10us cpu_op a\n1/1 5us +7001ns cpu_op b", 1},
		{"1/1 0us +10us cpu_op a\n1/2 5us +9us cpu_op b", 0}, // another thread
	} {
		if n, all := CrossingSpans(only(t, test.source)); n != test.crossing || all != 2 {
			t.Errorf("%s: %d of %d", test.source, n, all)
		}
	}
}
