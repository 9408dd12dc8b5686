package idle

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// event is one event of a random trace; times are in us. Threads are those of process
// 100, streams those of devices 0 and 1.
type event struct {
	cat, name string
	at        string // process/thread, or device/stream
	start     int
	dur       int
	corr      int // 0 none
}

func (e *event) end() int { return e.start + e.dur }

// dice makes random traces: two threads of a loop, two others, three streams a device, waits,
// loaders, allocations, annotations and what profilers add, nested at random.
type dice struct {
	*rand.Rand
	events  []*event
	corr    int
	streams map[string]int // up to where a stream is busy
	onHost  string         // name of its collectives of the host
	other   int            // the other device, 0 for none
}

func (d *dice) of(from ...int) int { return from[d.IntN(len(from))] }

func (d *dice) add(cat string, names []string, thread, start, dur int) *event {
	e := &event{cat: cat, name: names[d.IntN(len(names))], at: fmt.Sprint("100/", thread), start: start, dur: dur}
	d.events = append(d.events, e)
	return e
}

var (
	launches = []string{
		"cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "hipLaunchKernel", "hipExtLaunchKernel",
	}
	copies    = []string{"Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pinned -> Device)"}
	operators = []string{
		"aten::add", "aten::item", "aten::load_batch", "load_batch", "my fetch_batch", "Data Loading stuff",
		"c10d::barrier", "c10d::monitored_barrier_", "##frame", "backend_compile",
		"entire_frame_compile (dynamo_timed)",
		"get batch x", "Optimizer.zero_grad#SGD.zero_grad", "ProfilerStep*",
	}
	annotations = []string{
		"region", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "enumerate(DataPipe)#x", "get_batch",
		"next batch", "a data_load", "train", "Optimizer.zero_grad#A", "",
	}
	hostCollectives = []string{"gloo:allreduce", "mpi:x", "ucc:y"} // one of them in a trace
	calls           = []string{
		"cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize", "cudaMalloc", "cudaFree", "hipMalloc",
		"cudaMemcpy", "cudaHostAlloc", "cuMemCreate", "hipExtMallocWithFlags", "cudaStreamWaitEvent",
		"cuModuleLoadData", "cudaEventRecord", "cuMemAddressReserve", "hipMemcpyWithStream",
		"cuLinkCreate", "cudaMemPoolCreate",
	}
	overheads = []string{
		"Driver Compiler", "Runtime Triggered Module Loading", "Lazy Function Loading", "Buffer Flush",
		"Command Buffer Full",
	}
)

// launch launches something from a thread and returns when the call ends.
func (d *dice) launch(thread, at int) int {
	cat, names, call := "kernel", []string{"a", "b"}, launches
	switch d.IntN(8) {
	case 0:
		cat, names, call = "gpu_memset", []string{"Memset (Device)"}, []string{"cudaMemsetAsync"}
	case 1, 2:
		cat, names, call = "gpu_memcpy", copies, []string{"cudaMemcpyAsync"}
	}
	d.corr++
	took := d.of(1, 2, 3, 5, 9, 30)
	if d.IntN(50) == 0 {
		took = 1200
	}
	d.add("cuda_runtime", call, thread, at, took).corr = d.corr
	stream := fmt.Sprint(d.of(0, 0, 0, d.other), "/", d.of(7, 7, 7, 20, 21))
	start := at + took + d.of(1, 2, 3, 1, 2, 3, 0, 10, 25, 40)
	if d.IntN(20) == 0 {
		start = at + d.IntN(took+1) // clocks: it starts while the call is open
	}
	start = max(start, d.streams[stream]+d.of(0, 0, 1, 2))
	e := d.add(cat, names, 0, start, d.of(0, 1, 3, 10, 40, 100))
	e.at, e.corr = stream, d.corr
	d.streams[stream] = e.end()
	return at + took
}

// work fills a thread from a moment on and returns when it is done.
func (d *dice) work(thread, at, depth int) int {
	for range 1 + d.IntN(4) {
		at += d.of(0, 1, 2, 5, 12, 50)
		if d.IntN(20) == 0 {
			at += d.of(300, 1500)
		}
		switch n := d.IntN(20); {
		case n < 7:
			at = d.launch(thread, at)
		case n < 10:
			at = d.add("cuda_runtime", calls, thread, at, d.of(1, 4, 20, 90, 150)).end()
		case depth < 3:
			start := at
			at = d.work(thread, at+d.of(0, 1, 3), depth+1) + d.of(0, 1, 3, 20)
			switch d.IntN(4) {
			case 0:
				if e := d.add("user_annotation", annotations, thread, start, at-start); e.name == "" {
					e.name = d.onHost
				}
			case 1:
				d.add("python_function", []string{"train.py(3): load_batch"}, thread, start, at-start)
			default:
				d.add("cpu_op", operators, thread, start, at-start)
			}
		}
	}
	return at
}

// randomTrace is a loop of some steps.
func randomTrace(seed uint64) []*event {
	d := &dice{Rand: rand.New(rand.NewPCG(seed, 1)), streams: make(map[string]int)}
	d.onHost, d.other = hostCollectives[d.IntN(3)], d.IntN(2)
	at, others := 10, map[int]int{}
	for range 2 + d.IntN(3) {
		at = d.work(1, at, 0)
		back := at + 1
		d.add("cpu_op", []string{"autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"}, 2, back, 4)
		d.add("cpu_op", []string{"torch::autograd::AccumulateGrad"}, 2, back+1, 2)
		at = d.work(2, back+5, 1) + d.IntN(5)
		for thread := 3; thread <= 4; thread++ {
			if d.IntN(2) == 0 {
				others[thread] = d.work(thread, max(others[thread], at-d.IntN(300)), thread-3) + 1
			}
		}
		if d.IntN(2) == 0 {
			others[99] = d.add("overhead", overheads, 99, max(others[99], at-100), 1+d.IntN(200)).end()
		}
		start := at + 1
		at = d.work(1, d.launch(1, start+d.IntN(4)), 2) + 1
		d.add("user_annotation", []string{"Optimizer.step#SGD.step"}, 1, start, at-start)
		at += d.of(0, 1, 5)
	}
	for range d.IntN(4) { // launched before the recording
		d.add("kernel", []string{"unlinked"}, 0, d.IntN(at), d.of(0, 1, 7, 20)).at = "0/33"
	}
	return d.events
}

// textOfEvents is a trace in the syntax of trace/text.
func textOfEvents(events []*event) string {
	var b strings.Builder
	b.WriteString("device 0 \"NVIDIA H100 80GB HBM3\"\ndevice 1 \"NVIDIA H100 80GB HBM3\"\n")
	for _, e := range events {
		fmt.Fprintf(&b, "%s %dus +%dus %s %q", e.at, e.start, e.dur, e.cat, e.name)
		if e.corr > 0 {
			fmt.Fprintf(&b, " corr=%d", e.corr)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
