package facts

import (
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/analyze/work"
	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/trace"
)

// Communication is the collectives on the devices of a rank. Long recordings have hundreds
// of thousands, so the texts that they share are kept once, in Kernels and Streams.
type Communication struct {
	Collectives []Collective // by device, then by start
	Kernels     []string     // names of their kernels, each once
	Streams     []Stream     // the streams on which they run, each once
	Groups      []Group      // in order of their first collective
	SelfOverlap bool         // communication and compute overlap on one stream, which is impossible
	OnCompute   int          // collectives on streams of compute kernels
	Suspects    []Suspect    // compute kernels that may be communication, by time
}

// Stream is a track of a device by its labels in viewers.
type Stream struct{ Process, Thread string }

// Collective is one communication kernel and what the trace says of its message.
type Collective struct {
	timeline.Message
	Kind       timeline.CollectiveKind
	Device     int                 // index into Rank.Devices
	Kernel     int32               // index into Kernels
	Stream     int32               // index into Streams
	Start, End int64               // ns
	Linked     bool                // its launch call is in the recording
	Step       int                 // index of the step of its launch call, -1 unknown or none
	Site       timeline.LaunchSite // of its launch call; unknown where that is not recorded
	Asked      int32               // index of the host collective that launched it, -1 unknown
	Phase      Phase               // of its launch call, never PhaseGradientSync

	Replayed bool // the replay of a CUDA graph launched it

	Code string // the line of the program that launches it; "" unknown
}

// Event returns the kernel of the i-th collective as a viewer shows it.
func (c *Communication) Event(i int) timeline.Event {
	one := &c.Collectives[i]
	stream := &c.Streams[one.Stream]
	return timeline.Event{
		Name:     c.Kernels[one.Kernel],
		Process:  stream.Process,
		Thread:   stream.Thread,
		Start:    one.Start,
		Duration: one.End - one.Start,
		Code:     one.Code,
	}
}

// onDevices is when collectives run where.
func (c *Communication) onDevices() []work.Collective {
	list := make([]work.Collective, len(c.Collectives))
	for i := range c.Collectives {
		one := &c.Collectives[i]
		list[i] = work.Collective{Device: one.Device, Start: one.Start, End: one.End}
	}
	return list
}

// collector lists the collectives of a rank.
type collector struct {
	x        *timeline.Rank
	steps    *steps.Steps
	out      Communication
	launches []int32                       // by collective: the row of its launch call, -1 none
	kernels  map[trace.StringID]int32      // numbers of names
	streams  map[trace.TrackID]int32       // numbers of tracks
	sites    map[int32]timeline.LaunchSite // of launch calls: one may launch many kernels (graphs)
}

// communicate lists the collectives of a rank, groups them and measures the groups. launches
// are, by collective, the rows of their launch calls, -1 for none: joinHost needs them once
// the host's side is done.
func communicate(x *timeline.Rank, s *steps.Steps) (_ Communication, launches []int32) {
	n := 0
	for _, d := range x.Devices {
		for _, kind := range d.Kind {
			n += oneIf(kind != timeline.NotCommunication)
		}
	}
	c := &collector{
		x:        x,
		steps:    s,
		launches: make([]int32, 0, n),
		kernels:  make(map[trace.StringID]int32),
		streams:  make(map[trace.TrackID]int32),
		sites:    make(map[int32]timeline.LaunchSite, n),
	}
	c.out.Collectives = make([]Collective, 0, n)
	for dev, d := range x.Devices {
		for i, kind := range d.Kind {
			if kind != timeline.NotCommunication {
				c.add(dev, i)
			}
		}
	}
	c.out.Groups = groups(x.Devices, c.out.Collectives)
	c.out.SelfOverlap, c.out.OnCompute = checkStreams(x, c)
	c.out.Suspects = suspectsOf(x)
	return c.out, c.launches
}

// add adds the collective that the i-th event of a device is.
func (c *collector) add(dev, i int) {
	d := c.x.Devices[dev]
	row, launch := d.Rows[i], d.Launch[i]
	one := Collective{
		Message: c.x.MessageOf(row, launch),
		Kind:    d.Kind[i],
		Device:  dev,
		Kernel:  c.kernel(row),
		Stream:  c.stream(row),
		Start:   c.x.Col.Start[row],
		End:     c.x.End(row),
		Linked:  launch >= 0,
		Step:    -1,
		Site:    timeline.UnknownSite,
		Asked:   -1,
		Phase:   PhaseUnknown,

		Replayed: c.x.Replayed(row, launch),
	}
	if one.Kind == timeline.Barrier {
		one.Bytes = 0 // nothing worth counting moves
	}
	if launch >= 0 {
		one.Step = c.steps.At(c.x.Col.Start[launch])
		one.Site = c.site(row, launch, one.Replayed)
		one.Code = c.x.Code(launch)
	}
	c.out.Collectives = append(c.out.Collectives, one)
	c.launches = append(c.launches, launch)
}

// site returns the launch site of an event, which is that of its launch call but for parts
// of a graph.
func (c *collector) site(row, launch int32, replayed bool) timeline.LaunchSite {
	site, known := c.sites[launch]
	if !known {
		site = c.x.SiteOf(launch)
		c.sites[launch] = site
	}
	if replayed {
		return c.x.GraphSite(row, site)
	}
	return site
}

// kernel returns the number of a row's name.
func (c *collector) kernel(row int32) int32 {
	id := c.x.Col.Name[row]
	n, known := c.kernels[id]
	if !known {
		n = int32(len(c.out.Kernels))
		c.kernels[id], c.out.Kernels = n, append(c.out.Kernels, c.x.Name(row))
	}
	return n
}

// stream returns the number of a row's track.
func (c *collector) stream(row int32) int32 {
	id := c.x.Col.Track[row]
	n, known := c.streams[id]
	if !known {
		track := &c.x.Trace.Tracks()[id]
		n = int32(len(c.out.Streams))
		c.streams[id], c.out.Streams = n, append(c.out.Streams, Stream{track.PID, track.TID})
	}
	return n
}

// joinHost notes for each collective which host collective launched it: the one whose row,
// in rows, is the record_param_comms around its launch call, in launches; or, where those
// of older versions say nothing, the innermost such row around it.
func joinHost(x *timeline.Rank, list []Collective, launches, rows []int32) {
	asked := make(map[int32]int32, len(rows))
	for i, row := range rows {
		asked[row] = int32(i)
	}
	for i, launch := range launches {
		if launch < 0 {
			continue
		}
		x.Stack(launch, func(span int32) bool {
			n, ok := int32(0), false
			if x.Is(span, timeline.CollectiveSpan) {
				if n, ok = asked[span]; ok {
					list[i].Asked = n
				}
			}
			return !ok
		})
	}
}

// checkStreams looks for communication on the streams of compute kernels and counts it. A
// stream runs one thing after the other, so communication there hides nothing; and if the
// two overlap in time nevertheless, the tracks are wrong and no overlap can be trusted. A
// communication stream may compute a little (FSDP2 adds up reduced gradients there), so
// a stream counts as one of compute kernels only if it has half of their time. The replay of
// a graph is left out: it runs by the graph's edges, and what tracks it is drawn on is up to
// the driver, or to the tool that merged them. Kernels that no process group launches, such
// as a custom all-reduce, are meant to run between compute kernels.
func checkStreams(x *timeline.Rank, c *collector) (overlap bool, shared int) {
	if len(c.out.Collectives) == 0 {
		return false, 0
	}
	computes, total := make([]*timeline.Set, len(c.out.Streams)), int64(0)
	busy := make([]int64, len(c.out.Streams)) // of compute kernels, ns
	for _, d := range x.Devices {
		for i, row := range d.Rows {
			if d.Bucket[i] != timeline.ComputeBucket || x.Replayed(row, d.Launch[i]) {
				continue
			}
			total = bounded.Add(total, x.Col.Dur[row])
			stream, communicates := c.streams[x.Col.Track[row]]
			if !communicates {
				continue
			}
			if computes[stream] == nil {
				computes[stream] = timeline.NewSet(0)
			}
			computes[stream].Add(x.Col.Start[row], x.End(row))
			busy[stream] = bounded.Add(busy[stream], x.Col.Dur[row])
		}
	}
	for i := range c.out.Collectives {
		one := &c.out.Collectives[i]
		if set := computes[one.Stream]; set != nil && !one.Replayed {
			over := set.Within(one.Start, one.End) > 0
			overlap = overlap || over
			shared += oneIf(over || 2*busy[one.Stream] >= total && timeline.OfProcessGroup(c.out.Kernels[one.Kernel]))
		}
	}
	return overlap, shared
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
