package facts

import (
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
	if r.ID < 0 || r.WorldSize == 0 {
		c.identifyByMessages(r)
	}
	r.DeviceName = c.deviceName(r)
	c.lookAtHost(r)
}

// lookAtHost notes what the host threads of a rank carry at all.
func (c *computer) lookAtHost(r *Rank) {
	for _, id := range r.host {
		track := c.t.Tracks()[id]
		for i := track.First; i < track.First+track.N; i++ {
			r.Categorised = r.Categorised || c.col.Cat[i] != trace.CatNone
			r.HostCollectives = r.HostCollectives || c.names.is(c.col.Name[i], collectiveSpan)
		}
	}
}

// identifyByMessages reads Rank and the largest group from record_param_comms.
func (c *computer) identifyByMessages(r *Rank) {
	for _, id := range r.host {
		track := c.t.Tracks()[id]
		for i := track.First; i < track.First+track.N; i++ {
			if !c.names.is(c.col.Name[i], collectiveSpan) {
				continue
			}
			e := c.t.Event(i)
			if n, ok := e.ArgInt(trace.KeyRank); ok && r.ID < 0 {
				r.ID, r.IDSource = n, "record_param_comms"
			}
			if n, ok := e.ArgInt(trace.KeyGroupSize); ok && c.t.Meta().Distributed == nil {
				r.WorldSize = max(r.WorldSize, n)
			}
		}
	}
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
