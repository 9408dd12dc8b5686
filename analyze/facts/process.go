package facts

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/gaprof/gaprof/internal/runs"
	"github.com/gaprof/gaprof/trace"
)

// scope is the part of a trace that belongs to one rank: a host process and the
// devices it launches on. A trace of a device alone has no host tracks.
type scope struct {
	pid     string
	host    []trace.TrackID
	devices []*Device
}

// Device is one accelerator of a rank.
type Device struct {
	PID    string  // the row of viewers: the device ordinal
	Rows   []int32 // its activity, by start; nil once the rank is compacted
	Launch []int32 // the row of the host call that launched Rows[i], or -1

	kind  []Collective     // of Rows[i]
	busy  [IdleBucket]*Set // by bucket, whatever else runs
	alone [IdleBucket]*Set // less what the buckets before have: what a ledger counts
}

// partition finds the ranks of a trace: one a host process that computes. Files
// in which several ranks were merged hold several, with clashing ids.
func (c *computer) partition() []*scope {
	hosts, devices := c.processes()
	if len(hosts) == 0 {
		if len(devices) == 0 {
			return nil
		}
		return []*scope{{devices: devices}}
	}
	if len(hosts) == 1 {
		hosts[0].devices = devices
		return hosts
	}
	c.assignDevices(hosts, devices)
	return hosts
}

// processes splits the tracks into host processes with operators or runtime calls
// and devices with activity; rows of the profiler itself are neither. Both may have one
// number: in a container the process is number 1, and so is the second device.
func (c *computer) processes() ([]*scope, []*Device) {
	var hosts []*scope
	var devices []*Device
	isDevice := make(map[string]bool)
	for _, track := range c.t.Tracks() {
		isDevice[track.PID] = isDevice[track.PID] || track.Activity
	}
	for id, track := range c.t.Tracks() {
		switch {
		case track.Activity:
			if n := len(devices); n == 0 || devices[n-1].PID != track.PID {
				devices = append(devices, &Device{PID: track.PID})
			}
			d := devices[len(devices)-1]
			d.Rows = c.activityRows(d.Rows, track)
		case c.isHost(track, isDevice[track.PID]):
			if n := len(hosts); n == 0 || hosts[n-1].pid != track.PID {
				hosts = append(hosts, &scope{pid: track.PID})
			}
			h := hosts[len(hosts)-1]
			h.host = append(h.host, trace.TrackID(id))
		}
	}
	for _, d := range devices {
		c.sortByStart(d.Rows)
	}
	return mainProcesses(c, hosts), devices
}

func (c *computer) activityRows(rows []int32, track trace.Track) []int32 {
	rows = slices.Grow(rows, track.N)
	for i := track.First; i < track.First+track.N; i++ {
		if c.col.Cat[i].IsActivity() && c.col.Phase[i] == trace.Complete {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

func (c *computer) sortByStart(rows []int32) {
	runs.Sort(rows, func(a, b int32) int { return cmp.Compare(c.col.Start[a], c.col.Start[b]) }, nil)
}

// isHost tells whether a track holds host work. Writers that give no categories
// (PyTorch 1.13's own exporter) are taken by the name of their process. Beside a device's
// activity, rows without categories, as XLA's, and annotations alone are of the device.
func (c *computer) isHost(track trace.Track, besideActivity bool) bool {
	for i := track.First; i < track.First+track.N; i++ {
		switch cat := c.col.Cat[i]; {
		case cat == trace.CatCPUOp, cat.IsRuntime(), cat == trace.CatPythonFunction:
			return true
		case besideActivity:
		case cat == trace.CatUserAnnotation, cat == trace.CatNone && c.col.Phase[i] == trace.Complete:
			return true
		}
	}
	return false
}

// mainProcesses keeps the processes that launch device work or step an optimizer;
// where none does, all.
func mainProcesses(c *computer, hosts []*scope) []*scope {
	var main []*scope
	for _, h := range hosts {
		if c.launchesOrSteps(h) {
			main = append(main, h)
		}
	}
	if len(main) > 0 {
		return main
	}
	return hosts
}

func (c *computer) launchesOrSteps(h *scope) bool {
	for _, id := range h.host {
		track := c.t.Tracks()[id]
		if c.trackClass[id]&(optimizerStep|accumulate) != 0 {
			return true
		}
		for i := track.First; i < track.First+track.N; i++ {
			if c.col.Cat[i].IsRuntime() {
				return true
			}
		}
	}
	return false
}

// votes counts, for one device row, the events that each host process launched.
type votes struct {
	device *Device
	owner  []int // per event: index of the host, -1 where unclear
	count  []int
}

// assignDevices gives each device to the host process that launched its work. A
// device row on which several processes launch is split event by event, and events
// that no process can claim are left out aloud.
func (c *computer) assignDevices(hosts []*scope, devices []*Device) {
	launches := make([]*launchIndex, len(hosts))
	for i, h := range hosts {
		launches[i] = c.indexLaunches(h.host)
	}
	taken := make([]bool, len(hosts))
	for _, d := range devices {
		v := c.vote(d, launches, c.sameExternal)
		best, second := topTwo(v.count)
		if v.count[best] == 0 {
			v = c.vote(d, launches, func(_, _ int32) bool { return true })
			best, second = topTwo(v.count)
		}
		switch {
		case v.count[best] == 0:
			c.giveByOrdinal(hosts, d, taken)
		case v.count[second]*10 > v.count[best]:
			c.splitDevice(hosts, v)
		default:
			hosts[best].devices = append(hosts[best].devices, d)
			taken[best] = true
		}
	}
}

// sameExternal tells whether a launch and its event carry one External id.
// Correlation ids of merged ranks clash; both seldom do.
func (c *computer) sameExternal(launch, row int32) bool {
	return c.col.External[row] != 0 && c.col.External[launch] == c.col.External[row]
}

// vote finds the one process that can have launched each event: it has a launch with
// the event's correlation id, not after the event, that matches.
func (c *computer) vote(d *Device, launches []*launchIndex, matches func(launch, row int32) bool) votes {
	v := votes{device: d, owner: make([]int, len(d.Rows)), count: make([]int, len(launches))}
	for i, row := range d.Rows {
		v.owner[i] = -1
		candidates := 0
		for h := range launches {
			if l, ok := launches[h].find(c, row); ok && c.col.Start[l] <= c.col.Start[row] && matches(l, row) {
				candidates++
				v.owner[i] = h
			}
		}
		if candidates != 1 {
			v.owner[i] = -1
			continue
		}
		v.count[v.owner[i]]++
	}
	return v
}

func topTwo(count []int) (best, second int) {
	for i, n := range count {
		if n > count[best] {
			best = i
		}
	}
	second = -1
	for i, n := range count {
		if i != best && (second < 0 || n > count[second]) {
			second = i
		}
	}
	return best, second
}

// giveByOrdinal places a device that nobody launched on: with the first process
// that has none yet.
func (c *computer) giveByOrdinal(hosts []*scope, d *Device, taken []bool) {
	c.problem(trace.UnknownDeviceShare, int64(len(d.Rows)), "device "+strconv.Quote(d.PID))
	for i := range hosts {
		if !taken[i] {
			taken[i] = true
			hosts[i].devices = append(hosts[i].devices, d)
			return
		}
	}
	hosts[0].devices = append(hosts[0].devices, d)
}

func (c *computer) splitDevice(hosts []*scope, v votes) {
	parts := make([]*Device, len(hosts))
	lost := 0
	for i, row := range v.device.Rows {
		h := v.owner[i]
		if h < 0 {
			lost++
			continue
		}
		if parts[h] == nil {
			parts[h] = &Device{PID: v.device.PID}
			hosts[h].devices = append(hosts[h].devices, parts[h])
		}
		parts[h].Rows = append(parts[h].Rows, row)
	}
	c.problem(trace.SharedDevice, int64(lost), "device "+strconv.Quote(v.device.PID))
}
