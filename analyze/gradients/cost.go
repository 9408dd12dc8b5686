package gradients

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/analyze/timeline"
)

// measure fills in what a gradient pass costs: on the device if it launched work there, else
// on the host. Busy is the time of its own kernels; Span also holds the gaps between them,
// which a pass of many small kernels cannot avoid, so its cost is Span without the compute
// of others that fits in between. It returns the kernels, or the operators.
func measure(x *timeline.Rank, p *Pass, list []operation, waits func() *timeline.Set) []timeline.Span {
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
	p.First.Code = x.Code(list[0].row)
	slices.SortFunc(spans, func(a, b timeline.Span) int { return cmp.Compare(a.Start, b.Start) })
	set := timeline.NewSet(len(spans))
	end := spans[0].End
	for _, s := range spans {
		set.Add(s.Start, s.End)
		end = max(end, s.End)
	}
	p.Busy, p.Span = set.Len(), end-spans[0].Start
	if !p.OnDevice {
		p.OtherIn = waits().Within(spans[0].Start, end) - waits().Overlap(set)
		return spans
	}
	for _, d := range x.Devices {
		p.OtherIn += d.Busy.Each[timeline.ComputeBucket].Within(spans[0].Start, end)
	}
	p.OtherIn = max(0, p.OtherIn-p.Busy)
	return spans
}

// kernelsOf is the index of a pass by the rows of its kernels.
type kernelsOf map[int32]int

func (k kernelsOf) add(pass int, kernels []timeline.Span) {
	for _, s := range kernels {
		k[s.Row] = pass
	}
}

// hide fills in Hidden of the passes with these kernels: how long compute kernels of no
// such pass run beside them. Hooks of backward launch on streams of their own, and what
// runs beside the model's kernels costs less than it lasts.
func (k kernelsOf) hide(x *timeline.Rank, found []Pass) {
	if len(k) == 0 {
		return
	}
	for _, d := range x.Devices {
		others := timeline.NewSet(0)
		for i, row := range d.Rows {
			if _, own := k[row]; !own && d.Bucket[i] == timeline.ComputeBucket {
				others.Add(x.Col.Start[row], x.End(row))
			}
		}
		for _, row := range d.Rows {
			if pass, own := k[row]; own {
				found[pass].Hidden += others.Within(x.Col.Start[row], x.End(row))
			}
		}
	}
	for i := range found {
		found[i].Hidden = min(found[i].Hidden, found[i].Busy)
	}
}
