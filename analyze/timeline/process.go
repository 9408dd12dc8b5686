package timeline

import (
	"slices"
	"strconv"

	"github.com/gaprof/gaprof/trace"
)

// scope is the part of a trace that belongs to one rank: a host process and the
// devices it launches on. A trace of a device alone has no host tracks.
type scope struct {
	pid     string
	host    []trace.TrackID
	devices []*Device
}

// partitioner gives the tracks of a trace to ranks, and notes what nobody can claim.
type partitioner struct {
	*Rows
	problems []trace.Problem
}

func (p *partitioner) problem(code trace.Code, n int, detail string) {
	p.problems = append(p.problems, trace.Problem{Code: code, Count: int64(n), Offset: -1, Detail: detail})
}

// partition finds the ranks of a trace: one a host process that computes. Files
// in which several ranks were merged hold several, with clashing ids.
func (p *partitioner) partition() []*scope {
	hosts, devices := p.processes()
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
	p.assignDevices(hosts, devices)
	return hosts
}

// processes splits the tracks into host processes with operators or runtime calls
// and devices with activity; rows of the profiler itself are neither. Both may have one
// number: in a container the process is number 1, and so is the second device.
func (p *partitioner) processes() ([]*scope, []*Device) {
	var hosts []*scope
	var devices []*Device
	isDevice := make(map[string]bool)
	for _, track := range p.Trace.Tracks() {
		isDevice[track.PID] = isDevice[track.PID] || track.Activity
	}
	for id, track := range p.Trace.Tracks() {
		switch {
		case track.Activity:
			if n := len(devices); n == 0 || devices[n-1].PID != track.PID {
				devices = append(devices, &Device{PID: track.PID})
			}
			d := devices[len(devices)-1]
			d.Rows = activityRows(p.Rows, d.Rows, track)
		case isHost(p.Rows, track, isDevice[track.PID]):
			if n := len(hosts); n == 0 || hosts[n-1].pid != track.PID {
				hosts = append(hosts, &scope{pid: track.PID})
			}
			h := hosts[len(hosts)-1]
			h.host = append(h.host, trace.TrackID(id))
		}
	}
	for _, d := range devices {
		p.SortByStart(d.Rows)
	}
	return mainProcesses(p.Rows, hosts), devices
}

func activityRows(x *Rows, rows []int32, track trace.Track) []int32 {
	rows = slices.Grow(rows, track.N)
	for i := track.First; i < track.First+track.N; i++ {
		if x.Col.Cat[i].IsActivity() && x.Col.Phase[i] == trace.Complete {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// isHost reports whether a track holds host work. Writers that give no categories
// (PyTorch 1.13's own exporter) are taken by the name of their process. Beside a device's
// activity, rows without categories, as XLA's, and annotations alone are of the device.
func isHost(x *Rows, track trace.Track, besideActivity bool) bool {
	for i := track.First; i < track.First+track.N; i++ {
		switch cat := x.Col.Cat[i]; {
		case cat == trace.CatCPUOp, cat.IsRuntime(), cat == trace.CatPythonFunction:
			return true
		case besideActivity:
		case cat == trace.CatUserAnnotation, cat == trace.CatNone && x.Col.Phase[i] == trace.Complete:
			return true
		}
	}
	return false
}

// mainProcesses keeps the processes that launch device work or step an optimizer;
// where none does, all.
func mainProcesses(x *Rows, hosts []*scope) []*scope {
	var main []*scope
	for _, h := range hosts {
		if launchesOrSteps(x, h) {
			main = append(main, h)
		}
	}
	if len(main) > 0 {
		return main
	}
	return hosts
}

func launchesOrSteps(x *Rows, h *scope) bool {
	for _, id := range h.host {
		track := x.Trace.Tracks()[id]
		if x.classes[id]&(OptimizerStep|AccumulateGrad) != 0 {
			return true
		}
		for i := track.First; i < track.First+track.N; i++ {
			if x.Col.Cat[i].IsRuntime() {
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
// that no process can claim are dropped and reported.
func (p *partitioner) assignDevices(hosts []*scope, devices []*Device) {
	launches := make([]*launchIndex, len(hosts))
	for i, h := range hosts {
		launches[i] = indexLaunches(p.Rows, h.host)
	}
	taken := make([]bool, len(hosts))
	for _, d := range devices {
		v := p.vote(d, launches, func(launch, row int32) bool { return sameExternal(p.Rows, launch, row) })
		best, second := topTwo(v.count)
		if v.count[best] == 0 {
			v = p.vote(d, launches, func(_, _ int32) bool { return true })
			best, second = topTwo(v.count)
		}
		switch {
		case v.count[best] == 0:
			p.giveByOrdinal(hosts, d, taken)
		case v.count[second]*10 > v.count[best]:
			p.splitDevice(hosts, v)
		default:
			hosts[best].devices = append(hosts[best].devices, d)
			taken[best] = true
		}
	}
}

// sameExternal reports whether a launch and its event carry one External id.
// Correlation ids of merged ranks clash; both seldom do.
func sameExternal(x *Rows, launch, row int32) bool {
	return x.Col.External[row] != 0 && x.Col.External[launch] == x.Col.External[row]
}

// vote finds the one process that can have launched each event: it has a launch with
// the event's correlation id, not after the event, that matches.
func (p *partitioner) vote(d *Device, launches []*launchIndex, matches func(launch, row int32) bool) votes {
	v := votes{device: d, owner: make([]int, len(d.Rows)), count: make([]int, len(launches))}
	for i, row := range d.Rows {
		v.owner[i] = -1
		candidates := 0
		for h := range launches {
			if l, ok := launches[h].find(row); ok && p.Col.Start[l] <= p.Col.Start[row] && matches(l, row) {
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
func (p *partitioner) giveByOrdinal(hosts []*scope, d *Device, taken []bool) {
	p.problem(trace.UnknownDeviceShare, len(d.Rows), "device "+strconv.Quote(d.PID))
	for i := range hosts {
		if !taken[i] {
			taken[i] = true
			hosts[i].devices = append(hosts[i].devices, d)
			return
		}
	}
	hosts[0].devices = append(hosts[0].devices, d)
}

func (p *partitioner) splitDevice(hosts []*scope, v votes) {
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
	p.problem(trace.SharedDevice, lost, "device "+strconv.Quote(v.device.PID))
}
