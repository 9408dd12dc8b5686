package reference

import (
	"time"

	"github.com/gaprof/gaprof/reference/device"
)

// recording is the Recorder of a rank, or one that passes on less than all of what happens, or
// other times, where that is what a plant is about.
func (p *plan) recording(rank int, to device.Recorder) device.Recorder {
	switch {
	case to == nil:
	case p.has(loseKernels):
		return &losesKernels{Recorder: to}
	case p.has(loseCollective) && rank == 1:
		return &losesCollective{Recorder: to}
	case p.has(unnumbered):
		return nameless{to}
	case p.has(clockOff) && rank == 1:
		return offClock{to, clockOffBy}
	}
	return to
}

// clockOffBy is how far off the clock of a host is that no other one corrects.
const clockOffBy = 5 * time.Millisecond

// lostOf is of how many kernels one is lost, as where a buffer is full again and again.
const lostOf = 50

// losesKernels is a Recorder that some kernels do not get to. Collectives do.
type losesKernels struct {
	device.Recorder
	seen int
}

// Device implements device.Recorder.
func (r *losesKernels) Device(e device.DeviceEvent) {
	if e.Kind == device.KindKernel && e.Message == nil {
		if r.seen++; r.seen%lostOf == 0 {
			return
		}
	}
	r.Recorder.Device(e)
}

// losesCollective is a Recorder that one collective in the middle does not get to, with nothing
// that tells of it.
type losesCollective struct {
	device.Recorder
	step, asked int
	launch      *device.HostEvent // the latest call in the step, which may be that of the one to lose
	lost        int64             // correlation of the one that is lost; 0 before
}

// Begin implements device.Recorder.
func (r *losesCollective) Begin(step int) {
	r.release()
	r.step, r.asked = step, 0
	r.Recorder.Begin(step)
}

func (r *losesCollective) release() {
	if r.launch != nil {
		r.Recorder.Host(*r.launch)
		r.launch = nil
	}
}

// Host implements device.Recorder.
func (r *losesCollective) Host(e device.HostEvent) {
	r.release()
	if r.step == 1 && r.lost == 0 && e.Name == "cudaLaunchKernel" {
		r.launch = &e
		return
	}
	r.Recorder.Host(e)
}

// Span implements device.Recorder. The one that is lost is the second of the step.
func (r *losesCollective) Span(s device.Span) {
	if s.Message != nil && r.launch != nil {
		if r.asked++; r.asked == 2 {
			r.lost, r.launch = r.launch.Correlation, nil
			return
		}
	}
	if s.Message != nil {
		r.release()
	}
	r.Recorder.Span(s)
}

// Device implements device.Recorder.
func (r *losesCollective) Device(e device.DeviceEvent) {
	if r.lost == 0 || e.Correlation != r.lost {
		r.Recorder.Device(e)
	}
}

// nameless is a Recorder that does not get to know which rank of a group sends a message, as before
// PyTorch recorded it.
type nameless struct{ device.Recorder }

// Span implements device.Recorder.
func (r nameless) Span(s device.Span) {
	if s.Message != nil {
		m := *s.Message
		m.Rank = device.UnknownRank
		s.Message = &m
	}
	r.Recorder.Span(s)
}

// offClock is the Recorder of a host whose clock is ahead of the others.
type offClock struct {
	device.Recorder
	by time.Duration
}

// Host implements device.Recorder.
func (r offClock) Host(e device.HostEvent) {
	e.Start, e.End = e.Start+int64(r.by), e.End+int64(r.by)
	r.Recorder.Host(e)
}

// Span implements device.Recorder.
func (r offClock) Span(s device.Span) {
	s.Start, s.End = s.Start+int64(r.by), s.End+int64(r.by)
	r.Recorder.Span(s)
}

// Device implements device.Recorder.
func (r offClock) Device(e device.DeviceEvent) {
	e.Start, e.End = e.Start+int64(r.by), e.End+int64(r.by)
	r.Recorder.Device(e)
}

// Sync implements device.Recorder.
func (r offClock) Sync(e device.SyncEvent) {
	e.Start, e.End = e.Start+int64(r.by), e.End+int64(r.by)
	r.Recorder.Sync(e)
}

// Memory implements device.Recorder.
func (r offClock) Memory(e device.MemoryEvent) {
	e.Time += int64(r.by)
	r.Recorder.Memory(e)
}
