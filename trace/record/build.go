package record

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/gaprof/gaprof/trace"
)

// Trace makes a trace of what is kept, with times as offsets from meta.BaseTime, and
// leaves the Log as it is. It wants that nobody adds events meanwhile.
//
//  1. Device events are left out whose launch is: it was let go of, or never recorded.
//  2. Neighbours on a track are kept 1 ns apart: programs that add start and duration as
//     floating point numbers take those that touch for overlapping ones.
//  3. Each device event is tied to its launch by a flow.
//  4. The window of the recording is written as Kineto does.
func (l *Log) Trace(meta trace.Meta) *trace.Trace {
	return l.TraceAs(meta, nil, func(a Args) Args { return a })
}

// TraceAs is Trace with other tracks in the place of those of the Log, as many of them, and with
// the arguments that args returns for those of an event: what one process did, as another one
// that did the same. nil tracks are those of the Log.
func (l *Log) TraceAs(meta trace.Meta, tracks []Track, args func(Args) Args) *trace.Trace {
	b := trace.NewBuilder()
	*b.Meta() = meta
	if l == nil {
		return b.Build()
	}
	events, launches := l.linked()
	separate(events)
	b.Reserve(len(events) + 2*len(launches) + 2)
	m := maker{b: b, base: meta.BaseTime, args: ArgWriter{b: b}, as: args}
	if tracks == nil {
		tracks = l.tracks
	}
	m.nameTracks(tracks)
	for i := range events {
		m.add(&events[i])
	}
	m.flows(events, launches)
	m.window(events)
	return b.Build()
}

// linked returns all events but device events without a launch, and the places of launches among them by
// correlation.
func (l *Log) linked() (events []Event, launches map[int64]int32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	events = make([]Event, 0, l.len())
	for _, step := range l.steps {
		for _, c := range step {
			events = append(events, c...)
		}
	}
	launches = launchesOf(events)
	if l.Unlaunched {
		return events, launches
	}
	lost := func(e Event) bool {
		_, there := launches[e.Corr]
		return onDevice(e.Cat) && !there
	}
	if kept := slices.DeleteFunc(events, lost); len(kept) < len(events) {
		return kept, launchesOf(kept)
	}
	return events, launches
}

func launchesOf(events []Event) map[int64]int32 {
	launches := make(map[int64]int32, len(events)/4)
	for i := range events {
		if events[i].Cat.IsRuntime() {
			launches[events[i].Corr] = int32(i)
		}
	}
	return launches
}

// onDevice reports whether events of a category belong to a launch on the host.
func onDevice(c trace.Cat) bool {
	return c.IsActivity() || c == trace.CatCUDASync || c == trace.CatGPUUserAnnotation
}

// separate takes 1 ns off events that end where the next of their track begins.
func separate(events []Event) {
	order := make([]int, 0, len(events))
	for i := range events {
		if events[i].Phase == 0 || events[i].Phase == trace.Complete {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int {
		x, y := &events[i], &events[j]
		return cmp.Or(
			cmp.Compare(x.Track, y.Track), cmp.Compare(x.Start, y.Start), cmp.Compare(y.End, x.End), cmp.Compare(i, j),
		)
	})
	var open []int
	track := int32(-1)
	for _, i := range order {
		e := &events[i]
		if e.Track != track {
			open, track = open[:0], e.Track
		}
		for len(open) > 0 && events[open[len(open)-1]].End <= e.Start {
			last := &events[open[len(open)-1]]
			if last.End == e.Start && last.End > last.Start {
				last.End--
			}
			open = open[:len(open)-1]
		}
		open = append(open, i)
	}
}

// maker turns events into rows.
type maker struct {
	b      *trace.Builder
	base   int64
	tracks []trace.TrackID
	args   ArgWriter
	as     func(Args) Args
}

func (m *maker) intern(s string) trace.StringID { return m.args.intern(s) }

func (m *maker) nameTracks(tracks []Track) {
	for _, t := range tracks {
		pid := m.intern(strconv.FormatInt(t.PID, 10))
		id := m.b.Track(pid, m.intern(strconv.FormatInt(t.TID, 10)))
		m.tracks = append(m.tracks, id)
		m.b.NameProcess(pid, t.Process)
		m.b.TagProcess(pid, t.Labels)
		m.b.SortProcess(pid, t.ProcessSort)
		m.b.NameThread(id, t.Thread)
		m.b.SortThread(id, t.ThreadSort)
	}
}

func (m *maker) add(e *Event) {
	row := trace.Row{Start: e.Start - m.base, Dur: e.End - e.Start, Name: m.intern(e.Name), Cat: e.Cat, Phase: e.Phase,
		Track: m.tracks[e.Track], Corr: e.Corr, External: e.External, Offset: -1}
	if row.Phase == 0 {
		row.Phase = trace.Complete
	}
	if row.Cat == trace.CatGPUUserAnnotation {
		row.Corr = 0 // only work that was launched has one
	}
	if e.Args != nil {
		m.args.list = m.args.list[:0]
		m.as(e.Args).Write(&m.args)
		row.Args = m.args.list
	}
	m.b.Add(&row)
}

// flows ties what ran on a device to what launched it: HTA and Perfetto follow these.
func (m *maker) flows(events []Event, launches map[int64]int32) {
	name := m.intern(flowName)
	for i := range events {
		e := &events[i]
		if !e.Cat.IsActivity() {
			continue
		}
		launch, ok := launches[e.Corr]
		if !ok {
			continue
		}
		for _, end := range [...]struct {
			at    *Event
			phase trace.Phase
		}{{&events[launch], trace.FlowStart}, {e, trace.FlowEnd}} {
			m.b.Add(&trace.Row{Start: end.at.Start - m.base, Name: name, Cat: trace.CatLaunchFlow, Phase: end.phase,
				Track: m.tracks[end.at.Track], Corr: e.Corr, Offset: -1})
		}
	}
}

// window writes the span of the recording and the instant of its end.
func (m *maker) window(events []Event) {
	if len(events) == 0 {
		return
	}
	from, to := events[0].Start, events[0].End
	for i := range events {
		from, to = min(from, events[i].Start), max(to, events[i].End)
	}
	from, to = from-m.base, to-m.base
	meta := m.b.Meta()
	meta.WindowStart, meta.WindowEnd = from, to
	spans := m.b.Track(m.intern("Spans"), m.intern("PyTorch Profiler"))
	m.b.Add(&trace.Row{
		Start: from, Dur: to - from, Name: m.intern("PyTorch Profiler (0)"),
		Cat: trace.CatProfiler, Phase: trace.Complete, Track: spans, Offset: -1,
	})
	end := m.b.Track(m.intern(""), m.intern(""))
	m.b.Add(&trace.Row{Start: to, Name: m.intern("Record Window End"), Phase: trace.Instant, Track: end, Offset: -1})
}

// flowName is what Kineto calls flows: their category.
const flowName = "ac2g"
