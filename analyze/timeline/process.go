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

// partitioner divides the tracks of a trace among ranks and notes what no rank can claim.
type partitioner struct {
	*Rows
	problems []trace.Problem
}

func (p *partitioner) problem(code trace.Code, n int, detail string) {
	p.problems = append(p.problems, trace.Problem{Code: code, Count: int64(n), Offset: -1, Detail: detail})
}

// partition finds the ranks of a trace: one per host process that computes. With a single
// process there is nothing to decide, all devices are its own, whatever ids say. Only in
// merged files do launches have to be asked which device belongs to whom.
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

// processes splits the tracks into host processes with operators or runtime calls and
// devices with activity; rows of the profiler itself are neither. A process and a device
// may have the same number, so numbers alone do not separate them: in a container the
// training process is often process 1, and so is the second device. Tracks come sorted by
// process, so each new one starts a new scope or device.
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

// activityRows appends the device events of one track: not the annotations and
// synchronization records that Kineto also draws on streams.
func activityRows(x *Rows, rows []int32, track trace.Track) []int32 {
	rows = slices.Grow(rows, track.N)
	for i := track.First; i < track.First+track.N; i++ {
		if x.Col.Cat[i].IsActivity() && x.Col.Phase[i] == trace.Complete {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// isHost reports whether a track holds host work: operators, runtime calls or Python
// functions, or else annotations or complete events without a category, since some writers
// give none (PyTorch 1.13's own exporter). The latter do not count where the process also
// has device activity: there they are derived rows of the device, such as XLA's.
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

// mainProcesses keeps the processes that launch device work or train; where none does, all.
// It drops data loaders and compiler workers, which record operators but are no ranks.
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

// votes says which host process launched each event of one device.
type votes struct {
	device *Device
	owner  []int // by event: index of the host process, -1 if none or several qualify
	count  []int // by host process: the events that only it can have launched
}

// assignDevices gives each device of a merged file to the host process that launched its
// work.
//
//  1. Events vote. Correlation ids clash between ranks, so External ids must match, too;
//     where a trace has none, ids and times have to do.
//  2. If one process has ten times the votes of any other, the device is its own.
//  3. If several have votes, each rank called its own device by the same number, and the
//     device is split event by event. Events without a clear owner are dropped and
//     reported rather than guessed, as time in the wrong rank would go unnoticed.
//  4. If none has votes, the device goes to the next process without one, and this is
//     reported.
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

// sameExternal reports whether a launch call and a device event carry the same External id.
// Of merged ranks, correlation ids nearly always clash; both ids at once seldom do.
func sameExternal(x *Rows, launch, row int32) bool {
	return x.Col.External[row] != 0 && x.Col.External[launch] == x.Col.External[row]
}

// vote finds the one process that can have launched each event: the only one with a launch
// call that has the event's correlation id, does not start after it, and matches.
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

// topTwo returns the indexes of the largest and the second largest count. There are at
// least two counts: one process needs no vote.
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

// giveByOrdinal gives a device on which no known process launched anything to the first
// process that has none yet, as launchers hand out devices in the order of processes.
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

// splitDevice gives each host process a device of its own with the events it launched.
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
