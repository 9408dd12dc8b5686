// Package pprof writes the device time of a trace as a profile of github.com/google/pprof,
// for go tool pprof and every viewer of its format.
//
//	err := pprof.Write(w, t, pprof.Options{})
//
// A profile is made for stacks of functions. Here a stack is, from the outside in, the
// optimizers of the step, the phase, the launch site of communication, the operator and the
// kernel; so a flame graph shows where device time goes in the terms of a training run. What
// a stack has no room for (rank, device, stream, step) is a label, to filter by.
//
// Events that are equal in all of that are one sample. Samples sum to the device time of the
// trace, device by device, and their exposed communication to that of the report. Equal
// traces give equal bytes.
package pprof

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/escape"
	"github.com/gaprof/gaprof/trace"
	"github.com/google/pprof/profile"
)

// Options are what a trace does not say of itself. The zero value works.
type Options struct {
	Version   string                       // of gaprof, for the comments of the profile; "" leaves it out
	Rank      func() (rank int64, ok bool) // asked for traces that do not say their rank; nil if unknown
	TimeNanos *int64                       // ns since 1970, instead of the time in the trace; nil to use that

	Communication []timeline.Declaration // as those of analyze.Options
}

// The values of a sample, in this order.
const (
	deviceTime = iota // ns, summed over events
	exposed           // ns, of communication
	events
	size // bytes of messages, copies and memsets
	numValues
)

// sampleTypes returns the types of the values, new ones for each profile, which owns them and
// writes to them.
func sampleTypes() []*profile.ValueType {
	return []*profile.ValueType{
		{Type: "device_time", Unit: "nanoseconds"},
		{Type: "exposed_communication", Unit: "nanoseconds"},
		{Type: "events", Unit: "count"},
		{Type: "bytes", Unit: "bytes"},
	}
}

// comment explains what the names of the values leave open.
const comment = "exposed_communication: busy time without a compute kernel (exposed_ns of gaprof.report/1)"

// mapped takes the place of a binary, which viewers name in their headers.
const mapped = "device activity"

// ErrNoDevice is the error for a trace without device activity.
var ErrNoDevice = errors.New("no device activity: there is no device time to profile")

// Write writes the profile of a trace to w, compressed with gzip, as the format requires. The
// error is ErrNoDevice or that of w.
func Write(w io.Writer, t *trace.Trace, o Options) error {
	p, err := Profile(t, o)
	if err != nil {
		return err
	}
	return p.Write(w)
}

// Profile returns the profile of a trace, which the caller owns. Control characters in names
// are escaped, as viewers print them to terminals.
func Profile(t *trace.Trace, o Options) (*profile.Profile, error) {
	b := newBuilder(t, o)
	next := int64(0)
	x := timeline.NewWith(t, o.Communication)
	for i, r := range facts.ComputeAlone(x) {
		if r.DeviceEvents == 0 {
			continue
		}
		number := r.ID
		if number < 0 {
			number = assigned(o, next)
		}
		next = max(next, number+1)
		b.rank(x.Ranks[i], r, number)
	}
	if len(b.p.Sample) == 0 {
		return nil, ErrNoDevice
	}
	b.mapLocations()
	b.p.DurationNanos = b.end - b.start
	b.p.TimeNanos = timeOf(t, b.start, o)
	return b.p, b.p.CheckValid()
}

// mapLocations gives all locations one mapping that claims to have every detail: otherwise
// pprof looks for a binary of that name to read symbols from.
func (b *builder) mapLocations() {
	m := &profile.Mapping{
		ID:              1,
		File:            mapped,
		HasFunctions:    true,
		HasFilenames:    true,
		HasLineNumbers:  true,
		HasInlineFrames: true,
	}
	b.p.Mapping = []*profile.Mapping{m}
	for _, l := range b.p.Location {
		l.Mapping = m
	}
}

// assigned returns the rank of a trace that does not say it: from the options, else the next
// free number.
func assigned(o Options, next int64) int64 {
	if o.Rank != nil {
		if id, ok := o.Rank(); ok {
			return id
		}
	}
	return next
}

// timeOf returns when the first device event started, in ns since 1970, 0 if that is unknown.
func timeOf(t *trace.Trace, start int64, o Options) int64 {
	switch base := t.Meta().BaseTime; {
	case o.TimeNanos != nil:
		return *o.TimeNanos
	case base > 0:
		return base + start
	}
	return 0
}

// builder is a profile in the making.
type builder struct {
	t          *trace.Trace
	p          *profile.Profile
	samples    map[event]*profile.Sample
	locations  map[string]*profile.Location // by name
	start, end int64                        // of device activity, ns; nothing before seen is set
	seen       bool
}

// newBuilder starts the profile of a trace.
func newBuilder(t *trace.Trace, o Options) *builder {
	return &builder{
		t:         t,
		samples:   make(map[event]*profile.Sample),
		locations: make(map[string]*profile.Location),
		p: &profile.Profile{
			SampleType:        sampleTypes(),
			DefaultSampleType: "device_time",
			PeriodType:        sampleTypes()[deviceTime],
			Period:            1,
			Comments:          []string{strings.TrimSpace("gaprof " + o.Version), comment},
		},
	}
}

// rank adds every device event of a rank under its number.
func (b *builder) rank(x *timeline.Rank, r *facts.Rank, number int64) {
	of := &rank{x, r, number}
	phases, shares := facts.NewPhases(x, r), r.ExposedEach()
	next := 0 // collective
	for _, d := range x.Devices {
		for i, row := range d.Rows {
			e := b.t.Event(int(row))
			b.extend(e)
			launch := d.Launch[i]
			one := event{
				rank:   of,
				device: d.PID,
				track:  x.Col.Track[row],
				name:   x.Col.Name[row],
				step:   -1,
				linked: launch >= 0,
				phase:  phases.Phase(row, launch),
			}
			if one.linked {
				one.step = r.StepAt(x.Col.Start[launch])
				one.operator = phases.Operator(launch)
			}
			value := [numValues]int64{deviceTime: x.Col.Dur[row], events: 1}
			if d.Kind[i] != timeline.NotCommunication {
				c := &r.Collectives[next]
				one.site, one.corr = c.Site, e.Corr()
				value[exposed], value[size] = shares[next], max(0, c.Bytes)
				next++
			} else if n, ok := e.ArgInt(trace.KeyBytes); ok && n > 0 {
				value[size] = n
			}
			b.add(one, value)
		}
	}
}

// extend extends the time of the profile to an event.
func (b *builder) extend(e trace.Event) {
	if !b.seen {
		b.start, b.end, b.seen = e.Start(), e.End(), true
	}
	b.start, b.end = min(b.start, e.Start()), max(b.end, e.End())
}

// rank is where the events of a sample come from.
type rank struct {
	x      *timeline.Rank
	facts  *facts.Rank
	number int64
}

// event is everything that a sample says of device events apart from their values. Events
// for which it is equal are added up in one sample.
type event struct {
	rank     *rank
	device   string
	track    trace.TrackID
	name     trace.StringID
	linked   bool // the launch call is in the recording
	step     int  // index, -1 for none
	phase    facts.Phase
	operator string              // the innermost around the launch call; "" without one
	site     timeline.LaunchSite // of collectives, else zero
	corr     int64               // correlation id of collectives, else 0
}

// stack returns the frames of an event from the kernel outwards.
func (v *event) stack() []string {
	frames := []string{v.rank.x.Trace.String(v.name)}
	if !v.linked {
		return append(frames, "launched outside the recording")
	}
	frames = append(frames, v.operator)
	if v.site.Site != "" {
		frames = append(frames, "from "+strings.TrimSpace(spaced(string(v.site.Site))+" "+v.site.Name))
	}
	frames = append(frames, phaseNames[v.phase])
	if v.step < 0 {
		return append(frames, "outside any step")
	}
	return append(frames, "step "+strings.Join(v.rank.facts.Steps[v.step].Optimizers, " + "))
}

// phaseNames are the frames of phases. No operator has a name that begins like these, so
// frames of the two cannot be merged.
var phaseNames = map[facts.Phase]string{
	facts.PhaseForward:       "phase forward",
	facts.PhaseBackward:      "phase backward",
	facts.PhaseGradientSync:  "phase gradient sync",
	facts.PhaseAfterBackward: "phase after backward",
	facts.PhaseOptimizer:     "phase optimizer",
	facts.PhaseUnknown:       "phase unknown",
}

// label sets the labels by which a sample can be selected, as with -tagfocus step=3. Numbers
// are numeric labels, because pprof takes a number to mean a range of them. Collectives, of
// which there are few, carry the correlation id by which a viewer of traces finds them; with
// one on every kernel, no two events would share a sample.
func (v *event) label(s *profile.Sample) {
	s.NumLabel = map[string][]int64{"rank": {v.rank.number}}
	s.Label = make(map[string][]string)
	stream := v.rank.x.Trace.Tracks()[v.track].TID
	for _, l := range []struct{ key, value string }{{"device", v.device}, {"stream", stream}} {
		if n, err := strconv.ParseInt(l.value, 10, 64); err == nil {
			s.NumLabel[l.key] = []int64{n}
		} else {
			s.Label[l.key] = []string{escape.Control(l.value)}
		}
	}
	if v.step >= 0 {
		s.NumLabel["step"] = []int64{int64(v.rank.facts.Steps[v.step].Index)}
		s.Label["kind"] = []string{v.rank.facts.Steps[v.step].Kind}
	}
	if v.corr != 0 {
		s.NumLabel["correlation"] = []int64{v.corr}
	}
	s.NumUnit = make(map[string][]string)
	for key := range s.NumLabel {
		s.NumUnit[key] = []string{key} // what readers assume; without a unit a zero is dropped
	}
}

// add adds the values of an event to its sample.
func (b *builder) add(v event, value [numValues]int64) {
	s := b.samples[v]
	if s == nil {
		s = &profile.Sample{Value: make([]int64, numValues)}
		v.label(s)
		for _, name := range v.stack() {
			s.Location = append(s.Location, b.location(escape.Lines(escape.Control(name))))
		}
		b.samples[v] = s
		b.p.Sample = append(b.p.Sample, s)
	}
	for i, n := range value {
		s.Value[i] += n
	}
}

// location returns the location that represents a name, one for all equal names. SystemName
// stays empty: if it equals the name, pprof takes that for mangled and cuts off parameters.
func (b *builder) location(name string) *profile.Location {
	if name == "" {
		name = "(no name)"
	}
	l := b.locations[name]
	if l == nil {
		id := uint64(len(b.locations) + 1)
		f := &profile.Function{ID: id, Name: name}
		l = &profile.Location{ID: id, Line: []profile.Line{{Function: f}}}
		b.locations[name] = l
		b.p.Function = append(b.p.Function, f)
		b.p.Location = append(b.p.Location, l)
	}
	return l
}

// spaced turns an id such as backward_hook into words.
func spaced(id string) string { return strings.ReplaceAll(id, "_", " ") }
