package gradients

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// NoSync is a stretch of the host's time inside no_sync() of DDP or FSDP: what runs backward
// there shall not be reduced.
type NoSync struct {
	Event         timeline.Event // the annotation around it, or the frame of Python that enters it
	Start, End    int64          // ns
	ForwardBefore bool           // DDP's forward pass had ended when it began, and none ran in it
}

// noSyncs lists the stretches inside no_sync(), in order of start. Two things show them:
// annotations of the program that say so, and with recorded stacks the frames of no_sync. It
// is a generator, so that it has one frame where the context is entered and one where it is
// left, which what calls them tells apart.
func noSyncs(x *timeline.Rank) (list []NoSync) {
	if x.AnyName()&timeline.NoSync == 0 {
		return nil
	}
	open := make(map[trace.TrackID][]timeline.Span) // frames that enter
	for _, s := range x.Spans(x.Host, timeline.NoSync) {
		track := x.Col.Track[s.Row]
		switch x.Col.Cat[s.Row] {
		case trace.CatUserAnnotation:
			list = append(list, NoSync{Event: x.Event(s.Row), Start: s.Start, End: s.End})
		case trace.CatPythonFunction:
			entered := open[track]
			switch enters, leaves := manager(x, s.Row); {
			case enters:
				open[track] = append(entered, s)
			case leaves && len(entered) > 0:
				from := entered[len(entered)-1]
				open[track] = entered[:len(entered)-1]
				list = append(list, NoSync{Event: x.Event(from.Row), Start: from.End, End: s.Start})
			}
		}
	}
	slices.SortFunc(list, func(a, b NoSync) int { return cmp.Compare(a.Start, b.Start) })
	forwardsBefore(x, list)
	return list
}

// manager reports whether a frame is called to enter or to leave a context: by next() in
// __enter__ or __exit__ of contextlib.
func manager(x *timeline.Rank, row int32) (enters, leaves bool) {
	const between = 2 // next() itself is recorded, too
	depth := 0
	x.Stack(row, func(span int32) bool {
		name := x.Name(span)
		enters, leaves = strings.HasSuffix(name, "__enter__"), strings.HasSuffix(name, "__exit__")
		depth++
		return !enters && !leaves && depth <= between
	})
	return enters, leaves
}

// forwardsBefore fills in ForwardBefore. DDP decides in forward whether the backward pass
// reduces, so that no_sync() around backward alone has no effect.
func forwardsBefore(x *timeline.Rank, list []NoSync) {
	forwards := x.Spans(x.Host, timeline.Framework)
	forwards = slices.DeleteFunc(forwards, func(s timeline.Span) bool {
		return x.Name(s.Row) != "DistributedDataParallel.forward"
	})
	for i := range list {
		n := sort.Search(len(forwards), func(k int) bool { return forwards[k].Start >= list[i].End })
		list[i].ForwardBefore = n > 0 && forwards[n-1].End <= list[i].Start
	}
}

// markNoSync notes which reductions of gradients are launched inside no_sync() though the
// last backward pass of the step repeats them: those of hooks at AccumulateGrad, as DDP and
// FSDP1 have them, and of spans of FSDP. Any other may be the program's own.
func markNoSync(x *timeline.Rank, collectives []HostCollective, rows []int32, inside []NoSync) {
	if len(inside) == 0 {
		return
	}
	longest := make([]int, len(inside)) // of those that begin no later, the one that ends last
	for i := 1; i < len(inside); i++ {
		if longest[i] = longest[i-1]; inside[i].End >= inside[longest[i]].End {
			longest[i] = i
		}
	}
	for i := range collectives {
		c := &collectives[i]
		at := c.Event.Start
		n := sort.Search(len(inside), func(k int) bool { return inside[k].Start > at })
		if n == 0 || inside[longest[n-1]].End <= at || !c.Again {
			continue
		}
		if x.Inside(rows[i], timeline.AccumulateGrad|timeline.Reducer) {
			c.NoSync = longest[n-1]
		}
	}
}
