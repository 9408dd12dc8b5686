package tracegen

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

const (
	startTime = 3_923_968_000_000_000 // ns
	firstPID  = 4711                  // of rank 0
	forward   = 4711                  // thread
	backward  = 4795                  // thread
	compute   = 7                     // stream
	collect   = 20                    // stream
	layers    = 8
	batches   = 2 // micro-batches a step
)

const kernelName = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, " +
	"std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)"

// distinctNames is how many names the shape Names has: more than any cache of a reader.
const distinctNames = 100_000

// generator goes through the training step by step and writes what a profiler would see.
// It is a clock of the host, one for each stream of the device, and the ids given so far.
type generator struct {
	out   output
	run   runOf
	shape Shape
	rng   *rand.Rand // durations

	now      int64 // of the host, ns
	device   int64 // end of what runs on the compute stream, ns
	comm     int64 // end of what runs on the communication stream, ns
	external int   // the last External id
	corr     int   // the last correlation id
	seq      int   // of the last collective
	steps    int   // written or begun
	named    int   // names made distinct
}

// names writes the metadata of the rows.
func (g *generator) names() {
	meta := func(name string, pid, tid int, key, value string) {
		g.out.emit(event{
			fields: []field{
				{"name", quote(name)}, {"ph", `"M"`}, {"ts", micros(startTime)}, {"pid", num(pid)}, {"tid", num(tid)},
			},
			args: []field{{key, value}},
		})
	}
	meta("process_name", g.run.pid, 0, "name", `"python"`)
	meta("process_labels", g.run.pid, 0, "labels", `"CPU"`)
	meta("process_name", g.run.device, 0, "name", `"python"`)
	meta("process_labels", g.run.device, 0, "labels", quote(fmt.Sprintf("GPU %d", g.run.device)))
	meta("thread_name", g.run.pid, forward, "name", `"thread 4711 (python)"`)
	meta("thread_name", g.run.pid, backward, "name", `"thread 4795 (pt_autograd_0)"`)
	meta("thread_name", g.run.device, compute, "name", `"stream 7 "`)
	meta("thread_name", g.run.device, collect, "name", `"stream 20 "`)
}

// step writes one optimizer step.
func (g *generator) step() {
	g.steps++
	start, place := g.now, g.out.hold()
	for batch := range batches {
		for layer := range layers {
			name := fmt.Sprintf("layer_%d", layer)
			g.span(forward, "user_annotation", name, 0, func() { g.linear(forward, "aten::linear") })
		}
		g.now += 20_000
		for layer := range layers {
			g.backwardNode(layers-1-layer, batch == batches-1)
		}
	}
	g.optimizer()
	name := fmt.Sprintf("ProfilerStep#%d", g.steps)
	g.out.fill(place, event{fields: xFields("user_annotation", name, g.run.pid, forward, start, g.now-start)})
	g.now += 5_000
}

// backwardNode writes the backward of one layer; the last one of a step reduces
// the layer's gradient.
func (g *generator) backwardNode(layer int, reduce bool) {
	g.span(backward, "cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 0, func() {
		g.linear(backward, "AddmmBackward0")
		g.linear(backward, "aten::mm")
	})
	g.span(backward, "cpu_op", "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 0, func() {
		g.span(backward, "cpu_op", "torch::autograd::AccumulateGrad", 1024*(layer+1), func() {
			g.launch(backward, compute, "gpu_memcpy", "Memcpy DtoD (Device -> Device)", 1_500, nil)
		})
		if reduce {
			g.collective(backward, g.run.reduceScatter(layer))
		}
	})
}

// linear writes an operator that launches a kernel, by way of the operator that it is
// made of.
func (g *generator) linear(thread int, name string) {
	g.span(thread, "cpu_op", name, 2048, func() {
		g.span(thread, "cpu_op", "aten::addmm", 2048, func() {
			g.launch(thread, compute, "kernel", kernelName, 9_000+g.rng.Int64N(4_000), nil)
		})
	})
}

// optimizer writes the update of all layers, and the collectives behind it.
func (g *generator) optimizer() {
	g.span(forward, "user_annotation", "Optimizer.step#AdamW.step", 0, func() {
		for range layers {
			g.span(forward, "cpu_op", "aten::_fused_adamw_", 1024, func() {
				g.launch(forward, compute, "kernel", kernelName, 6_000, nil)
			})
		}
		g.launch(forward, compute, "gpu_memset", "Memset (Device)", 1_000, nil)
	})
	for _, c := range g.run.behindOptimizer() {
		g.collective(forward, c)
	}
}

// collective writes a collective: annotation, parameters, launch, kernel.
func (g *generator) collective(thread int, c collective) {
	g.seq++
	comm := g.run.describe(c, g.seq)
	g.span(thread, "user_annotation", "nccl:"+c.name, 0, func() {
		start, place := g.now, g.out.hold()
		g.now += 1_000
		g.launch(thread, collect, "kernel", c.kernel, 60_000+g.rng.Int64N(20_000), comm)
		g.external++
		args := append([]field{{"External id", num(g.external)}}, comm...)
		g.out.fill(place, event{
			fields: xFields("cpu_op", "record_param_comms", g.run.pid, thread, start, g.now-start),
			args:   append(args, field{"Rank", num(g.run.rank)}),
		})
	})
}

// span writes an event around what body writes; elements > 0 gives it shapes.
func (g *generator) span(thread int, cat, name string, elements int, body func()) {
	g.external++
	args := []field{{"External id", num(g.external)}, {"Record function id", "0"}}
	if elements > 0 {
		args = append(args,
			field{"Concrete Inputs", `["", "", "", "1", "1"]`},
			field{"Input type", `["float", "float", "float", "Scalar", "Scalar"]`},
			field{"Input Strides", fmt.Sprintf("[[1], [%d, 1], [1, %d], [], []]", elements, elements)},
			field{"Input Dims", fmt.Sprintf("[[%d], [32, %[1]d], [%[1]d, %[1]d], [], []]", elements)})
		if g.shape == Stacks {
			args = append(args, field{"Call stack", quote(g.stack())})
		}
	}
	args = append(args, field{"Ev Idx", num(g.external)})
	start, place := g.now, g.out.hold()
	g.now += 500 + g.rng.Int64N(2_000)
	body()
	g.now += 500 + g.rng.Int64N(1_000)
	if elements > 0 {
		name = g.distinct(name)
	}
	g.out.fill(place, event{fields: xFields(cat, name, g.run.pid, thread, start, g.now-start), args: args})
	g.now += 100
}

// stack is a Python stack of twelve frames: about a kilobyte, of which most repeats.
func (g *generator) stack() string {
	var frames []string
	for i := range 12 {
		frame := fmt.Sprintf("/opt/train/model/block_%d.py(%d): forward_%d", i%layers, 10+i*7, g.rng.IntN(4))
		frames = append(frames, frame)
	}
	return strings.Join(frames, ";")
}

// complete writes one complete event of the host.
func (g *generator) complete(thread int, cat, name string, start, dur int64, args []field) {
	g.out.emit(event{fields: xFields(cat, name, g.run.pid, thread, start, dur), args: args})
}

// xFields are the fields of a complete event, in the order in which Kineto writes them.
// start and dur are in ns.
func xFields(cat, name string, pid, tid int, start, dur int64) []field {
	return []field{{"ph", `"X"`}, {"cat", quote(cat)}, {"name", quote(name)}, {"pid", num(pid)}, {"tid", num(tid)},
		{"ts", micros(start)}, {"dur", micros(dur)}}
}

// launch writes the runtime call, the device event and the flow between them.
func (g *generator) launch(thread, stream int, cat, name string, dur int64, comm []field) {
	g.corr++
	call := map[string]string{
		"kernel": "cudaLaunchKernel", "gpu_memcpy": "cudaMemcpyAsync", "gpu_memset": "cudaMemsetAsync",
	}[cat]
	start, ids := g.now, []field{{"External id", num(g.external)}, {"cbid", "211"}, {"correlation", num(g.corr)}}
	g.now += 3_000 + g.rng.Int64N(1_500)
	g.complete(thread, "cuda_runtime", call, start, g.now-start, ids)
	g.flow("s", g.run.pid, thread, start)
	busy := &g.device
	if stream == collect {
		busy = &g.comm
		*busy = max(*busy, g.device)
	}
	begin := max(*busy, g.now) + g.run.gap
	*busy = begin + dur
	start, end := g.run.shift(uint64(g.corr), comm != nil, begin, begin+dur)
	g.out.emit(event{
		fields: xFields(cat, g.distinct(name), g.run.device, stream, start, end-start),
		args:   append(g.deviceArgs(cat, stream), comm...),
	})
	g.flow("f", g.run.device, stream, start)
}

// deviceArgs are the arguments of the event on a stream that the last call launched.
func (g *generator) deviceArgs(cat string, stream int) []field {
	args := []field{
		{"External id", num(g.external)}, {"device", num(g.run.device)}, {"context", "1"}, {"stream", num(stream)},
		{"correlation", num(g.corr)},
	}
	if cat != "kernel" {
		return append(args, field{"bytes", "4194304"}, field{"memory bandwidth (GB/s)", "1121.3384030418251"})
	}
	return append(args,
		field{"registers per thread", "32"}, field{"shared memory", "0"}, field{"blocks per SM", "15.515152"},
		field{"warps per SM", "62.060608"}, field{"grid", "[2048, 1, 1]"}, field{"block", "[128, 1, 1]"},
		field{"est. achieved occupancy %", "97"})
}

// flow writes one end of the arrow from the last launch to what it launched: ph is s for
// the launch, f for the device event.
func (g *generator) flow(ph string, pid, tid int, ts int64) {
	fields := []field{{"ph", quote(ph)}, {"id", num(g.corr)}, {"pid", num(pid)}, {"tid", num(tid)}, {"ts", micros(ts)},
		{"cat", `"ac2g"`}, {"name", `"ac2g"`}}
	if ph == "f" {
		fields = append(fields, field{"bp", `"e"`})
	}
	g.out.emit(event{fields: fields})
}

// distinct makes a name one of many where the shape asks for it.
func (g *generator) distinct(name string) string {
	if g.shape != Names {
		return name
	}
	g.named++
	return fmt.Sprintf("%s_%d", name, g.named%distinctNames)
}
