package facts

import "github.com/gaprof/gaprof/analyze/timeline"

// Activity is what ran on the devices of a rank, and how far it is joined to launches.
type Activity struct {
	Devices         []Device
	DeviceEvents    int              // kernels, copies and sets
	Unlinked        int              // of those, the ones without a launch in the recording
	UnlinkedAtStart int              // of those, the ones that start before any linked event of their device
	FirstUnlinked   []timeline.Event // the first of them, a few
	Impossible      []timeline.Event // the first device events that start before their launch
}

// Device is one accelerator of a rank.
type Device struct {
	PID  string // the row of viewers: the device ordinal
	Busy timeline.Busy
}

// mostShown is how many events of a kind are kept as evidence.
const mostShown = 16

func activityOf(x *timeline.Rank) Activity {
	a := Activity{DeviceEvents: x.Links.Events, Unlinked: x.Links.Unlinked, UnlinkedAtStart: x.Links.UnlinkedAtStart}
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
