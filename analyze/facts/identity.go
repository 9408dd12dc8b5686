package facts

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// Identity says which rank of which run wrote a trace, and with what software.
type Identity struct {
	ID             int64              // number of the rank, -1 unknown
	IDSource       string             // where ID was found: distributedInfo or record_param_comms; "" for nowhere
	WorldSize      int64              // number of ranks, 0 unknown
	DeviceName     string             // of the first device, "" unknown
	Host           string             // the machine it ran on, as the trace says; "" unknown, also in merged files
	BaseTime       int64              // ns since 1970 at instant 0 of the trace's clock, 0 unknown
	First, Last    int64              // ns on the trace's clock: when its first and its last event start
	Distributed    *trace.Distributed // a copy of the trace's, in merged files of any rank; nil if not recorded
	Communicates   bool               // the host threads carry collectives, of any backend
	Categorised    bool               // the writer gave categories; without them little is known
	UsesFSDP       bool               // there are spans of FSDP2
	FusedOptimizer bool               // there are operators of PyTorch's fused optimizers
	Senders        []int64            // ranks that sent the messages on the host threads, ascending
	Contradicted   bool               // the messages of the world are of another rank than distributedInfo says
}

// Mixed reports whether one process carries messages of several ranks: a merged file
// whose ranks cannot be told apart.
func (id *Identity) Mixed() bool { return len(id.Senders) > 1 }

// identify finds the number of a rank and the size of its world: from distributedInfo if the
// trace holds a single rank, else from record_param_comms on the rank's own threads, since a
// merged file has one distributedInfo for all. What neither says is -1, for the caller to
// decide, who may know it from the file's name.
func identify(x *timeline.Rank) Identity {
	meta := x.Trace.Meta()
	id := Identity{ID: -1, DeviceName: deviceName(x), BaseTime: meta.BaseTime, Distributed: clone(meta.Distributed),
		Communicates: x.Communicates(), Categorised: categorised(x),
		UsesFSDP: x.AnyName()&timeline.FSDP2 != 0, FusedOptimizer: x.AnyName()&timeline.FusedOptimizer != 0}
	if d := meta.Distributed; d != nil {
		id.WorldSize = max(0, d.WorldSize)
		if x.Only {
			id.ID, id.IDSource = d.Rank, "distributedInfo"
		}
	}
	if x.Only {
		id.Host = meta.Host
	}
	id.First, id.Last = recorded(x)
	var size int64
	id.Senders, size = senders(x)
	if id.WorldSize == 0 {
		id.WorldSize = size
	}
	if len(id.Senders) > 0 && id.ID < 0 {
		id.ID, id.IDSource = id.Senders[0], "record_param_comms"
	}
	id.Contradicted = id.IDSource == "distributedInfo" && len(id.Senders) == 1 && id.Senders[0] != id.ID &&
		size == id.WorldSize
	slices.Sort(id.Senders)
	return id
}

// recorded returns when the first and the last event of a rank start, in ns; 0 without any.
func recorded(x *timeline.Rank) (first, last int64) {
	empty := true
	add := func(from, to int32) {
		start, end := x.Col.Start[from], x.Col.Start[to]
		if empty {
			first, last, empty = start, end, false
		}
		first, last = min(first, start), max(last, end)
	}
	for _, id := range x.Host {
		if track := x.Trace.Tracks()[id]; track.N > 0 {
			add(int32(track.First), int32(track.First+track.N-1))
		}
	}
	for _, d := range x.Devices {
		if n := len(d.Rows); n > 0 {
			add(d.Rows[0], d.Rows[n-1])
		}
	}
	return first, last
}

// clone copies what a trace says of a distributed run, except for its texts, which Compute
// clones with all others.
func clone(d *trace.Distributed) *trace.Distributed {
	if d == nil {
		return nil
	}
	c := *d
	c.Groups = slices.Clone(d.Groups)
	for i := range c.Groups {
		c.Groups[i].Ranks = slices.Clone(c.Groups[i].Ranks)
	}
	return &c
}

// categorised reports whether any row of the host threads has a category.
func categorised(x *timeline.Rank) bool {
	for _, id := range x.Host {
		track := x.Trace.Tracks()[id]
		for _, cat := range x.Col.Cat[track.First : track.First+track.N] {
			if cat != trace.CatNone {
				return true
			}
		}
	}
	return false
}

// senders returns which ranks sent the messages of the largest process group, which is taken
// for the world, and the size of that, 0 without messages. In smaller groups a rank's number
// is only its position in the group.
func senders(x *timeline.Rank) (ranks []int64, world int64) {
	var last sender
	seen := make(map[sender]bool)
	x.Each(x.Host, timeline.CollectiveSpan, func(row int32) {
		e := x.Trace.Event(int(row))
		said := senderOf(e)
		if said == last && len(seen) > 0 || seen[said] {
			return
		}
		last, seen[said] = said, true
		rank, size, ok := globalRank(e)
		switch {
		case !ok || size < world:
		case size > world:
			world, ranks = size, []int64{rank}
		case !slices.Contains(ranks, rank):
			ranks = append(ranks, rank)
		}
	})
	return ranks, world
}

// sender is the arguments of an event that say who sent its message: the rank, the size and
// the members of the group. They are compared unparsed, as they are the same in most events.
type sender [3]trace.Arg

func senderOf(e trace.Event) (said sender) {
	var buffer [24]trace.Arg
	for _, a := range slices.Backward(e.AppendArgs(buffer[:0])) {
		switch a.Key {
		case trace.KeyRank:
			said[0] = a
		case trace.KeyGroupSize:
			said[1] = a
		case trace.KeyGroupRanks:
			said[2] = a
		}
	}
	return said
}

// globalRank reads who sent a message. Rank is the position in the group, whose members
// Process Group Ranks lists if the group is not the world.
func globalRank(e trace.Event) (rank, size int64, ok bool) {
	rank, ok = e.ArgInt(trace.KeyRank)
	if !ok || rank < 0 {
		return 0, 0, false
	}
	size, _ = e.ArgInt(trace.KeyGroupSize)
	var members []int64
	if json.Unmarshal([]byte(e.ArgText(trace.KeyGroupRanks)), &members) == nil && rank < int64(len(members)) {
		rank = members[rank]
	}
	return rank, size, true
}

// deviceName returns the name of the rank's first device, "" if the header has none. If no
// device of the header has its number, the first one's name has to do: ranks of one run have
// equal devices.
func deviceName(x *timeline.Rank) string {
	devices := x.Trace.Meta().Devices
	if len(x.Devices) == 0 || len(devices) == 0 {
		return ""
	}
	ordinal := x.Devices[0].PID
	if n, ok := x.Trace.Event(int(x.Devices[0].Rows[0])).ArgInt(trace.KeyDevice); ok {
		ordinal = strconv.FormatInt(n, 10)
	}
	for _, d := range devices {
		if strconv.FormatInt(d.ID, 10) == ordinal {
			return d.Name
		}
	}
	return devices[0].Name
}
