package facts

import (
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/trace"
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
// between the last accumulation and the optimizer of each step. Those behind a norm
// belong to clipping.
func (c *computer) tokenAllReduce(r *Rank, norms []int64) TokenAllReduce {
	before, after := make(map[int]int), make(map[int]int)
	steps, from := 0, 0
	for i := range r.Steps {
		s := &r.Steps[i]
		if len(s.Backwards) == 0 {
			continue
		}
		steps++
		nBefore, nAfter := 0, 0
		last := s.Backwards[len(s.Backwards)-1].Last
		for from < len(r.Calls) && r.Calls[from].Start < s.HostStart {
			from++
		}
		for k := from; k < len(r.Calls) && r.Calls[k].Start < s.HostEnd; k++ {
			call := &r.Calls[k]
			if call.Kind != AllReduce || call.Elems != 1 || call.Site.Site == SiteOptimizerStep {
				continue
			}
			switch {
			case call.Start < s.Backwards[0].First && c.beforeForward(r, s, call.Start):
				nBefore++
			case call.Start >= last && !anyIn(norms, last, call.Start):
				nAfter++
			}
		}
		before[nBefore]++
		after[nAfter]++
	}
	t := TokenAllReduce{Judgable: steps > 0 && len(r.Calls) > 0 || !r.HostCollectives}
	nBefore, nAfter := mostFrequentCount(before), mostFrequentCount(after)
	switch {
	case nBefore > 0:
		t.Place, t.PerStep = TokensBeforeForward, nBefore
	case nAfter > 0:
		t.Place, t.PerStep = TokensBeforeScale, nAfter
	}
	return t
}

// leastForward is how few operators a forward pass with its loss has at the least: fewer
// between a moment and the backward pass are the arithmetic of a loss.
const leastForward = 4

// beforeForward tells whether a moment lies before the first forward pass of a step: a
// whole one still fits between it and the first backward pass.
func (c *computer) beforeForward(r *Rank, s *Step, at int64) bool {
	return countIn(r.forward, at, s.Backwards[0].Start) >= leastForward
}

func mostFrequentCount(count map[int]int) int {
	best, most := 0, 0
	for n, times := range count {
		if times > most || times == most && n > best {
			best, most = n, times
		}
	}
	return best
}

// TokenNote is a token count that the program wrote into its trace, as an annotation
// gaprof.tokens=59: that of the MicroBatch-th noted micro-batch of a step.
type TokenNote struct {
	Step, MicroBatch int
	Tokens           int64
}

// tokenNotePrefix begins the annotations that carry token counts.
const tokenNotePrefix = "gaprof.tokens="

// tokenNotes reads the token counts that the annotations of a rank carry.
func (c *computer) tokenNotes(r *Rank) {
	if c.names.all&tokenNote == 0 {
		return
	}
	values := make(map[trace.StringID]int64)
	for i, class := range c.names.class {
		if class&tokenNote == 0 {
			continue
		}
		text := strings.TrimPrefix(c.t.String(trace.StringID(i)), tokenNotePrefix)
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
			values[trace.StringID(i)] = n
		}
	}
	if len(values) == 0 {
		return
	}
	count := make(map[int]int)
	for _, s := range c.spansOf(r.host, tokenNote) {
		n, ok := values[c.col.Name[s.row]]
		step := r.StepAt(s.start)
		if !ok || step < 0 {
			continue
		}
		r.TokenNotes = append(r.TokenNotes, TokenNote{step, count[step], n})
		count[step]++
	}
}
