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
	slow    float64 // kernels take as many times as long
	log     device.Log
	streams []*stream

	pool                map[pooled][]*device.Block
	allocated, reserved int64
	nextAddr            int64
}

var _ device.Device = (*dev)(nil)

// Properties names the processor's architecture and its cores.
func (d *dev) Properties() device.Properties {
	return device.Properties{Backend: "cpu", Name: runtime.GOOS + "/" + runtime.GOARCH + " cpu", SMs: cap(d.cores)}
}

// StreamCreateWithPriority makes a stream; priorities mean nothing on a cpu. Streams
// have the numbers that PyTorch's compute and NCCL streams have.
func (d *dev) StreamCreateWithPriority(int) device.Stream {
	numbers := []int{7, 20}
	id := 20 + len(d.streams)
	if len(d.streams) < len(numbers) {
		id = numbers[len(d.streams)]
	}
	s := &stream{d: d, id: id, queue: make(chan task, queued), done: make(chan struct{})}
	d.streams = append(d.streams, s)
	go s.run()
	return s
}

// enqueue gives t to a stream and records the call that did it.
func (d *dev) enqueue(s device.Stream, call string, t task) {
	start := d.log.Now()
	s.(*stream).queue <- t
	d.log.Call(call, start, t.mark().correlation)
}

func (d *dev) mark() mark { return mark{d.log.Next(), d.log.External()} }

// Launch looks the operation up and enqueues it.
func (d *dev) Launch(s device.Stream, k device.Kernel) {
	f, err := find(k)
	if err != nil {
		d.group.fail(fmt.Errorf("rank %d: %w", d.rank, err))
		return
	}
	end := d.log.Operator(k)
	d.enqueue(s, "cudaLaunchKernel", &launch{d.mark(), k, f})
	end()
}

// MemcpyHtoDAsync enqueues a copy to the device.
func (d *dev) MemcpyHtoDAsync(s device.Stream, dst *device.Buffer, src device.Host) {
	end := d.log.Range("cpu_op", "aten::copy_", device.Tensor(dst), device.Tensor(dst))
	d.enqueue(s, "cudaMemcpyAsync", &move{d.mark(), "Memcpy HtoD (Pinned -> Device)", dst, nil, src})
	end()
}

// MemcpyDtoHAsync enqueues a copy to the host.
func (d *dev) MemcpyDtoHAsync(s device.Stream, dst device.Host, src *device.Buffer) {
	end := d.log.Range("cpu_op", "aten::copy_", device.Tensor(src), device.Tensor(src))
	d.enqueue(s, "cudaMemcpyAsync", &move{d.mark(), "Memcpy DtoH (Device -> Pinned)", nil, src, dst})
	end()
}

// MemcpyDtoDAsync enqueues a copy within the device.
func (d *dev) MemcpyDtoDAsync(s device.Stream, dst, src *device.Buffer) {
	end := d.log.Range("cpu_op", "aten::copy_", device.Tensor(dst), device.Tensor(src))
	d.enqueue(s, "cudaMemcpyAsync", &move{d.mark(), "Memcpy DtoD (Device -> Device)", dst, src, device.Host{}})
	end()
}

// MemsetAsync enqueues zeros.
func (d *dev) MemsetAsync(s device.Stream, b *device.Buffer) {
	end := d.log.Range("cpu_op", "aten::zero_", device.Tensor(b))
	d.enqueue(s, "cudaMemsetAsync", &zero{d.mark(), b})
	end()
}

// EventRecord enqueues an event.
func (d *dev) EventRecord(s device.Stream) device.Event {
	e := &event{at: d.mark(), stream: s.ID(), happened: make(chan struct{})}
	d.enqueue(s, "cudaEventRecord", e)
	return e
}

// StreamWaitEvent makes a stream wait.
func (d *dev) StreamWaitEvent(s device.Stream, e device.Event) {
	d.enqueue(s, "cudaStreamWaitEvent", &wait{d.mark(), e.(*event)})
}

// StreamSynchronize waits until a stream is empty.
func (d *dev) StreamSynchronize(s device.Stream) {
	sync := device.SyncEvent{Kind: device.StreamSync, Stream: s.ID(), WaitStream: -1}
	d.hostWait("cudaStreamSynchronize", sync, []*stream{s.(*stream)})
}

// DeviceSynchronize waits until all streams are empty.
func (d *dev) DeviceSynchronize() {
	sync := device.SyncEvent{Kind: device.ContextSync, Stream: -1, WaitStream: -1}
	d.hostWait("cudaDeviceSynchronize", sync, slices.Clone(d.streams))
}

func (d *dev) hostWait(call string, sync device.SyncEvent, streams []*stream) {
	start := d.log.Now()
	for _, s := range streams {
		e := &event{happened: make(chan struct{})}
		s.queue <- e
		<-e.happened
	}
	d.synced(call, sync, start)
}

// EventSynchronize waits for an event.
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

// Range opens an annotation.
func (d *dev) Range(cat, name string, operands ...device.Operand) func() {
	return d.log.Range(cat, name, operands...)
}

// HostWork is nothing: the host's own work takes its own time.
func (d *dev) HostWork(time.Duration) {}

// Err returns the first failure of any rank.
func (d *dev) Err() error { return d.group.failure() }

// Fail is a failure of the host.
func (d *dev) Fail(err error) { d.group.fail(err) }

// Close waits for the streams to end.
func (d *dev) Close() {
	for _, s := range d.streams {
		close(s.queue)
		<-s.done
	}
	d.streams = nil
}
