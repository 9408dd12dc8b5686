package readertest

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/trace"
)

// Event is one event of a trace as a value, without columns and ids.
type Event struct {
	PID, TID       string
	Start, Dur     int64 // ns
	Phase          trace.Phase
	Cat, Name      string
	Corr, External int64
	Args           map[string]string // by key, see Int, Text and JSON; nil where there are none
	Parent         int               // index of the innermost event around it, -1 where there is none
}

// Int is the value of an argument that is an integer.
func Int(n int64) string { return "integer " + strconv.FormatInt(n, 10) }

// Text is the value of an argument that is text.
func Text(s string) string { return "text " + s }

// JSON is the value of any other argument, without spaces.
func JSON(text string) string { return "JSON " + text }

// Where the events of the canonical trace stand: two threads of a host process, and two
// streams of device 0.
const (
	hostPID     = "4711"
	mainTID     = "4711"
	autogradTID = "4795"
	devicePID   = "0"
	computeTID  = "7"
	commTID     = "20"

	// The profiler puts its own span on a track of its own.
	profilerPID = "Spans"
	profilerTID = "PyTorch Profiler"
)

// beginning is so late that a float64 of microseconds could not hold its nanoseconds.
const beginning = 9_322_354_330_209_767 // ns

// generator writes the canonical trace. now only grows, so events that it writes one
// within the other are nested, and all others are not.
type generator struct {
	events []Event
	now    int64 // ns
	corr   int64 // the last one given
	ext    int64
}

// Events are those of the canonical trace, in the order of a Trace: rank 1 of 2 takes two
// optimizer steps of two micro-batches. Each backward pass adds to the gradient of the one
// parameter; a hook in the last one reduces it over ranks, which runs on a stream of its
// own. The gradient is scaled before the optimizer. Around that stands one of each other
// kind of event that analyses know of.
func Events() []Event {
	g := &generator{now: beginning, corr: 100, ext: 500}
	for step := range 2 {
		g.span(mainTID, "user_annotation", "ProfilerStep#"+strconv.Itoa(step), nil, func() {
			g.microBatch(step, false)
			g.microBatch(step, true)
			g.update()
		})
	}
	g.others()
	return inOrder(g.events)
}

// microBatch writes a forward pass on the main thread and a backward pass on its own.
func (g *generator) microBatch(step int, last bool) {
	g.operator(mainTID, "aten::linear", "[[8,64],[32,64]]", func() {
		g.launch(mainTID, "cudaLaunchKernel", computeTID, "void gemm<float, 128>(float const*, float*)", 5_003)
	})
	g.span(autogradTID, "cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", nil, func() {
		g.operator(autogradTID, "aten::mm", "[[32,8],[8,64]]", func() {
			g.launch(autogradTID, "cudaLaunchKernel", computeTID, "void gemm<float, 64>(float const*, float*)", 7_001)
		})
	})
	g.span(autogradTID, "cpu_op", "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", nil, func() {
		g.operator(autogradTID, "torch::autograd::AccumulateGrad", "[[32,64]]", func() {
			g.operator(autogradTID, "aten::add_", "[[32,64],[32,64]]", func() {
				g.launch(autogradTID, "cudaLaunchKernel", computeTID, "void add<float>(int, float*)", 2_000)
			})
		})
		if last {
			g.allReduce(step)
		}
	})
}

// allReduce writes what a hook of DDP does, and the kernel, which runs on a stream of its
// own.
func (g *generator) allReduce(step int) {
	args := map[string]string{
		"Collective name": Text("allreduce"), "In msg nelems": Int(2048), "Out msg nelems": Int(2048),
		"dtype": Text("Float"), "Rank": Int(1), "Seq": Int(int64(step + 1)), "Group size": Int(2),
		"Process Group Name": Int(0), "Process Group Description": Text("default_pg"),
		"Process Group Ranks": Text("[0, 1]"),
	}
	g.span(autogradTID, "cpu_op", "record_param_comms", args, func() {
		const kernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
		g.launch(autogradTID, "cudaLaunchKernelExC", commTID, kernel, 20_009)
	})
}

// update writes the scaling of the gradient and the optimizer, which updates the parameter
// and clears its gradient.
func (g *generator) update() {
	g.operator(mainTID, "aten::mul_", "[[32,64],[]]", func() {
		g.launch(mainTID, "cudaLaunchKernel", computeTID, "void mul<float>(int, float*)", 2_500)
	})
	g.span(mainTID, "user_annotation", "Optimizer.step#SGD.step", nil, func() {
		g.operator(mainTID, "aten::add_", "[[32,64],[32,64]]", func() {
			g.launch(mainTID, "cudaLaunchKernel", computeTID, "void update<float>(int, float*)", 3_000)
		})
	})
	g.span(mainTID, "user_annotation", "Optimizer.zero_grad#SGD.zero_grad", nil, func() {
		g.device(g.call(mainTID, "cudaMemsetAsync"), computeTID, "gpu_memset", "Memset (Device)", 1_000, Int(8192))
	})
}

// others writes events that decide nothing, but must not be taken for others.
func (g *generator) others() {
	copied := g.call(mainTID, "cudaMemcpyAsync")
	g.device(copied, computeTID, "gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 1_500, Int(4))
	g.span(mainTID, "cuda_runtime", "cudaDeviceSynchronize", nil, func() {})
	g.span(mainTID, "python_function", "train.py(12): log", nil, func() {})
	g.span(mainTID, "", PairedName, nil, func() {})
	g.add(Event{
		PID: hostPID, TID: mainTID, Start: g.now, Phase: trace.Instant, Cat: "cpu_instant_event", Name: "[memory]",
		Args: map[string]string{"Bytes": Int(-512), "Total": JSON("1.5")},
	})
	g.now += 1_000
	g.add(Event{
		PID: hostPID, TID: mainTID, Start: g.now, Phase: trace.Counter, Name: "queue",
		Args: map[string]string{"length": Int(3)},
	})
	g.now += 1_000
	g.add(Event{
		PID: devicePID, TID: computeTID, Start: beginning, Dur: g.now - beginning, Phase: trace.Complete,
		Cat: "gpu_user_annotation", Name: "ProfilerStep#0", External: 499,
	})
	g.add(Event{
		PID: profilerPID, TID: profilerTID, Start: beginning - 1_000, Dur: g.now - beginning + 2_000,
		Phase: trace.Complete, Cat: "Trace", Name: "PyTorch Profiler (0)", Args: map[string]string{"Op count": Int(0)},
	})
}

// PairedName is the event that stands in files as its begin and its end, where the format
// has such.
const PairedName = "load \"batch\" \u00b5"

// operator writes an operator of PyTorch, with the shapes of its inputs.
func (g *generator) operator(tid, name, dims string, body func()) {
	types := `["float","float"]`
	if !strings.Contains(dims, "],") {
		types = `["float"]`
	}
	args := map[string]string{"Input Dims": JSON(dims), "Input type": JSON(types)}
	g.span(tid, "cpu_op", name, args, body)
}

// span writes an event of the host and, within it, what body writes.
func (g *generator) span(tid, cat, name string, args map[string]string, body func()) {
	g.ext++
	i := g.add(Event{
		PID: hostPID, TID: tid, Start: g.now, Phase: trace.Complete, Cat: cat, Name: name, Args: args, External: g.ext,
	})
	g.now += 1_001
	body()
	g.now += 1_000
	g.events[i].Dur = g.now - g.events[i].Start
	g.now += 500
}

// launch writes a call that launches a kernel, and the kernel.
func (g *generator) launch(tid, call, stream, kernel string, dur int64) {
	g.device(g.call(tid, call), stream, "kernel", kernel, dur, "")
}

// call writes a call of the runtime and returns its index.
func (g *generator) call(tid, name string) int {
	g.corr++
	i := g.add(Event{
		PID: hostPID, TID: tid, Start: g.now, Dur: 900, Phase: trace.Complete, Cat: "cuda_runtime", Name: name,
		Corr: g.corr, External: g.ext,
	})
	g.now += 1_000
	return i
}

// device writes the work that a call launched, and the flow from one to the other.
func (g *generator) device(call int, stream, cat, name string, dur int64, bytes string) {
	from := g.events[call]
	args := map[string]string{"device": Int(0), "stream": "integer " + stream}
	if bytes != "" {
		args["bytes"] = bytes
	}
	start := g.now + 4_000
	g.now = start + dur
	g.add(Event{
		PID: devicePID, TID: stream, Start: start, Dur: dur, Phase: trace.Complete, Cat: cat, Name: name, Args: args,
		Corr: from.Corr, External: from.External,
	})
	flow := Event{PID: from.PID, TID: from.TID, Start: from.Start, Cat: "ac2g", Name: "ac2g", Corr: from.Corr}
	flow.Phase = trace.FlowStart
	g.add(flow)
	flow.PID, flow.TID, flow.Start, flow.Phase = devicePID, stream, start, trace.FlowEnd
	g.add(flow)
}

func (g *generator) add(e Event) int {
	g.events = append(g.events, e)
	return len(g.events) - 1
}

// inOrder puts events in the order of a Trace and finds their parents: of the events of a
// track that are open at a start, the one that began last.
func inOrder(events []Event) []Event {
	slices.SortStableFunc(events, func(x, y Event) int {
		return cmp.Or(cmp.Compare(number(x.PID), number(y.PID)), cmp.Compare(number(x.TID), number(y.TID)),
			cmp.Compare(x.Start, y.Start), cmp.Compare(y.Dur, x.Dur))
	})
	for i := range events {
		events[i].Parent = -1
		for j := range i {
			p := &events[j]
			same := p.PID == events[i].PID && p.TID == events[i].TID
			if same && p.Phase == trace.Complete && p.Start+p.Dur > events[i].Start {
				events[i].Parent = j
			}
		}
	}
	return events
}

// number is the place of a process or thread among others: numbers stand before names.
func number(id string) int {
	if n, err := strconv.Atoi(id); err == nil {
		return n
	}
	return math.MaxInt
}

// Tracks are those of the canonical trace, in its order, without their rows.
func Tracks() []trace.Track {
	device := trace.Track{PID: devicePID, ProcessName: "python", ProcessTags: "GPU 0", Activity: true}
	host := trace.Track{PID: hostPID, ProcessName: "python", ProcessTags: "CPU"}
	on := func(t trace.Track, tid, name string) trace.Track {
		t.TID, t.ThreadName = tid, name
		return t
	}
	return []trace.Track{
		on(device, computeTID, "stream 7"), on(device, commTID, "stream 20"),
		on(host, mainTID, "thread 4711 (python)"), on(host, autogradTID, "thread 4795 (pt_autograd_0)"),
		{PID: profilerPID, TID: profilerTID},
	}
}

// Meta is what the canonical trace says of itself as a whole, as far as analyses ask.
func Meta() trace.Meta {
	events := Events()
	window := events[len(events)-1]
	return trace.Meta{
		BaseTime: 1_700_000_000_000_000_000,
		Devices:  []trace.Device{{ID: 0, Name: "NVIDIA H100 80GB HBM3", MemoryBytes: 85_028_634_624}},
		Distributed: &trace.Distributed{
			Backend: "nccl", Rank: 1, WorldSize: 2,
			Groups: []trace.ProcessGroup{{Name: "0", Desc: "default_pg", Size: 2, Ranks: []int64{0, 1}}},
		},
		WindowStart: window.Start,
		WindowEnd:   window.Start + window.Dur,
	}
}
