package facts

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/trace"
)

// deviceLaunch is a device event by the host call that launched it.
type deviceLaunch struct {
	track  trace.TrackID
	at     int64 // host start of the launch, ns
	device int
	row    int32
}

// launchList orders the linked device events of a rank by launching thread and time.
func (c *computer) launchList(r *Rank) []deviceLaunch {
	var list []deviceLaunch
	for dev, d := range r.Devices {
		for i, row := range d.Rows {
			if l := d.Launch[i]; l >= 0 {
				list = append(list, deviceLaunch{c.col.Track[l], c.col.Start[l], dev, row})
			}
		}
	}
	slices.SortFunc(list, func(a, b deviceLaunch) int {
		return cmp.Or(cmp.Compare(a.track, b.track), cmp.Compare(a.at, b.at), cmp.Compare(a.row, b.row))
	})
	return list
}

// launchedBy returns the device events launched inside a host span on its thread.
func (c *computer) launchedBy(row int32, list []deviceLaunch) []deviceLaunch {
	track, start, end := c.col.Track[row], c.col.Start[row], c.col.Start[row]+c.col.Dur[row]
	find := func(at int64) int {
		i, _ := slices.BinarySearchFunc(list, at, func(l deviceLaunch, at int64) int {
			return cmp.Or(cmp.Compare(l.track, track), cmp.Compare(l.at, at))
		})
		return i
	}
	from, to := find(start), find(end)
	return list[from:max(from, to)]
}

// cost measures a pass: on the device where it launched work, else on the host.
func (c *computer) cost(r *Rank, p *GradientPass) {
	var spans []hostOp
	for _, row := range p.Rows {
		for _, l := range c.launchedBy(row, c.launches(r)) {
			p.OnDevice = true
			p.Kernels = append(p.Kernels, l.row)
			spans = append(spans, hostOp{l.row, c.col.Start[l.row], c.col.Start[l.row] + c.col.Dur[l.row]})
		}
	}
	if !p.OnDevice {
		for _, row := range p.Rows {
			spans = append(spans, hostOp{row, c.col.Start[row], c.col.Start[row] + c.col.Dur[row]})
		}
	}
	slices.SortFunc(spans, func(a, b hostOp) int { return cmp.Compare(a.start, b.start) })
	set := newSet(len(spans))
	end := spans[0].end
	for _, s := range spans {
		set.add(s.start, s.end)
		end = max(end, s.end)
	}
	p.Busy, p.Span = set.Len(), end-spans[0].start
	if p.OnDevice {
		for _, d := range r.Devices {
			p.OtherIn += d.busy[ComputeBucket].Within(spans[0].start, end)
		}
		p.OtherIn = max(0, p.OtherIn-p.Busy)
	}
}

// launches is launchList, made once.
func (c *computer) launches(r *Rank) []deviceLaunch {
	if r.launchList == nil {
		r.launchList = c.launchList(r)
	}
	return r.launchList
}

// normStarts are the host starts of norm operators of a rank, ascending.
func (c *computer) normStarts(r *Rank) []int64 {
	ids := c.familyIDs()
	var starts []int64
	for _, id := range r.host {
		track := c.t.Tracks()[id]
		for i := track.First; i < track.First+track.N; i++ {
			if ids[c.col.Name[i]] == norm {
				starts = append(starts, c.col.Start[i])
			}
		}
	}
	slices.Sort(starts)
	return starts
}
