package gradients

import (
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// TokenPlace says where in a step the token count is reduced over ranks. Reports print its
// text.
type TokenPlace string

// The places of a token all-reduce. Where it is decides what it can be for: with the count
// of all ranks known before the first forward pass, losses can be scaled; after the last
// backward pass only gradients can.
const (
	TokensBeforeForward TokenPlace = "before_forward" // before the first forward pass of the step
	TokensBeforeScale   TokenPlace = "before_scale"   // after the last backward pass
	TokensNowhere       TokenPlace = ""               // there is none
)

// TokenAllReduce is the all-reduce of single numbers, such as the number of tokens and the
// loss. A trace does not say what a number means, so any that is in the right place counts.
type TokenAllReduce struct {
	Place    TokenPlace
	PerStep  int  // all-reduces in a typical step, 0 if there are none
	Judgable bool // the trace would show one if there were one
}

// tokenAllReduce counts the all-reduces of one element before the first forward pass and
// between the last accumulation and the optimizer of each step. own is what each step
// shows; norms and forward are host starts, ascending.
func tokenAllReduce(
	x *timeline.Rank, list []steps.Step, own []Step, collectives []HostCollective, norms, forward []int64,
) TokenAllReduce {
	before, after := make(map[int]int), make(map[int]int)
	judged, from := 0, 0
	for i := range list {
		if len(own[i].Backwards) == 0 {
			continue
		}
		judged++
		for from < len(collectives) && collectives[from].Event.Start < list[i].HostStart {
			from++
		}
		to := from
		for to < len(collectives) && collectives[to].Event.Start < list[i].HostEnd {
			to++
		}
		nBefore, nAfter := counts(own[i].Backwards, collectives[from:to], norms, forward)
		before[nBefore]++
		after[nAfter]++
	}
	t := TokenAllReduce{Judgable: judged > 0 && len(collectives) > 0 || !x.Communicates()}
	nBefore, nAfter := mostFrequentCount(before), mostFrequentCount(after)
	switch {
	case nBefore > 0:
		t.Place, t.PerStep = TokensBeforeForward, nBefore
	case nAfter > 0:
		t.Place, t.PerStep = TokensBeforeScale, nAfter
	}
	return t
}

// counts returns how many all-reduces of one element a step with some backward passes has
// before its first forward pass and after its last accumulation. Those after a norm belong
// to clipping.
func counts(passes []Backward, collectives []HostCollective, norms, forward []int64) (before, after int) {
	first, last := passes[0], passes[len(passes)-1].Last
	for i := range collectives {
		c := &collectives[i]
		if c.Kind != timeline.AllReduce || c.Elems != 1 || !ofLoop(c.Site) {
			continue
		}
		switch at := c.Event.Start; {
		case at < first.First && steps.CountIn(forward, at, first.Start) >= leastForward:
			before++
		case at >= last && !steps.AnyIn(norms, last, at):
			after++
		}
	}
	return before, after
}

// ofLoop reports whether a collective may be asked for by the loop itself: not by an optimizer,
// and not by DDP or FSDP, which ask how many ranks still have data (join).
func ofLoop(s timeline.LaunchSite) bool {
	return s.Site != timeline.SiteOptimizerStep && s.Site != timeline.SiteFrameworkHook
}

// leastForward is the least number of operators that a forward pass with its loss consists
// of. Fewer between an instant and the backward pass are the arithmetic of a loss, so an
// instant precedes the forward pass if at least as many follow it.
const leastForward = 4

// mostFrequentCount returns the most frequent number, the greater of equally frequent ones.
func mostFrequentCount(count map[int]int) int {
	best, most := 0, 0
	for n, times := range count {
		if times > most || times == most && n > best {
			best, most = n, times
		}
	}
	return best
}
