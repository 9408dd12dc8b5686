package facts

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gaprof/gaprof/trace"
)

// identify finds the number of a rank and the size of its world: from
// distributedInfo where the trace holds one rank, else from record_param_comms of
// its own threads. What neither tells is left to the caller: -1.
func (c *computer) identify(r *Rank, only bool) {
	r.ID = -1
	meta := c.t.Meta()
	if d := meta.Distributed; d != nil {
		r.WorldSize = d.WorldSize
		if only {
			r.ID, r.IDSource = d.Rank, "distributedInfo"
		}
	}
	c.identifyByMessages(r)
	r.DeviceName = c.deviceName(r)
	c.lookAtHost(r)
}

// lookAtHost notes what the host threads of a rank carry at all.
func (c *computer) lookAtHost(r *Rank) {
	for _, id := range r.host {
		track := c.t.Tracks()[id]
		for i := track.First; i < track.First+track.N; i++ {
			if c.col.Cat[i] != trace.CatNone {
				r.Categorised = true
				break
			}
		}
		r.HostCollectives = r.HostCollectives || c.trackClass[id]&collectiveSpan != 0
	}
}

// identifyByMessages reads the rank from the messages of the largest process group
// and takes that group for the world. One process with messages of several ranks is
// a merged file whose processes cannot be told apart.
func (c *computer) identifyByMessages(r *Rank) {
	best, found := int64(0), []int64(nil)
	var last [3]trace.Arg
	seen := make(map[[3]trace.Arg]bool)
	c.eachOf(r.host, collectiveSpan, func(row int32) {
		e := c.t.Event(int(row))
		said := senderOf(e)
		if said == last && len(seen) > 0 || seen[said] {
			return
		}
		last, seen[said] = said, true
		rank, size, ok := globalRank(e)
		switch {
		case !ok || size < best:
		case size > best:
			best, found = size, []int64{rank}
		case !slices.Contains(found, rank):
			found = append(found, rank)
		}
	})
	if c.t.Meta().Distributed == nil {
		r.WorldSize = max(r.WorldSize, best)
	}
	if len(found) > 0 && r.ID < 0 {
		r.ID, r.IDSource = found[0], "record_param_comms"
	}
	if slices.Sort(found); len(found) > 1 {
		r.Mixed = true
		r.problem(trace.MixedRanks, int64(len(found)), fmt.Sprintf("ranks %v", found))
	}
}

// senderOf is what an event says of who sent its message, as it stands there.
func senderOf(e trace.Event) (said [3]trace.Arg) {
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
func (c *computer) deviceName(r *Rank) string {
	devices := c.t.Meta().Devices
	if len(r.Devices) == 0 || len(devices) == 0 {
		return ""
	}
	ordinal := r.Devices[0].PID
	if n, ok := c.t.Event(int(r.Devices[0].Rows[0])).ArgInt(trace.KeyDevice); ok {
		ordinal = itoa(n)
	}
	for _, d := range devices {
		if itoa(d.ID) == ordinal {
			return d.Name
		}
	}
	return devices[0].Name
}
