package gradients

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/gaprof/gaprof/analyze/steps"
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
			switch caller := caller(x, s.Row); {
			case strings.HasSuffix(caller, "__enter__"):
				open[track] = append(entered, s)
			case strings.HasSuffix(caller, "__exit__") && len(entered) > 0:
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

// caller returns the name of the span around a row, "" if there is none.
func caller(x *timeline.Rank, row int32) (name string) {
	x.Stack(row, func(span int32) bool {
		name = x.Name(span)
		return false
	})
	return name
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

// markNoSync notes which reductions of gradients are launched inside no_sync(): those of
// hooks at AccumulateGrad, as DDP and FSDP1 have them, and of spans of FSDP; any other may
// be the program's own. The last backward pass of the step must have at least as many: then
// these are of the same gradients, rather than of another model's, such as a GAN's.
func markNoSync(
	x *timeline.Rank, list []steps.Step, passes []Backward, collectives []HostCollective, rows []int32, inside []NoSync,
) {
	if len(inside) == 0 {
		return
	}
	longest := make([]int, len(inside)) // of those that begin no later, the one that ends last
	for i := 1; i < len(inside); i++ {
		if longest[i] = longest[i-1]; inside[i].End >= inside[longest[i]].End {
			longest[i] = i
		}
	}
	count := make(map[int]int) // of reductions, by backward pass
	for i := range collectives {
		count[collectives[i].Backward] += oneIf(collectives[i].Gradient)
	}
	for i := range collectives {
		c := &collectives[i]
		at := c.Event.Start
		n := sort.Search(len(inside), func(k int) bool { return inside[k].Start > at })
		if n == 0 || inside[longest[n-1]].End <= at || !c.Gradient || c.Step < 0 {
			continue
		}
		last := firstFrom(passes, list[c.Step].HostEnd) - 1
		again := c.Backward < last && count[last] >= count[c.Backward]
		if again && x.Inside(rows[i], timeline.AccumulateGrad|timeline.Reducer) {
			c.NoSync = longest[n-1]
		}
	}
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
