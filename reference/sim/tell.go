package sim

import (
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/trace/graph"
)

// tell tells the Recorder what the rank has done: the host in the order of its program, then
// the streams.
func (d *dev) tell() {
	j := &d.journal
	for line := range j.lines.all {
		switch line.kind {
		case toldStep:
			d.to.Begin(int(line.index))
		case toldCall:
			d.tellCall(j.calls.at(line.index))
		case toldSpan:
			s := j.spans.at(line.index)
			d.to.Span(device.Span{Cat: s.kind.cat, Name: s.kind.name, Start: d.time(s.from), End: d.time(s.to),
				External: s.external, Operands: s.kind.operands, Message: s.message})
		case toldMemory:
			m := j.memory.at(line.index)
			m.Time = d.time(m.at)
			d.to.Memory(m.MemoryEvent)
		case toldWait:
			d.tellWait(j.waits.at(line.index))
		}
	}
	for o := range j.ops.all {
		d.to.Device(device.DeviceEvent{Kind: o.kind, Name: o.name, Stream: o.stream, Start: d.started(o.node),
			End: d.ended(o.node), Correlation: o.correlation, External: o.external, Flops: o.flops, Bytes: o.bytes,
			Message: o.message})
	}
	d.journal = journal{}
}

func (d *dev) tellCall(c *madeCall) {
	d.to.Host(device.HostEvent{Name: c.name, Start: d.called(c.node), End: d.ended(c.node), Correlation: c.correlation,
		External: c.external})
}

// tellWait tells of a wait: the host waits as long as its call lasts, a stream from when it has
// come to the wait until the event has happened.
func (d *dev) tellWait(w *madeWait) {
	e := w.SyncEvent
	e.Start, e.End = d.called(w.call), d.ended(w.call)
	if e.Kind == device.StreamWait {
		e.Start = e.End
		if w.after != noNode {
			e.Start = max(e.Start, d.ended(w.after))
		}
		e.End = e.Start
		if w.on != noNode {
			e.End = max(e.End, d.ended(w.on))
		}
	}
	d.to.Sync(e)
}

// time is when the host was at a place, in ns since the Unix epoch.
func (d *dev) time(p place) int64 {
	if p.call == noNode {
		return d.base + p.after
	}
	return d.ended(p.call) + p.after
}

func (d *dev) started(n graph.Node) int64 { return d.base + d.times.Start[d.first+n] }
func (d *dev) ended(n graph.Node) int64   { return d.base + d.times.End[d.first+n] }

// called is when the host called something. It may have been kept waiting: then the call
// lasts longer than it takes.
func (d *dev) called(n graph.Node) int64 {
	g := d.graph()
	n += d.first
	before := g.Before[n]
	if before == graph.None {
		return d.base + g.Release[n]
	}
	return d.base + d.times.End[g.From[before]] + g.Lag[before]
}

// graph is that which the nodes of the rank are in.
func (d *dev) graph() *graph.Graph {
	if d.all != nil {
		return d.all
	}
	return &d.g
}
