// Package kineto records a rank as PyTorch's profiler would, so that tools written for
// PyTorch read the trainer's traces. docs/formats/trainer.md explains each detail.
//
// A Rank is the device.Recorder of one rank. It records the steps in a Window, and makes
// a trace of them once the run is over. Device work that was launched inside the window
// belongs to it even if it runs after the host has left.
package kineto

import (
	"math"
	"os"
	"sync/atomic"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/record"
)

// Window selects the steps to record.
type Window struct {
	From int // first step, counted from 0
	To   int // first step after the window
	Last int // keep only that many steps at the end; 0 keeps all
	// Behind keeps what the device still has to do when recording begins, as PyTorch's profiler does: work
	// whose launch is not recorded.
	Behind bool
}

// All selects every step.
var All = Window{To: math.MaxInt}

// holds reports whether a step is in the window.
func (w Window) holds(step int) bool { return w.From <= step && step < w.To }

// Rank records one rank. Times are ns since the Unix epoch.
type Rank struct {
	rank    int
	process int64
	window  Window
	log     *record.Log
	streams *streamTracks

	on    atomic.Bool  // the host is inside the window
	first atomic.Int64 // correlation of the first call in the window; 0 before that
	last  atomic.Int64 // correlation of the most recent call in the window
	begun atomic.Int64 // when the first of them began; 0 before that
}

var _ device.Recorder = (*Rank)(nil)

// New returns a recorder for a rank. It records nothing before Begin.
func New(rank int, w Window) *Rank { return NewIn(int64(os.Getpid()), rank, w) }

// NewIn is New for a rank of another process, by its id: that of a simulation, say, in which
// nothing may depend on this one.
func NewIn(process int64, rank int, w Window) *Rank {
	log := record.New(tracks(process, rank))
	log.Unlaunched = w.Behind
	return &Rank{rank: rank, process: process, window: w, log: log,
		streams: &streamTracks{rank: rank, log: log, more: make(map[int]int32)}}
}

// Begin notes that the host begins a step, inside the ProfilerStep range of that step.
func (r *Rank) Begin(step int) {
	on := r.window.holds(step)
	if on {
		keep := -1
		if r.window.Last > 0 {
			keep = r.window.Last - 1
		}
		r.log.Step(keep)
	}
	r.on.Store(on)
}

// Host records a call of the runtime.
func (r *Rank) Host(e device.HostEvent) {
	if !r.on.Load() {
		return
	}
	if r.first.Load() == 0 {
		r.begun.Store(e.Start)
		r.first.Store(e.Correlation)
	}
	r.last.Store(e.Correlation)
	r.log.Add(record.Event{Track: hostTrack, Cat: trace.CatCUDARuntime, Name: e.Name, Start: e.Start, End: e.End,
		Corr: e.Correlation, External: e.External, Args: callArgs(callbackIDs[e.Name])})
}

// Span records an annotation or an operator.
func (r *Rank) Span(s device.Span) {
	if !r.on.Load() {
		return
	}
	e := record.Event{Track: hostTrack, Cat: trace.CatCPUOp, Name: s.Name, Start: s.Start, End: s.End,
		External: s.External}
	if s.Cat == "user_annotation" {
		e.Cat = trace.CatUserAnnotation
	}
	if s.Operands != nil || s.Message != nil {
		e.Args = &spanArgs{s.Operands, s.Message}
	}
	r.log.Add(e)
}

// launched reports whether a correlation belongs to a call in the window. A device event
// may arrive before its call has been recorded. Therefore, inside the window, events later
// than the last call pass; Log.Trace drops them if their call never comes.
func (r *Rank) launched(correlation int64) bool {
	if r.on.Load() {
		first := r.first.Load()
		return first == 0 || correlation >= first
	}
	first := r.first.Load()
	return first != 0 && correlation >= first && correlation <= r.last.Load()
}

// behind reports whether an operation that was launched before the window is part of it.
func (r *Rank) behind(e device.DeviceEvent) bool {
	first := r.first.Load()
	return r.window.Behind && first != 0 && e.Correlation < first && e.Start > r.begun.Load()
}

// Device records an operation on a stream and, around a collective, its annotation.
func (r *Rank) Device(e device.DeviceEvent) {
	if !r.launched(e.Correlation) && !r.behind(e) {
		return
	}
	kind := trace.CatKernel
	switch e.Kind {
	case device.KindMemcpy:
		kind = trace.CatGPUMemcpy
	case device.KindMemset:
		kind = trace.CatGPUMemset
	}
	event := record.Event{Track: r.streams.of(e.Stream), Cat: kind, Name: e.Name, Start: e.Start, End: e.End,
		Corr: e.Correlation, External: e.External}
	event.Args = &deviceArgs{device: r.rank, kind: kind, stream: e.Stream, bytes: e.Bytes, flops: e.Flops,
		duration: e.End - e.Start, message: e.Message}
	r.log.Add(event)
	if e.Message != nil {
		event.Cat, event.Name, event.Args = trace.CatGPUUserAnnotation, "nccl:"+e.Message.Name, nil
		event.Start, event.End = event.Start-1, event.End+1
		r.log.Add(event)
	}
}

// Sync records a wait.
func (r *Rank) Sync(e device.SyncEvent) {
	if !r.launched(e.Correlation) {
		return
	}
	track, end := waitTrack, e.End
	if e.Kind == device.StreamWait {
		// No duration: HolisticTraceAnalysis 0.5 would count it as compute.
		track, end = r.streams.of(e.Stream), e.Start
	}
	r.log.Add(record.Event{Track: track, Cat: trace.CatCUDASync, Name: e.Kind, Start: e.Start, End: end,
		Corr: e.Correlation, Args: &syncArgs{r.rank, e}})
}

// Memory records an allocation or a release.
func (r *Rank) Memory(e device.MemoryEvent) {
	if r.on.Load() {
		r.log.Add(record.Event{Track: hostTrack, Cat: trace.CatCPUInstant, Phase: trace.Instant, Name: "[memory]",
			Start: e.Time, End: e.Time, Args: &memoryArgs{r.rank, e}})
	}
}

// Forget lets go of what is recorded, for a rank whose trace is written.
func (r *Rank) Forget() { r.log.Step(0) }

// Len returns how many events are recorded.
func (r *Rank) Len() int { return r.log.Len() }
