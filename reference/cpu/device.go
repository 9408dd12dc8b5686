package cpu

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/gaprof/gaprof/reference/device"
)

// dev is the device of one rank.
type dev struct {
	*machine
	rank    int
	slow    float64 // factor for the duration of kernels, at least 1
	log     device.Log
	streams []*stream

	pool                map[pooled][]*device.Block
	allocated, reserved int64
	nextAddr            int64
}

var _ device.Device = (*dev)(nil)

// Properties implements device.Device.
func (d *dev) Properties() device.Properties {
	return device.Properties{Backend: "cpu", Name: runtime.GOOS + "/" + runtime.GOARCH + " cpu", SMs: cap(d.cores)}
}

// StreamCreateWithPriority implements device.Device. Priorities have no effect.
func (d *dev) StreamCreateWithPriority(int) device.Stream {
	s := &stream{d: d, id: device.StreamID(len(d.streams)), queue: make(chan task, queued), done: make(chan struct{})}
	d.streams = append(d.streams, s)
	go s.run()
	return s
}

// enqueue puts a task on a stream and records the call.
func (d *dev) enqueue(s device.Stream, call string, t task) {
	start := d.log.Now()
	s.(*stream).queue <- t
	d.log.Call(call, start, t.mark().correlation)
}

func (d *dev) mark() mark { return mark{d.log.Next(), d.log.External()} }

// Launch implements device.Device.
func (d *dev) Launch(s device.Stream, k device.Kernel) {
	f, err := find(k)
	if err != nil {
		d.fail(fmt.Errorf("rank %d: %w", d.rank, err))
		return
	}
	end := d.log.Operator(k)
	d.enqueue(s, "cudaLaunchKernel", &launch{d.mark(), k, f})
	end()
}

// MemcpyHtoDAsync implements device.Device.
func (d *dev) MemcpyHtoDAsync(s device.Stream, dst *device.Buffer, src device.Host) {
	end := d.log.Range("cpu_op", "aten::copy_", device.Tensor(dst), device.Tensor(dst))
	d.enqueue(s, "cudaMemcpyAsync", &move{d.mark(), "Memcpy HtoD (Pinned -> Device)", dst, nil, src})
	end()
}

// MemcpyDtoHAsync implements device.Device.
func (d *dev) MemcpyDtoHAsync(s device.Stream, dst device.Host, src *device.Buffer) {
	end := d.log.Range("cpu_op", "aten::copy_", device.Tensor(src), device.Tensor(src))
	d.enqueue(s, "cudaMemcpyAsync", &move{d.mark(), "Memcpy DtoH (Device -> Pinned)", nil, src, dst})
	end()
}

// MemcpyDtoDAsync implements device.Device.
func (d *dev) MemcpyDtoDAsync(s device.Stream, dst, src *device.Buffer) {
	end := d.log.Range("cpu_op", "aten::copy_", device.Tensor(dst), device.Tensor(src))
	d.enqueue(s, "cudaMemcpyAsync", &move{d.mark(), "Memcpy DtoD (Device -> Device)", dst, src, device.Host{}})
	end()
}

// MemsetAsync implements device.Device.
func (d *dev) MemsetAsync(s device.Stream, b *device.Buffer) {
	end := d.log.Range("cpu_op", "aten::zero_", device.Tensor(b))
	d.enqueue(s, "cudaMemsetAsync", &zero{d.mark(), b})
	end()
}

// EventRecord implements device.Device.
func (d *dev) EventRecord(s device.Stream) device.Event {
	e := &event{at: d.mark(), stream: s.ID(), happened: make(chan struct{})}
	d.enqueue(s, "cudaEventRecord", e)
	return e
}

// StreamWaitEvent implements device.Device.
func (d *dev) StreamWaitEvent(s device.Stream, e device.Event) {
	d.enqueue(s, "cudaStreamWaitEvent", &wait{d.mark(), e.(*event)})
}

// StreamSynchronize implements device.Device.
func (d *dev) StreamSynchronize(s device.Stream) {
	sync := device.SyncEvent{Kind: device.StreamSync, Stream: s.ID(), WaitStream: -1}
	d.hostWait("cudaStreamSynchronize", sync, []*stream{s.(*stream)})
}

// DeviceSynchronize implements device.Device.
func (d *dev) DeviceSynchronize() {
	sync := device.SyncEvent{Kind: device.ContextSync, Stream: -1, WaitStream: -1}
	d.hostWait("cudaDeviceSynchronize", sync, slices.Clone(d.streams))
}

func (d *dev) hostWait(call string, sync device.SyncEvent, streams []*stream) {
	start := d.log.Now()
	drain(streams)
	d.synced(call, sync, start)
}

// drain waits until streams have run all that is enqueued.
func drain(streams []*stream) {
	for _, s := range streams {
		e := &event{happened: make(chan struct{})}
		s.queue <- e
		<-e.happened
	}
}

// EventSynchronize implements device.Device.
func (d *dev) EventSynchronize(e device.Event) {
	start, on := d.log.Now(), e.(*event)
	<-on.happened
	sync := device.SyncEvent{Kind: device.EventSync, Stream: -1, WaitStream: on.stream,
		EventRecord: on.at.correlation}
	d.synced("cudaEventSynchronize", sync, start)
}

func (d *dev) synced(call string, sync device.SyncEvent, start int64) {
	if !d.log.On() {
		return
	}
	sync.Correlation = d.log.Next()
	sync.Start, sync.End = start, d.now()
	d.log.Call(call, start, sync.Correlation)
	d.log.To.Sync(sync)
}

// Range implements device.Device.
func (d *dev) Range(cat, name string, operands ...device.Operand) func() {
	return d.log.Range(cat, name, operands...)
}

// Sleep implements device.Device.
func (d *dev) Sleep(t time.Duration) {
	if t > 0 {
		d.sleep(t)
	}
}

// HostWork implements device.Device. It does nothing: real work takes real time.
func (d *dev) HostWork(time.Duration) {}

// BeginStep implements device.Device.
func (d *dev) BeginStep(step int) {
	if d.log.On() {
		d.log.To.Begin(step)
	}
}

// Now implements device.Device.
func (d *dev) Now() func() int64 {
	at := d.now()
	return func() int64 { return at }
}

// Err implements device.Device.
func (d *dev) Err() error { return d.failure() }

// Fail implements device.Device.
func (d *dev) Fail(err error) { d.fail(err) }

// Close implements device.Device.
func (d *dev) Close() {
	for _, s := range d.streams {
		close(s.queue)
		<-s.done
	}
	d.streams = nil
}
