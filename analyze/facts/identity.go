package facts

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// Identity says which rank of which run wrote a trace, and by what means.
type Identity struct {
	ID             int64              // -1 where the trace does not say it
	IDSource       string             // what said so, empty where nothing did
	WorldSize      int64              // 0 unknown
	DeviceName     string             // of the first device, "" unknown
	BaseTime       int64              // ns since 1970 at instant 0 of the trace's clock, 0 unknown
	Distributed    *trace.Distributed // nil where the recording does not say; of several ranks in a file that of all
	Communicates   bool               // the host threads carry collectives, of any backend
	Categorised    bool               // the writer gave categories; without them little is known
	UsesFSDP       bool               // there are spans of FSDP2
	FusedOptimizer bool               // the optimizer runs as PyTorch's fused kernels
	Senders        []int64            // ranks whose messages the host threads carry, ascending
}

// Mixed reports whether one process carries messages of several ranks: a merged file
// whose ranks cannot be told apart.
func (id *Identity) Mixed() bool { return len(id.Senders) > 1 }

// identify finds the number of a rank and the size of its world: from
// distributedInfo where the trace holds one rank, else from record_param_comms of
// its own threads. What neither tells is left to the caller: -1.
func identify(x *timeline.Rank) Identity {
	meta := x.Trace.Meta()
	id := Identity{ID: -1, DeviceName: deviceName(x), BaseTime: meta.BaseTime, Distributed: clone(meta.Distributed),
		Communicates: x.Communicates(), Categorised: categorised(x),
		UsesFSDP: x.AnyName()&timeline.FSDP2 != 0, FusedOptimizer: x.AnyName()&timeline.FusedOptimizer != 0}
	if d := meta.Distributed; d != nil {
		id.WorldSize = d.WorldSize
		if x.Only {
			id.ID, id.IDSource = d.Rank, "distributedInfo"
		}
	}
	var size int64
	id.Senders, size = senders(x)
	if meta.Distributed == nil {
		id.WorldSize = size
	}
	if len(id.Senders) > 0 && id.ID < 0 {
		id.ID, id.IDSource = id.Senders[0], "record_param_comms"
	}
	slices.Sort(id.Senders)
	return id
}

// clone copies what a trace says of a distributed run.
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

// senders reads from the messages of the largest process group, which is taken for the
// world, who sent them, and returns its size, 0 without messages.
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

// sender is what an event says of who sent its message, as it stands there: the rank,
// the size and the members of the group.
type sender [3]trace.Arg

func senderOf(e trace.Event) (said sender) {
	var room [24]trace.Arg
	for _, a := range slices.Backward(e.AppendArgs(room[:0])) {
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

// globalRank reads who sent a message: Rank is the place in the group, whose members
// are listed in Process Group Ranks where the group is not the world.
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

// deviceName is the name of the rank's first device, where the header has it.
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
