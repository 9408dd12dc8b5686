package gradients

import (
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// TokenPlace says where in a step the token count is reduced over ranks.
type TokenPlace string

// The places of a token all-reduce: before the first forward pass of the step (so
// that losses can be scaled) or behind the last backward pass (so that gradients are).
const (
	TokensBeforeForward TokenPlace = "before_forward"
	TokensBeforeScale   TokenPlace = "before_scale"
	TokensNowhere       TokenPlace = ""
)

// TokenAllReduce is the reduction of single numbers, such as the number of tokens
// and the loss, over ranks.
type TokenAllReduce struct {
	Place    TokenPlace
	PerStep  int // calls in a step, as most steps have them
	Judgable bool
}

// tokenAllReduce counts the all-reduces of one element before the first forward and
// between the last accumulation and the optimizer of each step. own is what each step
// shows; norms and forward are host starts, ascending.
func tokenAllReduce(x *timeline.Rank, list []steps.Step, own []Step, collectives []HostCollective, norms, forward []int64) TokenAllReduce {
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

// counts tells how many all-reduces of one element a step with some backward passes has
// before its first forward pass and behind its last accumulation. Those behind a norm
// belong to clipping.
func counts(passes []Backward, collectives []HostCollective, norms, forward []int64) (before, after int) {
	first, last := passes[0], passes[len(passes)-1].Last
	for i := range collectives {
		c := &collectives[i]
		if c.Kind != timeline.AllReduce || c.Elems != 1 || c.Site.Site == timeline.SiteOptimizerStep {
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

// leastForward is how few operators a forward pass with its loss has at the least: fewer
// between a moment and the backward pass are the arithmetic of a loss, so a moment lies
// before the first forward pass where a whole one still fits.
const leastForward = 4

func mostFrequentCount(count map[int]int) int {
	best, most := 0, 0
	for n, times := range count {
		if times > most || times == most && n > best {
			best, most = n, times
		}
	}
	return best
}
