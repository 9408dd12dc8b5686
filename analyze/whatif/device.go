package whatif

import (
	"sort"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/graph"
)

// devices adds the activity of the devices: ops of a stream in order, with an edge from the
// call that launches each. Parts of a CUDA graph are in no such order: what waits for what
// there its edges say, which no profiler records, so they follow what ends before them.
func (b *builder) devices() {
	collective := 0
	for dev, d := range b.x.Devices {
		streams := make(map[trace.TrackID]int32)
		for i, row := range d.Rows {
			track := b.x.Col.Track[row]
			resource, known := streams[track]
			if !known {
				resource = b.resource(dev, b.streamNumber(row))
				streams[track] = resource
			}
			b.op(d, i, resource)
			if d.Kind[i] != timeline.NotCommunication {
				b.r.Collective[b.node[row]] = int32(collective)
				b.r.Kernel[collective] = b.node[row]
				collective++
			}
		}
	}
}

// op adds the i-th activity of a device.
func (b *builder) op(d *timeline.Device, i int, resource int32) {
	r, x := b.r, b.x
	row, launch := d.Rows[i], d.Launch[i]
	start, end := x.Col.Start[row], x.End(row)
	s := &r.streams[resource]
	on := resource
	if x.Replayed(row, launch) {
		on = graph.None
	}
	n := b.add(Op, on, row, start, end)
	b.node[row] = n
	r.Device[n], r.Blocks[n] = int16(s.device), b.blocks(row)
	s.ops = append(s.ops, n)
	r.Step[n], r.Bucket[n] = b.stepOf(launch), uint8(d.Bucket[i])
	if launch < 0 {
		return
	}
	call, ok := b.node[launch]
	if !ok {
		return
	}
	r.Before[n] = call
	r.Graph.Connect(call, n, graph.Launch, start-r.Start[call])
}

// streamNumber is the number of a row's stream, -1 unknown.
func (b *builder) streamNumber(row int32) int64 {
	if n, ok := b.x.Trace.Event(int(row)).ArgInt(trace.KeyStream); ok {
		return n
	}
	tid := b.x.Trace.Tracks()[b.x.Col.Track[row]].TID
	n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimPrefix(tid, "stream")), 10, 64)
	if err != nil {
		return timeline.Unknown
	}
	return n
}

// byTime gives ops that start later than their edges explain the op of another stream that
// ends just before: what waits for what across streams is not recorded of most.
func (b *builder) byTime() {
	b.r.binding(&priors)
	for dev := range b.x.Devices {
		ends := b.endsOf(dev)
		for resource := range b.r.streams {
			if s := &b.r.streams[resource]; s.device == dev {
				for _, op := range s.ops {
					b.follow(op, ends)
				}
			}
		}
	}
}

// endsOf lists the ops of a device by end.
func (b *builder) endsOf(dev int) []graph.Node {
	var ops []graph.Node
	for i := range b.r.streams {
		if s := &b.r.streams[i]; s.device == dev {
			ops = append(ops, s.ops...)
		}
	}
	end := b.r.End
	sort.SliceStable(ops, func(i, j int) bool { return end[ops[i]] < end[ops[j]] })
	return ops
}

// tail is how long before the end of a kernel that fills the device a collective, which waits
// for room there, begins at most, in ns: on H100s it is 1.3 to 1.7 us.
const tail = 5_000

// follow adds an edge by time where nothing else explains when an op starts.
func (b *builder) follow(op graph.Node, ends []graph.Node) {
	r := b.r
	start := r.Start[op]
	late := r.Late[op]
	if late <= unexplained {
		return
	}
	until := start
	if r.Collective[op] >= 0 {
		until += tail
	}
	i := sort.Search(len(ends), func(i int) bool { return r.End[ends[i]] > until })
	for i--; i >= 0; i-- {
		of := ends[i]
		lag := start - r.End[of]
		if lag > nearby || lag >= late+priors[classEvent] {
			return
		}
		same := r.Graph.Resource[of] == r.Graph.Resource[op] && r.Graph.Resource[op] != graph.None
		if of != op && r.Start[of] < start && !same {
			r.Graph.Connect(of, op, graph.Time, lag)
			r.Inferred[graph.Time]++
			return
		}
	}
}

// blocks is the number of blocks of a kernel's grid, 0 unknown.
func (b *builder) blocks(row int32) int32 {
	a, ok := b.x.Trace.Event(int(row)).Arg(trace.KeyGrid)
	if !ok {
		return 0
	}
	product := int64(1)
	for _, part := range strings.Split(strings.Trim(b.x.Trace.Event(int(row)).TextOf(a), "[] "), ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64)
		if err != nil || n < 1 {
			return 0
		}
		product = min(product*n, 1<<30)
	}
	return int32(product)
}
