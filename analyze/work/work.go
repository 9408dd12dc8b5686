package work

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/analyze/idle"
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// Work is what the devices of a rank do.
type Work struct {
	Kernels []Kernel       // compute kernels, by first launch
	Devices []Device       // in the order of the rank's devices; none where the rank has no collectives
	Copy    timeline.Event // the longest copy or set; no name without any
	Garbage timeline.Event // the longest collection of Python's garbage; no name where none is recorded
}

// Device is what one device does in the windows of steps.
type Device struct {
	Start, End int64     // ns: from the first window to the end of the last; both 0 without windows
	Stretches  []Stretch // in order of time; the last ends with the last window, the others with a cut
}

// Stretch is what a device does between two cuts.
type Stretch struct {
	Collective int32     // that ends it, as index into those of the rank; -1 for the last stretch
	End        int64     // ns: end of Collective
	Idle       idle.Part // what its idle time is charged to
	Kernels    []Amount  // compute kernels that start in it, by first launch
}

// Collective is a collective of the rank on one of its devices.
type Collective struct {
	Device     int
	Start, End int64 // ns
}

// Find cuts the devices of a rank at collectives, which are in the order of the rank's, and
// charges their idle time, as [idle.Find] does.
func Find(x *timeline.Rank, s *steps.Steps, collectives []Collective) ([][]idle.Window, Work) {
	if len(collectives) == 0 {
		return idle.Find(x, s), Work{}
	}
	w := Work{Devices: make([]Device, len(x.Devices))}
	cuts := make([][]int64, len(x.Devices))
	for dev, d := range x.Devices {
		w.Devices[dev].cut(d, dev, collectives)
		for i := range w.Devices[dev].Stretches {
			if one := &w.Devices[dev].Stretches[i]; one.Collective >= 0 {
				cuts[dev] = append(cuts[dev], one.End)
			}
		}
	}
	garbage, longest := Garbage(x)
	windows, parts := idle.FindBetween(x, s, cuts, garbage)
	w.Garbage = longest
	k := newKernels(x)
	for dev, d := range x.Devices {
		of := &w.Devices[dev]
		of.Start, of.End = extent(s, dev)
		for i := range of.Stretches {
			of.Stretches[i].Idle = parts[dev][i]
		}
		of.count(k, d)
		w.longestCopy(x, d)
	}
	w.Kernels = k.all()
	return windows, w
}

// cut makes the stretches of a device.
func (of *Device) cut(d *timeline.Device, dev int, collectives []Collective) {
	for i, c := range collectives {
		if c.Device == dev && holdsUp(d, c) {
			of.Stretches = append(of.Stretches, Stretch{Collective: int32(i), End: c.End})
		}
	}
	slices.SortStableFunc(of.Stretches, func(a, b Stretch) int { return cmp.Compare(a.End, b.End) })
	of.Stretches = append(of.Stretches, Stretch{Collective: -1})
}

// Of the end of a collective these parts are looked at: at most so many ns, from before its
// half, and not the last ones, in which what waited for it on another device, or in a
// kernel that starts early, may have begun.
const (
	lookBack = 20_000
	lookPast = 5_000
)

// holdsUp reports whether the device computes nothing shortly before the end of a
// collective, so that whatever it computes next may have waited for it.
func holdsUp(d *timeline.Device, c Collective) bool {
	length := c.End - c.Start
	from, to := c.End-min(length/2, lookBack), c.End-min(length/8, lookPast)
	return length > 0 && d.Busy.Each[timeline.ComputeBucket].Within(from, to) == 0
}

// extent is from the first to the last moment of a device's windows.
func extent(s *steps.Steps, dev int) (start, end int64) {
	for i := range s.List {
		for _, w := range s.List[i].Windows {
			if w.Device != dev {
				continue
			}
			if start == end {
				start = w.Start
			}
			end = w.End
		}
	}
	return start, end
}

// count adds up the kernels that start in each stretch.
func (of *Device) count(k *kernels, d *timeline.Device) {
	at := 0
	for i, row := range d.Rows {
		start := k.x.Col.Start[row]
		if start < of.Start || start >= of.End || d.Bucket[i] != timeline.ComputeBucket {
			continue
		}
		for at < len(of.Stretches)-1 && of.Stretches[at].End <= start {
			at++
		}
		one := &of.Stretches[at]
		one.Kernels = k.count(one.Kernels, int32(at), row, d.Launch[i])
	}
	for i := range of.Stretches {
		of.Stretches[i].Kernels = slices.Clip(of.Stretches[i].Kernels)
	}
	of.Stretches[len(of.Stretches)-1].End = of.End
	for i := range k.last {
		k.last[i].stretch = -1
	}
}

// longestCopy notes the longest copy or set of a device.
func (w *Work) longestCopy(x *timeline.Rank, d *timeline.Device) {
	best := int32(-1)
	for i, row := range d.Rows {
		if d.Bucket[i] == timeline.MemoryBucket && (best < 0 || x.Col.Dur[row] > x.Col.Dur[best]) {
			best = row
		}
	}
	if best >= 0 && (w.Copy.Name == "" || x.Col.Dur[best] > w.Copy.Duration) {
		w.Copy = x.Event(best)
	}
}

// Texts calls visit for every text that may be a piece of the trace's own.
func (w *Work) Texts(visit func(*string)) {
	for i := range w.Kernels {
		k := &w.Kernels[i]
		visit(&k.Name)
		visit(&k.Shape.Inputs)
		visit(&k.Shape.Grid)
		k.Longest.Name = k.Name // copied already, and long
		visit(&k.Longest.Process)
		visit(&k.Longest.Thread)
		visit(&k.Longest.Code)
	}
	w.Copy.Texts(visit)
	w.Garbage.Texts(visit)
}
