package sim

import (
	"math/rand/v2"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/trace/graph"
)

// dev is the device of one rank, and its host.
type dev struct {
	*run
	rank  int
	slow  float64         // factor of the duration of kernels, at least 1
	pace  float64         // the same, by chance, of the current step
	to    device.Recorder // nil if nobody wants to know
	noise *rand.Rand      // nil without any

	program
	hostSide
	outcome
	memory *allocator
}

// program is what the program of a rank enqueues, as a graph of this rank alone.
type program struct {
	g        graph.Graph
	role     []graph.Role // by node
	domain   []int32      // by resource: 0 for streams, -1 for the host
	priority []int8       // by resource
	streams  []*stream
	meetings []meeting
}

// hostSide is the host of a rank.
type hostSide struct {
	host        int32      // its resource
	last        graph.Node // its last call
	think       int64      // ns since the end of that
	correlation int64
	spans       int64   // opened so far
	ranges      []int64 // external ids of open ranges, innermost last
	journal     journal
}

// outcome is what is known when the run has been simulated.
type outcome struct {
	times *graph.Times
	all   *graph.Graph // of all ranks; nil if it is that of this one
	first graph.Node   // of this rank in it
	base  int64        // ns since the Unix epoch at time 0
}

var _ device.Device = (*dev)(nil)

// stream is a queue of operations.
type stream struct {
	id       int
	resource int32
	last     graph.Node // its last operation; noNode for none
	pending  []mark     // that the next operation has to wait for
	ops      []graph.Node
}

// ID implements device.Stream.
func (s *stream) ID() int { return s.id }

// mark is a recorded event: it has happened when a node has ended.
type mark struct {
	node        graph.Node // noNode: at once
	stream      int
	correlation int64 // of its cudaEventRecord
}

// Properties implements device.Device.
func (d *dev) Properties() device.Properties {
	m := d.machine
	return device.Properties{Backend: "sim", Name: m.Name, Memory: int64(m.values[memory]), SMs: int(m.values[sms]),
		Capability: m.values[capability]}
}

// StreamCreateWithPriority implements device.Device.
func (d *dev) StreamCreateWithPriority(priority int) device.Stream {
	s := &stream{id: device.StreamID(len(d.streams)), resource: d.g.AddResource(), last: noNode}
	d.domain, d.priority = append(d.domain, 0), append(d.priority, int8(-priority))
	d.streams = append(d.streams, s)
	return s
}

// op is an operation to put on a stream.
type op struct {
	call    string
	calling float64 // ns that the call takes
	kind    string
	name    string
	ns      float64
	role    graph.Role
	flops   int64
	bytes   int64
	message *device.Message
}

// enqueue puts an operation on a stream.
func (d *dev) enqueue(on device.Stream, o op) graph.Node {
	s := on.(*stream)
	call := d.call(o.calling)
	if at := len(s.ops) - int(d.figure(queue)); at >= 0 {
		d.g.Connect(s.ops[at], call, graph.Queue, 0)
	}
	correlation := d.wrote(o.call, call)
	n := d.put(s, int64(max(1, o.ns)), o.role, int64(d.figure(gap)))
	d.g.Connect(call, n, graph.Launch, int64(d.figure(start)))
	s.ops = append(s.ops, n)
	if d.to != nil {
		d.journal.ops.add(madeOp{n, o.kind, d.known.name(o.name), s.id, correlation, d.external(), o.flops, o.bytes,
			o.message})
	}
	return n
}

// put adds a node to a stream, behind all that the stream waits for.
func (d *dev) put(s *stream, ns int64, role graph.Role, lag int64) graph.Node {
	n := d.g.Add(s.resource, ns)
	d.role = append(d.role, role)
	if before := d.g.Before[n]; before != graph.None {
		d.g.Lag[before] = lag
	}
	for _, e := range s.pending {
		if e.node != noNode && e.node != s.last {
			d.g.Connect(e.node, n, graph.Event, int64(d.figure(event)))
		}
	}
	s.last, s.pending = n, s.pending[:0]
	return n
}

// Launch implements device.Device.
func (d *dev) Launch(on device.Stream, k device.Kernel) {
	d.operator(d.figure(eager), d.figure(launch), func() device.Span {
		return device.Span{Cat: "cpu_op", Name: k.Op(), Operands: k.Operands()}
	}, func() {
		c := d.machine.cost(k)
		d.enqueue(on, op{call: "cudaLaunchKernel", calling: d.figure(launch), kind: device.KindKernel, name: k.Name(),
			ns: c.ns * d.slow * d.pace * d.chance(), role: c.role, flops: c.flops, bytes: c.bytes})
	})
}

// chance is the factor of a kernel's duration that nothing explains.
func (d *dev) chance() float64 {
	deviation := d.figure(jitter)
	if deviation == 0 {
		return 1
	}
	return max(0.5, 1+deviation*d.noise.NormFloat64())
}

// MemcpyHtoDAsync implements device.Device.
func (d *dev) MemcpyHtoDAsync(s device.Stream, dst *device.Buffer, src device.Host) {
	d.move(s, "Memcpy HtoD (Pinned -> Device)", dst, dst, d.figure(pcie), src.Len())
}

// MemcpyDtoHAsync implements device.Device.
func (d *dev) MemcpyDtoHAsync(s device.Stream, dst device.Host, src *device.Buffer) {
	d.move(s, "Memcpy DtoH (Device -> Pinned)", src, src, d.figure(pcie), dst.Len())
}

// MemcpyDtoDAsync implements device.Device. A copy reads and writes.
func (d *dev) MemcpyDtoDAsync(s device.Stream, dst, src *device.Buffer) {
	d.move(s, "Memcpy DtoD (Device -> Device)", dst, src, d.figure(hbm)*d.figure(copying)/2, 0)
}

// move enqueues a copy. elements are those of the host, 0 for none.
func (d *dev) move(s device.Stream, name string, dst, src *device.Buffer, rate float64, elements int) {
	if elements != 0 && elements != src.N {
		d.fail(d.errorf("%s: %d elements of the host, %d of the device", name, elements, src.N))
	}
	d.operator(d.figure(eager), d.figure(launch), func() device.Span {
		return device.Span{Cat: "cpu_op", Name: "aten::copy_", Operands: []device.Operand{device.Tensor(dst),
			device.Tensor(src)}}
	}, func() {
		d.enqueue(s, op{call: "cudaMemcpyAsync", calling: d.figure(memcpy), kind: device.KindMemcpy, name: name,
			ns: d.moving(src.Bytes(), rate), bytes: src.Bytes()})
	})
}

// moving is how long bytes take at a rate in bytes/s, as an operation of its own.
func (d *dev) moving(bytes int64, rate float64) float64 {
	return max(d.figure(kernel)/2, float64(bytes)/rate*1e9)
}

// MemsetAsync implements device.Device.
func (d *dev) MemsetAsync(s device.Stream, b *device.Buffer) {
	d.operator(d.figure(eager), d.figure(launch), func() device.Span {
		return device.Span{Cat: "cpu_op", Name: "aten::zero_", Operands: []device.Operand{device.Tensor(b)}}
	}, func() {
		d.enqueue(s, op{call: "cudaMemsetAsync", calling: d.figure(memset), kind: device.KindMemset,
			name: "Memset (Device)", ns: d.moving(b.Bytes(), d.figure(hbm)*d.figure(copying)), bytes: b.Bytes()})
	})
}

// EventRecord implements device.Device.
func (d *dev) EventRecord(on device.Stream) device.Event {
	s := on.(*stream)
	if len(s.pending) > 0 { // the event is behind what the stream waits for
		d.put(s, 0, graph.Light, 0)
	}
	call := d.call(d.figure(record))
	return mark{s.last, s.id, d.wrote("cudaEventRecord", call)}
}

// StreamWaitEvent implements device.Device.
func (d *dev) StreamWaitEvent(on device.Stream, e device.Event) {
	s, at := on.(*stream), e.(mark)
	call := d.call(d.figure(wait))
	correlation := d.wrote("cudaStreamWaitEvent", call)
	if d.to != nil {
		tells(&d.journal, toldWait, &d.journal.waits, madeWait{call: call, after: s.last, on: at.node,
			SyncEvent: device.SyncEvent{Kind: device.StreamWait, Stream: s.id, WaitStream: at.stream,
				EventRecord: at.correlation, Correlation: correlation}})
	}
	s.pending = append(s.pending, at)
}

// StreamSynchronize implements device.Device.
func (d *dev) StreamSynchronize(on device.Stream) {
	s := on.(*stream)
	d.hostWait("cudaStreamSynchronize", device.SyncEvent{Kind: device.StreamSync, Stream: s.id, WaitStream: -1},
		d.tail(s)...)
}

// EventSynchronize implements device.Device.
func (d *dev) EventSynchronize(e device.Event) {
	at := e.(mark)
	d.hostWait("cudaEventSynchronize", device.SyncEvent{Kind: device.EventSync, Stream: -1, WaitStream: at.stream,
		EventRecord: at.correlation}, at.node)
}

// DeviceSynchronize implements device.Device.
func (d *dev) DeviceSynchronize() {
	d.hostWait("cudaDeviceSynchronize", device.SyncEvent{Kind: device.ContextSync, Stream: -1, WaitStream: -1},
		d.tails()...)
}

// tail is what a stream has run when it has run everything.
func (d *dev) tail(s *stream) []graph.Node {
	nodes := []graph.Node{s.last}
	for _, e := range s.pending {
		nodes = append(nodes, e.node)
	}
	return nodes
}

func (d *dev) tails() []graph.Node {
	var nodes []graph.Node
	for _, s := range d.streams {
		nodes = append(nodes, d.tail(s)...)
	}
	return nodes
}

// hostWait lets the host wait until nodes have ended.
func (d *dev) hostWait(name string, e device.SyncEvent, on ...graph.Node) {
	call := d.waiting(d.figure(syncing), on...)
	e.Correlation = d.wrote(name, call)
	if d.to != nil {
		tells(&d.journal, toldWait, &d.journal.waits, madeWait{SyncEvent: e, call: call})
	}
}

// waiting is a call that returns some time after nodes have ended.
func (d *dev) waiting(takes float64, on ...graph.Node) graph.Node {
	call := d.call(takes)
	for _, n := range on {
		if n != noNode {
			d.g.Connect(n, call, graph.Sync, 0)
		}
	}
	return call
}

// Err implements device.Device.
func (d *dev) Err() error { return d.failure() }

// Fail implements device.Device.
func (d *dev) Fail(err error) { d.fail(err) }

// Close implements device.Device.
func (d *dev) Close() { d.closed() }
