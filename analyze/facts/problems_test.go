package facts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// launched is n launch calls and their kernels, one after the other: the first long of them last
// length, the others 5 us.
func launched(n, long int, length string) string {
	var b strings.Builder
	for i := range n {
		dur := "5us"
		if i < long {
			dur = length
		}
		fmt.Fprintf(&b, "1/1 %dms +%s cuda_runtime cudaLaunchKernel corr=%d\n", 10*i, dur, i+1)
		fmt.Fprintf(&b, "0/7 %dms +1us kernel k corr=%d\n", 10*i+9, i+1)
	}
	return b.String()
}

// kernels is n kernels without launches, the first long of which last length.
func kernels(n, long int, length string) string {
	var b strings.Builder
	for i := range n {
		dur := "1us"
		if i < long {
			dur = length
		}
		fmt.Fprintf(&b, "0/7 %dms +%s kernel k\n", 10*i, dur)
	}
	return b.String()
}

// stepsOfLaunches is two steps; the kernels of the given launches are not recorded. Launches 1 to
// 3 are in the first step, which is not complete, 4 to 7 in the second.
func stepsOfLaunches(missing ...int) string {
	var b strings.Builder
	b.WriteString(`
1/1 1us +1us cpu_op torch::autograd::AccumulateGrad
1/1 20us +5us user_annotation Optimizer.step#A.step
1/1 31us +1us cpu_op torch::autograd::AccumulateGrad
1/1 32us +1us cpu_op torch::autograd::AccumulateGrad
1/1 50us +5us user_annotation Optimizer.step#A.step
1/1 60us +1us cuda_runtime cudaLaunchKernel corr=8
`)
	for i, at := range []int{5, 7, 9, 25, 41, 43, 45} {
		fmt.Fprintf(&b, "1/1 %dus +1us cuda_runtime cudaLaunchKernel corr=%d\n", at, i+1)
		gone := false
		for _, m := range missing {
			gone = gone || m == i+1
		}
		if !gone {
			fmt.Fprintf(&b, "0/7 %dus +1us kernel k corr=%d\n", at+3, i+1)
		}
	}
	return b.String()
}

// overlongAmong is kernels of two streams, one of each over the starts of many others.
func overlongAmong(first, second string) string {
	var b strings.Builder
	for i := range 12 {
		one, two := "10", "10"
		if i == 0 {
			one, two = first, second
		}
		fmt.Fprintf(&b, "0/7 %d +%s kernel gemm\n1/8 %d +%s kernel \"void add<float>(int)\"\n", 100+10*i, one,
			100+10*i, two)
	}
	return b.String()
}

// launchedAt is kernels of one stream, each from when on and for how long in ns, and their launches.
func launchedAt(kernels ...[2]int) string {
	var b strings.Builder
	for i, k := range kernels {
		fmt.Fprintf(&b, "1/1 %d +101 cuda_runtime cudaLaunchKernel corr=%d\n0/7 %d +%d kernel k corr=%d\n", 1000*i,
			i+1, k[0],
			k[1], i+1)
	}
	return b.String()
}

// TestProblems: what is said of recordings that are not what they seem, and where nothing is.
func TestProblems(t *testing.T) {
	const step = "1/1 100ms +1ms user_annotation ProfilerStep#3\n1/1 250ms +1s user_annotation ProfilerStep#4\n"
	const unlinked = "unlinked_device_events 20 "
	for _, test := range []struct{ name, source, want string }{
		{"most launches last a millisecond", launched(20, 11, "1ms"),
			"suspect_time_unit 1 most launches last a millisecond or more"},
		{"just below", launched(20, 11, "999999"), ""},
		{"half of them", launched(20, 10, "1ms"), ""},
		{"too few", launched(19, 19, "1ms"), ""},
		{"with steps, the longest is said", launched(20, 11, "1ms") + step,
			"steps_from_profiler 2 / suspect_time_unit 1 most launches last " +
				"a millisecond or more, the longest step 1.1 s"},
		{"most launches last less than 10 ns", launched(20, 11, "9"),
			"suspect_time_unit 1 most launches last less than 10 ns"},
		{"10 ns", launched(20, 11, "10"), ""},
		{"no time at all", launched(20, 11, "0"), ""},
		{"1 ns", launched(20, 11, "1"), "suspect_time_unit 1 most launches last less than 10 ns"},
		{"half last less", launched(20, 10, "9"), ""},
		{"too few last less", launched(19, 19, "9"), ""},
		{"kernels without launches", kernels(20, 11, "5ms"),
			unlinked + "/ suspect_time_unit 1 most device events last 5 ms or more"},
		{"just below 5 ms", kernels(20, 11, "4999us"), strings.TrimSpace(unlinked)},
		{"half of the kernels", kernels(20, 10, "5ms"), strings.TrimSpace(unlinked)},
		{"long kernels of short launches", strings.ReplaceAll(launched(20, 0, ""), "+1us", "+6ms"), ""},
		{"too few launches to tell",
			strings.ReplaceAll(launched(19, 0, ""), "+1us", "+6ms") + "0/7 300ms +6ms kernel k",
			"unlinked_device_events 1 / suspect_time_unit 1 most device events last 5 ms or more"},
		{"too few kernels", kernels(19, 19, "5ms"), "unlinked_device_events 19"},
		{"launches decide where there are any", launched(20, 0, "") + strings.ReplaceAll(kernels(19, 19, "5ms"),
			"0/7", "0/9"),
			"unlinked_device_events 19"},

		{"a kernel in 4 is missing", stepsOfLaunches(5), "lost_device_events 1 1 of 4 in complete steps"},
		{"two are", stepsOfLaunches(4, 7), "lost_device_events 2 2 of 4 in complete steps"},
		{"none is missing", stepsOfLaunches(), ""},
		{"missing in a step whose beginning is not recorded", stepsOfLaunches(1, 3), ""},

		{"quarter of the events last no time", kernels(20, 5, "0"), strings.TrimSpace(unlinked)},
		{"more than a quarter", kernels(20, 6, "0"), unlinked + "/ device_events_of_no_length 6 6 of 20"},
		{"hardly more than a quarter", kernels(40, 11, "0"),
			"unlinked_device_events 40 / device_events_of_no_length 11 11 of 40"},
		{"more than a quarter of a few", kernels(19, 6, "0"), "unlinked_device_events 19"},
		{"a collective never lasts no time",
			"0/7 1us +0 kernel ncclDevKernel_AllReduce_Sum_f32_RING_LL\n0/8 1us +0 kernel k",
			"unlinked_device_events 2 / device_events_of_no_length 1 collectives"},
		{"a collective of less than 10 ns", "0/7 1us +9 kernel ncclDevKernel_AllReduce_Sum_f32_RING_LL\n0/8 1us +1us " +
			"kernel k", "unlinked_device_events 2 / device_events_of_no_length 1 collectives"},
		{"a collective that lasts", "0/7 1us +10 kernel ncclDevKernel_AllReduce_Sum_f32_RING_LL\n0/8 1us +0 kernel k",
			"unlinked_device_events 2"},

		{"a rank of the world", "distributed backend=nccl rank=1 world_size=2\n1/1 1us +1us cpu_op a", ""},
		{"a world that does not have the rank", "distributed backend=nccl rank=2 world_size=2\n1/1 1us +1us cpu_op a",
			"unreadable_world_size 1 rank 2 of 2"},
		{"a world of none", "distributed backend=nccl rank=0 world_size=0\n1/1 1us +1us cpu_op a",
			"unreadable_world_size 1 rank 0 of 0"},
		{"no rank of none", "distributed backend=nccl rank=-1 world_size=0\n1/1 1us +1us cpu_op a",
			"unreadable_world_size 1 rank -1 of 0"},

		{"twice the same", "1/1 1us +1us cuda_runtime cudaLaunchKernel corr=1\n" +
			strings.Repeat("0/7 5us +3us kernel k corr=1\n", 3), "repeated_device_events 2"},
		{"every delay over ten seconds", "1/1 1us +1us cuda_runtime cudaLaunchKernel corr=1\n" +
			"1/1 5us +1us cuda_runtime cudaLaunchKernel corr=2\n" +
			"0/7 12s +3us kernel k corr=1\n0/7 11s +3us kernel k corr=2", "device_clock_ahead 2 the least is 11.0 s"},
		{"ten seconds", "1/1 0 +1us cuda_runtime cudaLaunchKernel corr=1\n0/7 10s +3us kernel k corr=1", ""},
		{"one delay is short", "1/1 1us +1us cuda_runtime cudaLaunchKernel corr=1\n" +
			"1/1 5us +1us cuda_runtime cudaLaunchKernel corr=2\n" +
			"0/7 12s +3us kernel k corr=1\n0/7 9us +3us kernel k corr=2", ""},
		{"long delays where the unit is wrong anyway", strings.ReplaceAll(strings.ReplaceAll(launched(20, 20, "2ms"),
			"0/7 ", "0/7 9"), "ms +1us kernel", "s +1us kernel"),
			"suspect_time_unit 1 most launches last a millisecond or more"},

		{"the recorder dropped events", "recording dropped=3\n0/7 5us +3us kernel k",
			"unlinked_device_events 1 / dropped_device_events 3"},
		{"ProfilerStep", "1/1 1us +9us user_annotation ProfilerStep#3\n1/1 12us +9us user_annotation ProfilerStep#4",
			"steps_from_profiler 2"},
		{"events of two ranks", `
1/1 0 +9 cpu_op record_param_comms coll=allreduce in=8 out=8 dtype=Float rank=3 gsize=4
1/1 10 +9 cpu_op record_param_comms coll=allreduce in=8 out=8 dtype=Float rank=1 gsize=4`,
			"several_ranks_in_one_process 2 ranks [1 3]"},
		{"before their launches", `
1/1 10 +2 cuda_runtime cudaLaunchKernel corr=1
1/1 20 +2 cuda_runtime cudaLaunchKernel corr=2
0/7 9 +1 kernel early corr=1
0/7 19 +1 kernel too corr=2`, "impossible_device_event 2 early"},

		{"one cannot have lasted so long", overlongAmong("3000000", "2"),
			"overlong_device_event 1 gemm on stream 7 of device 0, recorded with 3.00 ms / unlinked_device_events 24"},
		{"the longest of two", overlongAmong("2500000000", "3ms"),
			"overlong_device_event 2 gemm on stream 7 of device 0, recorded with 2.5 s / unlinked_device_events 24"},
		{"the longest is the second", overlongAmong("999999999", "1s"),
			"overlong_device_event 2 add<float> on stream 8 of device 1, recorded " +
				"with 1.0 s / unlinked_device_events 24"},
		{"two messages that cannot", strings.NewReplacer("1/8", "0/8", "gemm",
			"ncclDevKernel_AllReduce_Sum_f32_RING_LL",
			`"void add<float>(int)"`, "ncclDevKernel_AllReduce_Sum_f32_RING_LL").Replace(overlongAmong("3ms", "4ms")),
			"overlong_device_event 2 ncclDevKernel_AllReduce_Sum_f32_RING_LL on stream 8 of device 0, recorded with " +
				"4.00 ms / unlinked_device_events 24"},
		{"kernels of one stream at once", launchedAt([2]int{1_000_001, 1_000_000}, [2]int{1_010_001, 1_000_000},
			[2]int{1_020_001, 1_000_000}), "overlapping_device_events 1 for 66 % of their time"},
		{"a twentieth of them", launchedAt([2]int{1_000_001, 1_000_000}, [2]int{1_900_001, 1_000_000}),
			"overlapping_device_events 1 for 5 % of their time"},
		{"less than that", launchedAt([2]int{1_000_001, 1_000_000}, [2]int{1_900_001, 1_000_001}), ""},
		{"less than a tenth of a millisecond", launchedAt([2]int{1_000_001, 100_000}, [2]int{1_000_002, 100_000}), ""},
		{"an hour", overlongAmong("3600s", "2"),
			"overlong_device_event 1 gemm on stream 7 of device 0, recorded with " +
				"1.0 hours / unlinked_device_events 24"},
		{"less than an hour", overlongAmong("3599s", "2"),
			"overlong_device_event 1 gemm on stream 7 of device 0, recorded with 3599.0 s / unlinked_device_events 24"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var said []string
			for _, r := range compute(t, test.source) {
				for _, p := range r.Problems {
					said = append(said, strings.TrimSpace(fmt.Sprintf("%s %d %s", p.Code, p.Count, p.Detail)))
				}
			}
			if got := strings.Join(said, " / "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestOfTheWholeTrace: the problems of the trace itself stand before those of its ranks.
func TestOfTheWholeTrace(t *testing.T) {
	r := one(t, "problem bad_escape count=3\nrecording dropped=1\n0/7 5us +3us kernel k")
	if len(r.Problems) != 3 || r.Problems[0].Code != trace.BadEscape || r.Problems[0].Count != 3 {
		t.Errorf("%+v", r.Problems)
	}
}

// TestCollectivesOfSteps: steps that ask for as many collectives as others of their kind run as many on
// their devices.
func TestCollectivesOfSteps(t *testing.T) {
	type step struct {
		kind       string
		complete   bool
		asked, ran int
	}
	for _, test := range []struct {
		what string
		list []step
		want string
	}{
		{"as many each", []step{{"A", true, 2, 3}, {"A", true, 2, 3}}, "0"},
		{"one fewer", []step{{"A", true, 2, 3}, {"A", true, 2, 2}},
			"1 steps that ask for as many collectives as others ran 5 of 6"},
		{"in a step that is not complete", []step{{"A", true, 2, 3}, {"A", false, 2, 2}}, "0"},
		{"more in one that is not complete", []step{{"A", false, 2, 5}, {"A", true, 2, 3}}, "0"},
		{"of another kind", []step{{"A", true, 2, 3}, {"B", true, 2, 2}}, "0"},
		{"that asks for fewer", []step{{"A", true, 2, 3}, {"A", true, 1, 2}}, "0"},
		{"that asks for one", []step{{"A", true, 1, 2}, {"A", true, 1, 1}},
			"1 steps that ask for as many collectives as others ran 3 of 4"},
		{"that ask for none", []step{{"A", true, 0, 3}, {"A", true, 0, 2}}, "0"},
		{"two of two", []step{{"A", true, 2, 3}, {"A", true, 2, 2}, {"A", true, 2, 2}},
			"2 steps that ask for as many collectives as others ran 7 of 9"},
	} {
		r := &Rank{Steps: make([]Step, len(test.list))}
		for i, s := range test.list {
			r.Steps[i].Kind, r.Steps[i].Complete = s.kind, s.complete
			for range s.asked {
				r.HostCollectives = append(r.HostCollectives, gradients.HostCollective{Step: i})
			}
			for range s.ran {
				r.Collectives = append(r.Collectives, Collective{Step: i})
			}
		}
		r.HostCollectives = append(r.HostCollectives, gradients.HostCollective{Step: -1})
		r.Collectives = append(r.Collectives, Collective{Step: -1})
		n, detail := lostCollectives(r)
		if got := strings.TrimSpace(fmt.Sprint(n, " ", detail)); got != test.want {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
	for _, test := range []struct {
		missing, there int
		want           string
	}{{5, 2500, "5 5 of 2505 numbers"}, {4, 10, "0 "}, {5, 2501, "0 "}, {0, 0, "0 "}} {
		n, detail := lostHost(timeline.Numbers{Missing: test.missing, There: test.there})
		if got := fmt.Sprint(n, " ", detail); got != test.want {
			t.Errorf("%d beside %d: %s, want %s", test.missing, test.there, got, test.want)
		}
	}
}

// TestSwapped: messages of another rank than the header names.
func TestSwapped(t *testing.T) {
	r := one(t, "distributed backend=nccl rank=0 world_size=2\n"+
		"1/1 1 +9 cpu_op record_param_comms coll=allreduce in=8 out=8 dtype=Float rank=1 gsize=2\n")
	for _, p := range r.Problems {
		if p.Code == trace.SwappedRanks && p.Count == 1 && p.Detail == "rank 0, whose messages are of rank 1" {
			return
		}
	}
	t.Errorf("%+v", r.Problems)
}
