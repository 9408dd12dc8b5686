package devicetest

import (
	"slices"
	"sync"

	"github.com/gaprof/gaprof/reference/device"
)

// Tape is a device.Recorder that keeps what it is told.
type Tape struct {
	mu      sync.Mutex
	Steps   []int
	Hosts   []device.HostEvent
	Spans   []device.Span
	Devices []device.DeviceEvent
	Syncs   []device.SyncEvent
	Blocks  []device.MemoryEvent
}

var _ device.Recorder = (*Tape)(nil)

func keep[T any](t *Tape, list *[]T, e T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	*list = append(*list, e)
}

// Begin implements device.Recorder, as do the others.
func (t *Tape) Begin(step int) { keep(t, &t.Steps, step) }

// Host keeps a call.
func (t *Tape) Host(e device.HostEvent) { keep(t, &t.Hosts, e) }

// Span keeps a span.
func (t *Tape) Span(e device.Span) { keep(t, &t.Spans, e) }

// Device keeps an operation.
func (t *Tape) Device(e device.DeviceEvent) { keep(t, &t.Devices, e) }

// Sync keeps a wait.
func (t *Tape) Sync(e device.SyncEvent) { keep(t, &t.Syncs, e) }

// Memory keeps an allocation.
func (t *Tape) Memory(e device.MemoryEvent) { keep(t, &t.Blocks, e) }

// on returns the operations of a stream, in the order of their launches.
func (t *Tape) on(stream int) []device.DeviceEvent {
	var list []device.DeviceEvent
	for _, e := range t.Devices {
		if e.Stream == stream {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b device.DeviceEvent) int { return int(a.Correlation - b.Correlation) })
	return list
}

// calls returns the calls by their correlations.
func (t *Tape) calls() map[int64]device.HostEvent {
	calls := make(map[int64]device.HostEvent, len(t.Hosts))
	for _, e := range t.Hosts {
		calls[e.Correlation] = e
	}
	return calls
}
