package facts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// said is the message of a problem of a rank, "" without.
func said(r *Rank, code trace.Code) string {
	for _, p := range r.Problems {
		if p.Code == code {
			return p.Message()
		}
	}
	return ""
}

// times is how often a problem of a rank occurs.
func times(r *Rank, code trace.Code) (n int64) {
	for _, p := range r.Problems {
		if p.Code == code {
			n += p.Count
		}
	}
	return n
}

// busyHost writes operators of 5 ms that begin every 10 ms, from ms to ms.
func busyHost(from, to int) string {
	var b strings.Builder
	for at := from; at < to; at += 10 {
		fmt.Fprintf(&b, "1/1 %dms +5ms cpu_op aten::a\n", at)
	}
	return b.String()
}

// busyDevice writes kernels of 90 ms that begin every 100 ms, from ms to ms.
func busyDevice(from, to int) string {
	var b strings.Builder
	for at := from; at < to; at += 100 {
		fmt.Fprintf(&b, "0/7 %dms +90ms kernel a\n", at)
	}
	return b.String()
}

// TestTimeGap: a recording with a hole that no program leaves.
func TestTimeGap(t *testing.T) {
	const second, hour = 1000, 3600_000 // ms
	for _, test := range []struct {
		name, source, want string
	}{
		{"nothing missing", busyHost(0, 2*second), ""},
		{"an hour", busyHost(0, second) + busyHost(hour, hour+second), "for 3597.5 s"},
		{"twelve seconds beside one", busyHost(0, second/2) + busyHost(12*second, 12*second+second/2), "for 11.5 s"},
		{"beside two", busyHost(0, second) + busyHost(12*second, 13*second), ""},
		{"eight seconds beside a tenth", busyHost(0, 100) + busyHost(8*second, 8*second+100), ""},
		{"in which an operator runs", busyHost(0, second) + "1/1 1500ms +1h cpu_op aten::item\n" +
			busyHost(hour+2*second, hour+3*second), "for 3599.5 s"},
		{"of half a minute, in which an operator runs", busyHost(0, second) + "1/1 1500ms +28s cpu_op aten::item\n" +
			busyHost(30*second, 31*second), ""},
		{"of which a step of the profiler tells", "1/1 0ms +20s user_annotation ProfilerStep#3\n" +
			busyHost(1, second/2) +
			busyHost(19*second, 19*second+second/2), "for 18.5 s"},
		{"twenty operators", busyHost(0, 100) + busyHost(12*second, 12*second+100), "for 11.9 s"},
		{"nineteen", busyHost(0, 90) + busyHost(12*second, 12*second+100), ""},
		{"ten minutes, in which an operator runs", busyHost(0, second) + "1/1 1500ms +605s cpu_op aten::item\n" +
			busyHost(607*second, 608*second), "for 605.3 s"},
		{"nearly ten minutes, in which one runs", busyHost(0, second) + "1/1 1500ms +595s cpu_op aten::item\n" +
			busyHost(597*second, 598*second), ""},
		{"on another thread something runs", busyHost(0, second/2) + "1/2 400ms +12s cpu_op aten::b\n" +
			busyHost(12*second, 12*second+second/2), ""},
		{"nine and a half seconds", busyHost(0, 400) + busyHost(9900, 10300), ""},
		{"in which a device works", busyHost(0, second/2) + busyDevice(400, 12*second) +
			busyHost(12*second, 12*second+second/2), ""},
		{"before and after nothing is a gap", "1/2 0ms +1ms cpu_op aten::b\n", ""},
	} {
		r := one(t, strings.ReplaceAll(test.source, "+1h", "+3600s"))
		if n := times(r, trace.TimeGap); n > 1 || n == 1 != (test.want != "") {
			t.Errorf("%s: %d gaps", test.name, n)
		}
		got := said(r, trace.TimeGap)
		if (got == "") != (test.want == "") || !strings.HasSuffix(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestClockOffset: how much it takes to say that clocks disagree.
func TestClockOffset(t *testing.T) {
	source := func(events, at int) string {
		text := ""
		for i := range events {
			text += fmt.Sprintf("1/1 %dus +1us cuda_runtime cudaLaunchKernel corr=%d\n0/7 %dus +9us kernel a corr=%d\n",
				10+i, i+1, at+10*i, i+1)
		}
		return text + "1/1 100us +40ms cuda_runtime cudaDeviceSynchronize\n"
	}
	for _, test := range []struct {
		events, at int
		want       string
	}{
		{3, 41_100, "begins after a call that waited for it has returned"},
		{2, 41_100, ""},
		{3, 41_000, ""},
		{3, 200, ""}, // a busy host returns late
	} {
		got := said(one(t, source(test.events, test.at)), trace.ClockOffset)
		if (got == "") != (test.want == "") || !strings.HasSuffix(got, test.want) {
			t.Errorf("%d events at %d us: %q, want %q", test.events, test.at, got, test.want)
		}
	}
}

// TestLostCollectives: steps that ask for as many collectives run as many.
func TestLostCollectives(t *testing.T) {
	rank := func(kinds string, counts ...[2]int) *Rank {
		r := &Rank{}
		for i, n := range counts {
			s := Step{}
			s.Kind, s.Complete = string(kinds[i]), kinds[i] != '-'
			r.Steps = append(r.Steps, s)
			for range n[0] {
				r.HostCollectives = append(r.HostCollectives, gradients.HostCollective{Step: i})
			}
			for range n[1] {
				r.Collectives = append(r.Collectives, Collective{Step: i, Kind: timeline.AllReduce})
			}
		}
		return r
	}
	for _, test := range []struct {
		name   string
		r      *Rank
		lost   int
		detail string
	}{
		{"all there", rank("aaa", [2]int{4, 4}, [2]int{4, 4}, [2]int{4, 4}), 0, ""},
		{"several kernels of one call", rank("aa", [2]int{4, 8}, [2]int{4, 8}), 0, ""},
		{"one lost", rank("aaa", [2]int{4, 4}, [2]int{4, 3}, [2]int{4, 4}), 1, "ran 11 of 12"},
		{"asks for fewer", rank("aaa", [2]int{4, 4}, [2]int{3, 3}, [2]int{4, 4}), 0, ""},
		{"steps of two kinds", rank("ab", [2]int{4, 4}, [2]int{4, 2}), 0, ""},
		{"a step that is not complete", rank("a-", [2]int{4, 4}, [2]int{4, 2}), 0, ""},
		{"the host asks for nothing", rank("aa", [2]int{0, 4}, [2]int{0, 2}), 0, ""},
	} {
		if n, detail := lostCollectives(test.r); n != test.lost || !strings.HasSuffix(detail, test.detail) {
			t.Errorf("%s: %d, %q", test.name, n, detail)
		}
	}
}

// TestLostHost: how many numbers of operators have to be missing.
func TestLostHost(t *testing.T) {
	for _, test := range []struct{ there, missing, want int }{
		{100, 4, 0}, {100, 5, 5}, {2500, 5, 5}, {2501, 5, 0}, {10_000, 0, 0}, {10_000, 20, 20},
	} {
		if n, _ := lostHost(timeline.Numbers{There: test.there, Missing: test.missing}); n != test.want {
			t.Errorf("%+v: %d", test, n)
		}
	}
}

// TestContradicted: messages of the world that are of another rank than the trace says.
func TestContradicted(t *testing.T) {
	for _, test := range []struct {
		rank, size int
		want       string
	}{
		{1, 4, ""}, {2, 4, "rank 1, whose messages are of rank 2"}, {2, 3, ""}, // of a smaller group
	} {
		r := one(t, fmt.Sprintf("distributed backend=nccl rank=1 world_size=4\n1/1 10us +20us cpu_op "+
			"record_param_comms coll=allreduce in=64 out=64 dtype=Float group=0 gsize=%d \"Rank\"=%d\n",
			test.size, test.rank))
		if got := said(r, trace.SwappedRanks); (got == "") != (test.want == "") || !strings.HasSuffix(got, test.want) {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

// TestThreadClocks: threads whose calls are late by the numbers of the process are said to be.
func TestThreadClocks(t *testing.T) {
	for _, test := range []struct {
		calls, late int
		want        int64
	}{{24, 0, 0}, {24, 9000, 3}, {22, 9000, 0}, {40, 9000, 5}} { // two are too few
		var b strings.Builder
		for i := range test.calls {
			thread, at := 1, 1000*i+20000
			if i%8 == 7 {
				thread, at = 2, at-test.late
			}
			fmt.Fprintf(&b, "1/%d %dus +5us cuda_runtime cudaLaunchKernel corr=%d\n", thread, at, i+1)
			fmt.Fprintf(&b, "0/7 %dus +5us kernel a corr=%d\n", 60000+10*i, i+1)
		}
		if n := times(one(t, b.String()), trace.ThreadClocks); n != test.want {
			t.Errorf("%+v: %d calls", test, n)
		}
	}
}
