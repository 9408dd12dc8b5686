// Package kineto turns what the device of a rank tells into the events that PyTorch's
// profiler writes, so that programs made for those read the trainer's traces. What each
// detail is good for stands in docs/formats/trainer.md.
package kineto

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"sync/atomic"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/record"
)

// Window says which training steps are recorded: those from From to before To, and of
// them the last Last, 0 for all.
type Window struct{ From, To, Last int }

// All records everything.
var All = Window{To: math.MaxInt}

// holds tells whether a step is in the window.
func (w Window) holds(step int) bool { return w.From <= step && step < w.To }

// Rank records one rank; it is its device.Recorder. Times are in ns since the Unix epoch.
type Rank struct {
	rank   int
	window Window
	log    *record.Log

	on          atomic.Bool  // the host is inside the window
	first, last atomic.Int64 // correlations of what the host called in the window
}

var _ device.Recorder = (*Rank)(nil)

// Tracks of a rank, by index. Streams that the device has beyond the two that the
// trainer makes stand on the last one.
const (
	hostTrack int32 = iota
	waitTrack       // waits of the host: they overlap what runs on the streams
	computeTrack
	commTrack
	numTracks
)

// Streams have the numbers that PyTorch's compute and NCCL streams have, never 0.
const computeStream, commStream = 7, 20

// New returns what records a rank. Nothing is recorded before Begin.
func New(rank int, w Window) *Rank {
	return &Rank{rank: rank, window: w, log: record.New(tracks(rank))}
}

// tracks of a rank. Ranks are goroutines of one process, but programs take a process for
// a rank, so each gets a number of its own: the process id with four digits of rank.
func tracks(rank int) []record.Track {
	pid := int64(os.Getpid())*10000 + int64(rank)
	host := record.Track{PID: pid, TID: pid, Process: "gaprof", Labels: "CPU", ProcessSort: pid,
		Thread: fmt.Sprintf("thread %d (dispatch of rank %d)", pid, rank), ThreadSort: pid}
	list := make([]record.Track, numTracks)
	list[hostTrack] = host
	for track, stream := range map[int32]int64{waitTrack: -1, computeTrack: computeStream, commTrack: commStream} {
		list[track] = record.Track{PID: int64(rank), TID: stream, Process: "gaprof", Labels: "GPU " + strconv.Itoa(rank), ProcessSort: 5000000 + int64(rank),
			Thread: fmt.Sprintf("stream %d ", stream), ThreadSort: stream}
	}
	return list
}

func streamTrack(stream int) int32 {
	switch stream {
	case computeStream:
		return computeTrack
	case commStream:
		return commTrack
	}
	return waitTrack
}

// Begin says that the host begins a training step. Its goroutine calls it, inside the
// step's ProfilerStep range, which is why the one before it still belongs to its step.
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
	e := record.Event{Track: hostTrack, Cat: trace.CatCPUOp, Name: s.Name, Start: s.Start, End: s.End, External: s.External}
	if s.Cat == "user_annotation" {
		e.Cat = trace.CatUserAnnotation
	}
	if s.Operands != nil || s.Message != nil {
		e.Args = &spanArgs{s.Operands, s.Message}
	}
	r.log.Add(e)
}

// launched tells whether a correlation is that of a call in the window. The device may
// run before its call is told: what is later than the last call is let in, and left out
// of the trace if its call never comes.
func (r *Rank) launched(correlation int64) bool {
	if r.on.Load() {
		first := r.first.Load()
		return first == 0 || correlation >= first
	}
	first := r.first.Load()
	return first != 0 && correlation >= first && correlation <= r.last.Load()
}

// Device records what ran on a stream, and a collective's annotation around it.
func (r *Rank) Device(e device.DeviceEvent) {
	if !r.launched(e.Correlation) {
		return
	}
	kind := trace.CatKernel
	switch e.Kind {
	case device.KindMemcpy:
		kind = trace.CatGPUMemcpy
	case device.KindMemset:
		kind = trace.CatGPUMemset
	}
	event := record.Event{Track: streamTrack(e.Stream), Cat: kind, Name: e.Name, Start: e.Start, End: e.End, Corr: e.Correlation, External: e.External,
		Args: &deviceArgs{device: r.rank, kind: kind, stream: e.Stream, bytes: e.Bytes, flops: e.Flops, duration: e.End - e.Start, message: e.Message}}
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
	if e.Kind == device.StreamWait { // on a stream anything with a length counts as compute in HolisticTraceAnalysis 0.5
		track, end = streamTrack(e.Stream), e.Start
	}
	r.log.Add(record.Event{Track: track, Cat: trace.CatCUDASync, Name: e.Kind, Start: e.Start, End: end, Corr: e.Correlation,
		Args: &syncArgs{r.rank, e}})
}

// Memory records an allocation or a release.
func (r *Rank) Memory(e device.MemoryEvent) {
	if r.on.Load() {
		r.log.Add(record.Event{Track: hostTrack, Cat: trace.CatCPUInstant, Phase: trace.Instant, Name: "[memory]", Start: e.Time, End: e.Time,
			Args: &memoryArgs{r.rank, e}})
	}
}

// Len returns how many events are recorded.
func (r *Rank) Len() int { return r.log.Len() }
