// Package devicetest helps to test programs that run on a device without one, and backends:
//
//	script.go        a device that runs nothing and writes down what it is asked to do
//	tape.go          a Recorder that keeps what it is told
//	suite.go         what every backend has to pass: order, events, waits, errors, streams,
//	suite_memory.go  memory,
//	suite_comm.go    and collectives
package devicetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gaprof/gaprof/reference/device"
)

// Script is a device.Device and device.Communicator that runs nothing. It writes down
// what a program enqueues, in order, so that a test can compare it with what it should.
// Memory has no contents.
type Script struct {
	World   int             // ranks; the Script is rank 0
	Lines   []string        // calls since the last Take
	Kernels []device.Kernel // all that were launched
	Live    int             // blocks allocated and not freed

	streams, events int
}

var (
	_ device.Device       = (*Script)(nil)
	_ device.Communicator = (*Script)(nil)
)

// NewRank returns a Script in a world of that many ranks, and a rank on it.
func NewRank(world int, dt device.DType) (*Script, *device.Rank) {
	s := &Script{World: world}
	return s, device.NewRank(device.Member{Device: s, Comm: s}, dt)
}

// Take returns the calls since the last Take, joined by "; ". Allocations are not among
// them: see Live.
func (s *Script) Take() string {
	defer func() { s.Lines = nil }()
	return strings.Join(s.Lines, "; ")
}

func (s *Script) add(format string, args ...any) {
	s.Lines = append(s.Lines, fmt.Sprintf(format, args...))
}

// stream is compute or comms, by the order in which a device.Rank makes them.
type stream int

// ID implements device.Stream.
func (s stream) ID() int { return int(s) + 1 }

func (s stream) String() string {
	if names := []string{"compute", "comms"}; int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("stream %d", s.ID())
}

type event int

// Properties implements device.Device.
func (s *Script) Properties() device.Properties { return device.Properties{Backend: "script"} }

// Malloc implements device.Device.
func (s *Script) Malloc(dt device.DType, shape ...int) *device.Buffer {
	s.Live++
	n := device.Elements(shape)
	block := &device.Block{Bytes: int64(n) * dt.Size()}
	return &device.Buffer{Block: block, N: n, DType: dt, Shape: slices.Clone(shape)}
}

// MallocOn implements device.Device.
func (s *Script) MallocOn(_ device.Stream, dt device.DType, shape ...int) *device.Buffer {
	return s.Malloc(dt, shape...)
}

// Free implements device.Device. It panics if memory is freed twice.
func (s *Script) Free(b *device.Buffer) {
	if b.Block.Freed {
		panic("devicetest: memory is freed twice")
	}
	b.Block.Freed = true
	s.Live--
}

// StreamCreateWithPriority implements device.Device.
func (s *Script) StreamCreateWithPriority(int) device.Stream {
	s.streams++
	return stream(s.streams - 1)
}

// Launch implements device.Device. It names kernels as the trainer does, without prefix
// and type: scale for gaprof_scale_f32.
func (s *Script) Launch(on device.Stream, k device.Kernel) {
	name := strings.TrimPrefix(k.Name(), "gaprof_")
	if i := strings.LastIndexByte(name, '_'); i >= 0 {
		name = name[:i]
	}
	s.add("%v %s", on, name)
	s.Kernels = append(s.Kernels, k)
}

// MemcpyHtoDAsync implements device.Device.
func (s *Script) MemcpyHtoDAsync(on device.Stream, dst *device.Buffer, src device.Host) {
	s.add("%v upload %d", on, src.Len())
}

// MemcpyDtoHAsync implements device.Device.
func (s *Script) MemcpyDtoHAsync(on device.Stream, dst device.Host, src *device.Buffer) {
	s.add("%v download %d", on, dst.Len())
}

// MemcpyDtoDAsync implements device.Device.
func (s *Script) MemcpyDtoDAsync(on device.Stream, dst, src *device.Buffer) {
	s.add("%v copy %d", on, src.N)
}

// MemsetAsync implements device.Device.
func (s *Script) MemsetAsync(on device.Stream, b *device.Buffer) { s.add("%v zero %d", on, b.N) }

// EventRecord implements device.Device.
func (s *Script) EventRecord(on device.Stream) device.Event {
	s.events++
	s.add("%v records %d", on, s.events)
	return event(s.events)
}

// StreamWaitEvent implements device.Device.
func (s *Script) StreamWaitEvent(on device.Stream, e device.Event) { s.add("%v waits %d", on, e) }

// StreamSynchronize implements device.Device.
func (s *Script) StreamSynchronize(on device.Stream) { s.add("host waits for %v", on) }

// EventSynchronize implements device.Device.
func (s *Script) EventSynchronize(e device.Event) { s.add("host waits %d", e) }

// DeviceSynchronize implements device.Device.
func (s *Script) DeviceSynchronize() { s.add("host waits") }

// Range implements device.Device. It is not among the calls.
func (s *Script) Range(string, string, ...device.Operand) func() { return func() {} }

// EmptyCache implements device.Device.
func (s *Script) EmptyCache() { s.add("host empties cache") }

// Sleep implements device.Device.
func (s *Script) Sleep(d time.Duration) {
	if d > 0 {
		s.add("host sleeps %v", d)
	}
}

// HostWork implements device.Device.
func (s *Script) HostWork(time.Duration) {}

// BeginStep implements device.Device.
func (s *Script) BeginStep(int) {}

// Now implements device.Device. No time passes.
func (s *Script) Now() func() int64 { return func() int64 { return 0 } }

// Err implements device.Device.
func (s *Script) Err() error { return nil }

// Fail implements device.Device.
func (s *Script) Fail(error) {}

// Close implements device.Device.
func (s *Script) Close() {}

// Group implements device.Communicator.
func (s *Script) Group() device.Group { return device.Everyone(s.World) }

// Rank implements device.Communicator.
func (s *Script) Rank() int { return 0 }

// Size implements device.Communicator.
func (s *Script) Size() int { return s.World }

var operators = map[device.Reduce]string{device.Sum: "sum", device.Avg: "mean"}

// AllReduce implements device.Communicator.
func (s *Script) AllReduce(on device.Stream, buf *device.Buffer, op device.Reduce) {
	s.add("%v all-reduce %s %d", on, operators[op], buf.N)
}

// ReduceScatter implements device.Communicator.
func (s *Script) ReduceScatter(on device.Stream, send, recv *device.Buffer, op device.Reduce) {
	s.add("%v reduce-scatter %s %d to %d", on, operators[op], send.N, recv.N)
}

// AllGather implements device.Communicator.
func (s *Script) AllGather(on device.Stream, send, recv *device.Buffer) {
	s.add("%v all-gather %d to %d", on, send.N, recv.N)
}

// Broadcast implements device.Communicator.
func (s *Script) Broadcast(on device.Stream, buf *device.Buffer, root int) {
	s.add("%v broadcast %d", on, buf.N)
}

// AllToAll implements device.Communicator.
func (s *Script) AllToAll(on device.Stream, send, recv *device.Buffer) {
	s.add("%v all-to-all %d to %d", on, send.N, recv.N)
}

// Shift implements device.Communicator.
func (s *Script) Shift(on device.Stream, send, recv *device.Buffer, by int) {
	s.add("%v shift by %d %d to %d", on, by, send.N, recv.N)
}
