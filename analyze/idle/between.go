package idle

import "github.com/gaprof/gaprof/analyze/timeline"

// Part is the idle time of a device between two moments.
type Part struct {
	Charges
	Garbage int64 // ns of HostStall and LaunchBound in which Python collects garbage
}

// between adds up what is charged to gaps between cuts. The zero value adds up nothing.
type between struct {
	cuts    []int64       // ns, ascending
	parts   []Part        // one more than cuts
	garbage *timeline.Set // nil for none
	at      int           // the part of the last gap, which no later one precedes
}

// add adds what a gap is charged to, which lies after all before it. From its start to
// another moment the host was late.
func (b *between) add(of *Charges, start, until int64) {
	if len(b.parts) == 0 {
		return
	}
	for b.at < len(b.cuts) && b.cuts[b.at] <= start {
		b.at++
	}
	p := &b.parts[b.at]
	p.add(of)
	if b.garbage != nil {
		p.Garbage += min(of.LaunchBound+of.HostStall, b.garbage.Within(start, until))
	}
}
