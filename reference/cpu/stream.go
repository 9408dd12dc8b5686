package cpu

import (
	"fmt"
	"runtime"
	"time"

	"github.com/gaprof/gaprof/reference/device"
)

// queued is the capacity of a stream. The host blocks when it is full, as with CUDA.
const queued = 1024

// stream is a queue of tasks and the goroutine that runs them.
type stream struct {
	d     *dev
	id    int
	queue chan task
	done  chan struct{}
}

// ID implements device.Stream.
func (s *stream) ID() int { return s.id }

// mark links a task to the call that enqueued it.
type mark struct{ correlation, external int64 }

// task is an entry of a stream.
type task interface {
	run(s *stream) error
	mark() mark
}

// run runs tasks until the queue is closed. After a failure it drops all but events, so
// that nobody waits forever.
func (s *stream) run() {
	defer close(s.done)
	for t := range s.queue {
		if _, isEvent := t.(*event); !isEvent && s.d.failure() != nil {
			continue
		}
		if err := s.guarded(t); err != nil {
			s.d.fail(fmt.Errorf("rank %d: %w", s.d.rank, err))
		}
	}
}

// guarded runs a task and turns a panic, such as an index out of range, into an error.
// The program continues and finds it in Err.
func (s *stream) guarded(t task) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%T: %v", t, r)
		}
	}()
	return t.run(s)
}

// ran records a task that has run.
func (s *stream) ran(m mark, e device.DeviceEvent) {
	if s.d.log.On() {
		e.Stream, e.Correlation, e.External = s.id, m.correlation, m.external
		s.d.log.To.Device(e)
	}
}

// launch is a kernel.
type launch struct {
	at mark
	k  device.Kernel
	f  func(device.Kernel)
}

func (l *launch) mark() mark { return l.at }

func (l *launch) run(s *stream) error {
	start, end := s.d.work(func() { l.f(l.k) })
	if s.d.slow > 1 {
		s.d.sleep(time.Duration(float64(end-start) * (s.d.slow - 1)))
		end = s.d.now()
	}
	if s.d.log.On() {
		flops, bytes := l.k.Cost()
		s.ran(l.at, device.DeviceEvent{Kind: device.KindKernel, Name: l.k.Name(), Start: start, End: end,
			Flops: flops, Bytes: bytes})
	}
	return nil
}

// move is a copy. If dst or src is nil, host takes its place.
type move struct {
	at       mark
	name     string
	dst, src *device.Buffer
	host     device.Host
}

func (m *move) mark() mark { return m.at }

func (m *move) run(s *stream) error {
	size := m.src
	if size == nil {
		size = m.dst
	}
	if m.dst == nil || m.src == nil {
		if m.host.Len() != size.N {
			return fmt.Errorf("%s: %d elements of the host, %d of the device", m.name, m.host.Len(), size.N)
		}
	}
	start, end := s.d.work(m.copy)
	s.ran(m.at, device.DeviceEvent{Kind: device.KindMemcpy, Name: m.name, Start: start, End: end, Bytes: size.Bytes()})
	return nil
}

func (m *move) copy() {
	switch {
	case m.src == nil:
		toDevice(m.dst, m.host)
	case m.dst == nil:
		toHost(m.host, m.src)
	case m.dst.DType == device.F32:
		copy(data[float32](m.dst), data[float32](m.src))
	case m.dst.DType == device.F64:
		copy(data[float64](m.dst), data[float64](m.src))
	default:
		copy(data[int64](m.dst), data[int64](m.src))
	}
}

func toDevice(dst *device.Buffer, src device.Host) {
	switch dst.DType {
	case device.F32:
		to := data[float32](dst)
		for i, v := range src.Floats {
			to[i] = float32(v)
		}
	case device.F64:
		copy(data[float64](dst), src.Floats)
	case device.I64:
		copy(data[int64](dst), src.Ints)
	}
}

func toHost(dst device.Host, src *device.Buffer) {
	switch src.DType {
	case device.F32:
		for i, v := range data[float32](src) {
			dst.Floats[i] = float64(v)
		}
	case device.F64:
		copy(dst.Floats, data[float64](src))
	case device.I64:
		copy(dst.Ints, data[int64](src))
	}
}

// zero is a memset.
type zero struct {
	at mark
	b  *device.Buffer
}

func (z *zero) mark() mark { return z.at }

func (z *zero) run(s *stream) error {
	start, end := s.d.work(func() {
		switch z.b.DType {
		case device.F32:
			clear(data[float32](z.b))
		case device.F64:
			clear(data[float64](z.b))
		case device.I64:
			clear(data[int64](z.b))
		}
	})
	s.ran(z.at, device.DeviceEvent{Kind: device.KindMemset, Name: "Memset (Device)", Start: start, End: end,
		Bytes: z.b.Bytes()})
	return nil
}

// event has happened when the stream has reached it.
type event struct {
	at       mark
	stream   int
	happened chan struct{}
}

// run yields, so that a stream waiting for the event starts at once and not whenever the
// scheduler preempts this goroutine.
func (e *event) run(*stream) error {
	close(e.happened)
	runtime.Gosched()
	return nil
}

// wait blocks a stream until an event has happened.
type wait struct {
	at mark
	on *event
}

func (w *wait) mark() mark { return w.at }

func (w *wait) run(s *stream) error {
	start := s.d.log.Now()
	<-w.on.happened
	if s.d.log.On() {
		s.d.log.To.Sync(device.SyncEvent{Kind: device.StreamWait, Stream: s.id, WaitStream: w.on.stream,
			EventRecord: w.on.at.correlation, Correlation: w.at.correlation, Start: start, End: s.d.now()})
	}
	return nil
}

func (e *event) mark() mark { return e.at }
