package gradients

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/analyze/timeline"
)

// measure fills in what a gradient pass costs: on the device if it launched work there, else
// on the host. Busy is the time of its own kernels; Span also holds the gaps between them,
// which a pass of many small kernels cannot avoid, so its cost is Span without the compute
// of others that fits in between.
func measure(x *timeline.Rank, p *Pass, list []operation) {
	var spans []timeline.Span
	for i := range list {
		for _, l := range x.LaunchedBy(list[i].row) {
			spans = append(spans, x.Span(l.Event()))
		}
	}
	p.Kernels, p.OnDevice = len(spans), len(spans) > 0
	if !p.OnDevice {
		for i := range list {
			spans = append(spans, x.Span(list[i].row))
		}
	}
	p.First = x.Event(spans[0].Row)
	slices.SortFunc(spans, func(a, b timeline.Span) int { return cmp.Compare(a.Start, b.Start) })
	set := timeline.NewSet(len(spans))
	end := spans[0].End
	for _, s := range spans {
		set.Add(s.Start, s.End)
		end = max(end, s.End)
	}
	p.Busy, p.Span = set.Len(), end-spans[0].Start
	if p.OnDevice {
		for _, d := range x.Devices {
			p.OtherIn += d.Busy.Each[timeline.ComputeBucket].Within(spans[0].Start, end)
		}
		p.OtherIn = max(0, p.OtherIn-p.Busy)
	}
}
