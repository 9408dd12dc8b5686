package facts

import "github.com/gaprof/gaprof/analyze/timeline"

// Activity is what ran on the devices of a rank, and how far it is joined to launch calls.
type Activity struct {
	Devices         []Device         // in the order of the index
	DeviceEvents    int              // kernels, copies and memsets
	Unlinked        int              // those of DeviceEvents without a launch call in the recording
	UnlinkedAtStart int              // those of Unlinked that start before any linked event of their device
	FirstUnlinked   []timeline.Event // the first few of Unlinked
	Impossible      []timeline.Event // the first few device events that start before their launch call
}

// Device is one accelerator of a rank.
type Device struct {
	PID  string        // process row in viewers: the device ordinal
	Busy timeline.Busy // when it is busy, by bucket; shared with the index and read-only
}

// mostShown is how many events of a kind are kept as evidence: more than any finding shows,
// and few enough that a damaged trace does not live on in its facts.
const mostShown = 16

// activityOf copies what the index knows of a rank's devices.
func activityOf(x *timeline.Rank) Activity {
	a := Activity{
		Devices:         make([]Device, 0, len(x.Devices)),
		DeviceEvents:    x.Links.Events,
		Unlinked:        x.Links.Unlinked,
		UnlinkedAtStart: x.Links.UnlinkedAtStart,
	}
	for _, d := range x.Devices {
		a.Devices = append(a.Devices, Device{d.PID, d.Busy})
		for i, row := range d.Rows {
			if d.Launch[i] < 0 && len(a.FirstUnlinked) < mostShown {
				a.FirstUnlinked = append(a.FirstUnlinked, x.Event(row))
			}
		}
	}
	for _, row := range x.Links.Impossible[:min(mostShown, len(x.Links.Impossible))] {
		a.Impossible = append(a.Impossible, x.Event(row))
	}
	return a
}
