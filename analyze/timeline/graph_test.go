package timeline

import (
	"fmt"
	"strings"
	"testing"
)

// TestGraphSites: what annotations of the capture say of a part of a graph decides; else the
// graph does, with its own launch site for a name.
func TestGraphSites(t *testing.T) {
	const inStep = "1/1 50 +90 user_annotation Optimizer.step#A.step\n"
	const inBackward = "1/1 50 +90 cpu_op \"autograd::engine::evaluate_function: CompiledFunctionBackward\"\n"
	for _, c := range []struct {
		name, around, launch, args string
		want                       LaunchSite
	}{
		{"nothing known", "", "cudaGraphLaunch", "", LaunchSite{Site: SiteGraph}},
		{"launched in the optimizer", inStep, "cudaGraphLaunch", "", LaunchSite{SiteGraph, "optimizer_step A"}},
		{"launched in backward", inBackward, "cudaGraphLaunch", "", LaunchSite{SiteGraph, "backward_hook"}},
		{"of HIP", inStep, "hipGraphLaunch", "", LaunchSite{SiteGraph, "optimizer_step A"}},
		{"by the driver", inStep, "cuGraphLaunch", "", LaunchSite{SiteGraph, "optimizer_step A"}},
		{"with a suffix", "", "cudaGraphLaunch_ptsz", "", LaunchSite{Site: SiteGraph}},
		{"no graph", inStep, "cudaLaunchKernel", "module=wq", LaunchSite{SiteOptimizerStep, "A"}},
		{"a module", inStep, "cudaGraphLaunch", "module=layers.0.attention.wq",
			LaunchSite{SiteAnnotation, "layers.0.attention.wq"}},
		{"a region", inStep, "cudaGraphLaunch", `"name"="phase A"`, LaunchSite{SiteAnnotation, "phase A"}},
		{"a module in a region", "", "cudaGraphLaunch", `"name"=loss module=head`, LaunchSite{SiteAnnotation, "head"}},
		{"backward", inStep, "cudaGraphLaunch", "module=head phase=backward", LaunchSite{Site: SiteBackwardHook}},
		{"another phase", inStep, "cudaGraphLaunch", "phase=forward", LaunchSite{SiteGraph, "optimizer_step A"}},
		{"a region named like a span of backward", inStep, "cudaGraphLaunch",
			`"name"="autograd::engine::evaluate_function: MmBackward0" module=head`,
			LaunchSite{Site: SiteBackwardHook}},
		{"a region named like a step", "", "cudaGraphLaunch", `"name"=Optimizer.step#B.step phase=backward`,
			LaunchSite{SiteOptimizerStep, "B"}},
		{"a region named like one of FSDP", "", "cudaGraphLaunch", `"name"="FSDP::post_backward_reduce"`,
			LaunchSite{SiteFrameworkHook, "FSDP::post_backward_reduce"}},
		{"only spaces", "", "cudaGraphLaunch", `"name"="  " module=""`, LaunchSite{Site: SiteGraph}},
		{"a number", "", "cudaGraphLaunch", `module=7`, LaunchSite{SiteAnnotation, "7"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := only(t, fmt.Sprintf("%s1/1 100 +5 cuda_runtime %s corr=1\n"+
				"0/9 200 +30 kernel ncclDevKernel_ReduceScatter_Sum_f32_RING_LL corr=1 graph=3 %s\n",
				c.around, c.launch, c.args))
			d := r.Devices[0]
			got := r.SiteOf(d.Launch[0])
			if r.Replayed(d.Rows[0], d.Launch[0]) {
				got = r.GraphSite(d.Rows[0], got)
			}
			if got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// TestReplayedWithoutLaunch: where the launch is not in the recording the graph's number
// tells; 0, text and lists are none.
func TestReplayedWithoutLaunch(t *testing.T) {
	for args, want := range map[string]bool{
		"": false, "graph=0": false, "graph=12": true, "graph=9007199254740993": true,
		`graph="many"`: false, "graph=[1]": false, "graph=null": false, "graph=1.5": false,
	} {
		d := only(t, "0/9 200 +30 kernel k corr=1 "+args).Devices[0]
		r := only(t, "0/9 200 +30 kernel k corr=1 "+args)
		if got := r.Replayed(d.Rows[0], d.Launch[0]); got != want {
			t.Errorf("%q: %v", args, got)
		}
	}
}

// TestGraphKinds: the message that annotations merge into a part of a graph gives the kind
// where the kernel's name does not, and its size; tools write the numbers as texts.
func TestGraphKinds(t *testing.T) {
	const launch = "1/1 100 +5 cuda_runtime cudaGraphLaunch corr=1\n"
	for _, c := range []struct {
		kernel, args string
		kind         CollectiveKind
		bytes        int64
	}{
		{"ncclDevKernel_Generic_1", "coll=_reduce_scatter_base in=80 out=10 dtype=bfloat16", ReduceScatter, 160},
		{"ncclDevKernel_SendRecv", "coll=all_to_allv in=80 out=80 dtype=float32", AllToAll, 320},
		{"ncclDevKernel_Generic_1", "", UnknownCollective, -1},
		{"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "coll=allreduce in=8 out=8 dtype=float64", AllReduce, 64},
		// Copies that belong to a collective are marked with it, and are none themselves.
		{"elementwise_kernel", "coll=_allgather_base in=8 out=8 dtype=Float", NotCommunication, 32},
	} {
		r := only(t, fmt.Sprintf("%s0/9 200 +30 kernel %s corr=1 graph=3 %s\n", launch, c.kernel, c.args))
		d := r.Devices[0]
		if m := r.MessageOf(d.Rows[0], d.Launch[0]); d.Kind[0] != c.kind || m.Bytes != c.bytes {
			t.Errorf("%s %s: %s of %d bytes, want %s of %d", c.kernel, c.args, d.Kind[0], m.Bytes, c.kind, c.bytes)
		}
	}
}

// TestManyStreams: a graph runs on hundreds of streams with two kernels each. All are one
// device, all are launched by the replay, and nothing is wrong with that.
func TestManyStreams(t *testing.T) {
	var b strings.Builder
	b.WriteString("1/1 100 +5 cuda_runtime cudaGraphLaunch corr=1\n")
	for stream := range 300 {
		fmt.Fprintf(&b, "0/%d %d +5 kernel k corr=1 graph=3\n0/%[1]d %[3]d +5 kernel k corr=1 graph=3\n",
			1000+stream, 200+stream, 600+stream)
	}
	x := index(t, b.String())
	if l := x.Ranks[0].Links; len(x.Ranks) != 1 || len(x.Ranks[0].Devices) != 1 || l.Events != 600 ||
		l.Unlinked+l.Duplicates+len(l.Impossible) > 0 || len(x.Problems) > 0 {
		t.Errorf("%d ranks, %+v, %v", len(x.Ranks), l, x.Problems)
	}
}

// TestCounters: samples of performance monitors stand on rows of their own. They are no
// activity and make neither a host nor a device; nor does the profiler's own work.
func TestCounters(t *testing.T) {
	r := only(t, `
1/1 1 +5 cuda_runtime cudaLaunchKernel corr=1
0/7 10 +1 kernel a corr=1
"GPU 0 Counters"/0 5 C counter "SM active (%)" ""=80.5
"GPU 0 Counters"/0 9 C counter "SM active (%)" ""=81
0/0 6 C counter "DRAM read" "value"=3
-1/0 1 +9 overhead "Activity Buffer Request" corr=1
0/7 10 +1 cuda_profiler_range a "smsp__inst_executed.sum"=3`)
	if len(r.Devices) != 1 || len(r.Devices[0].Rows) != 1 || len(r.Host) != 1 || r.Links.Events != 1 {
		t.Errorf("%d devices, %d host threads, %+v", len(r.Devices), len(r.Host), r.Links)
	}
}
