package sim

import (
	"strings"
	"time"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/trace/graph"
)

// noNode is no node of a graph.
const noNode = graph.Node(graph.None)

// place is a point in the program of a host: so many ns after the end of a call.
type place struct {
	call  graph.Node // noNode for the beginning of the run
	after int64
}

// here is where the host is.
func (d *dev) here() place { return place{d.last, d.think} }

// spend lets the host do something for a time between calls.
func (d *dev) spend(ns float64) { d.think += int64(ns) }

// figure is one of the machine.
func (d *dev) figure(p param) float64 { return d.machine.values[p] }

// call lets the host call the runtime.
func (d *dev) call(takes float64) graph.Node {
	n := d.g.Add(d.host, int64(takes))
	d.role = append(d.role, graph.Light)
	if before := d.g.Before[n]; before != graph.None {
		d.g.Lag[before] = d.think
	} else {
		d.g.Release[n] = d.think
	}
	d.last, d.think = n, 0
	return n
}

// wrote writes a call down and returns its correlation.
func (d *dev) wrote(name string, n graph.Node) int64 {
	d.correlation++
	if d.to != nil {
		tells(&d.journal, toldCall, &d.journal.calls, madeCall{name, n, d.correlation, d.external()})
	}
	return d.correlation
}

// external is the id of the innermost open range, or 0.
func (d *dev) external() int64 {
	if len(d.ranges) == 0 {
		return 0
	}
	return d.ranges[len(d.ranges)-1]
}

func nothing() {}

// begin opens a span; the function it returns closes it.
func (d *dev) begin(s device.Span) func() {
	if d.to == nil {
		return nothing
	}
	d.spans++
	d.ranges = append(d.ranges, d.spans)
	made, index := d.journal.spans.add(madeSpan{kind: d.known.span(s.Cat, s.Name, s.Operands), message: s.Message,
		external: d.spans, from: d.here()}), int32(d.journal.spans.len()-1)
	return func() {
		d.ranges = d.ranges[:len(d.ranges)-1]
		made.to = d.here()
		d.journal.lines.add(told{toldSpan, index})
	}
}

// Range implements device.Device.
func (d *dev) Range(cat, name string, operands ...device.Operand) func() {
	end := d.begin(device.Span{Cat: cat, Name: name, Operands: operands})
	d.spend(d.figure(span))
	if strings.HasPrefix(name, "enumerate(DataLoader)") {
		d.spend(d.figure(loader))
	}
	return func() {
		d.spend(d.figure(span) / 2)
		end()
	}
}

// Sleep implements device.Device.
func (d *dev) Sleep(t time.Duration) { d.think += int64(max(0, t)) }

// HostWork implements device.Device.
func (d *dev) HostWork(t time.Duration) { d.Sleep(t) }

// BeginStep implements device.Device. Chance makes the host of a rank late, and its device slow.
func (d *dev) BeginStep(step int) {
	if d.to != nil {
		d.journal.lines.add(told{toldStep, int32(step)})
	}
	if most := d.figure(skew); most > 0 {
		d.spend(most * d.noise.Float64())
	}
	if deviation := d.figure(uneven); deviation > 0 {
		d.pace = max(0.5, 1+deviation*d.noise.NormFloat64())
	}
}

// Now implements device.Device.
func (d *dev) Now() func() int64 {
	at := d.here()
	return func() int64 { return d.time(at) }
}

// operator is an eager operator: a part of its time lies before the call that it makes, a part
// behind it, and a part outside of the operator.
func (d *dev) operator(total, calling float64, s func() device.Span, enqueue func()) {
	rest := max(0, total-calling)
	end := nothing
	if d.to != nil {
		end = d.begin(s())
	}
	d.spend(rest * beforeLaunch)
	enqueue()
	d.spend(rest * afterLaunch)
	end()
	d.spend(rest * (1 - beforeLaunch - afterLaunch))
}

// The parts of an eager operator without its call: in PR 149's traces aten::mul_ lasts 11.2 us
// of 13.6, and its launch begins 3 us before the end.
const (
	beforeLaunch = 0.45
	afterLaunch  = 0.25
)
