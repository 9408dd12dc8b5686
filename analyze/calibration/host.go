package calibration

import (
	"strings"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// callOf is the time that a call of the runtime belongs to, -1 for none: cudaLaunchKernel, cudaLaunchKernelExC,
// cuLaunchKernelEx, hipLaunchKernel.
func callOf(name string) int {
	name = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(name, "cuda"), "cu"), "hip")
	for t := range times {
		if times[t].call != "" && strings.HasPrefix(name, times[t].call) {
			return t
		}
	}
	return -1
}

// host takes the durations of calls and of collectives, and the time from one operator to the next. Calls that wait for
// room in the queue are left out: they say how far the host is ahead.
func (s *Samples) host(r *timeline.Rank) {
	for _, id := range r.Host {
		track := r.Trace.Tracks()[id]
		pairs := newPairs(r)
		for row := int32(track.First); row < int32(track.First+track.N); row++ {
			if r.Col.Phase[row] != trace.Complete {
				continue
			}
			if of := callOf(r.Name(row)); of >= 0 && r.Col.Dur[row] <= long {
				s.Times[of] = append(s.Times[of], r.Col.Dur[row])
			}
			if ns, ok := pairs.next(row); ok {
				s.Times[eager] = append(s.Times[eager], ns)
			}
			if s.asks(r, row) {
				s.Times[collective] = append(s.Times[collective], r.Col.Dur[row])
			}
		}
	}
}

// asks reports whether a span is the outermost one of a collective, and launches it.
func (s *Samples) asks(r *timeline.Rank, row int32) bool {
	return r.Is(row, timeline.CollectiveSpan) && !r.Inside(row, timeline.CollectiveSpan) && len(r.LaunchedBy(row)) == 1
}

// pairs finds operators that follow each other directly: children of one span, each outermost and with one kernel.
type pairs struct {
	r      *timeline.Rank
	before map[int32]int32 // the last child of a span, by the span
}

func newPairs(r *timeline.Rank) *pairs { return &pairs{r, make(map[int32]int32)} }

// next is from the begin of the operator before to that of this one.
func (p *pairs) next(row int32) (ns int64, ok bool) {
	parent := p.r.Col.Parent[row]
	before, follows := p.before[parent]
	p.before[parent] = row
	if !follows || !p.single(before) || !p.single(row) || p.blocked(before) {
		return 0, false
	}
	return p.r.Col.Start[row] - p.r.Col.Start[before], true
}

// blocked reports whether a call of an operator waited for room in the queue.
func (p *pairs) blocked(row int32) bool {
	for at := row + 1; at < p.r.TrackEnd(row) && p.r.Col.Start[at] < p.r.End(row); at++ {
		if p.r.Col.Dur[at] > long && callOf(p.r.Name(at)) >= 0 {
			return true
		}
	}
	return false
}

// single reports whether a span is an outermost operator that launches one kernel by itself.
func (p *pairs) single(row int32) bool {
	if !p.r.Is(row, timeline.AtenOp) || p.r.Inside(row, timeline.AtenOp|timeline.CollectiveSpan) {
		return false
	}
	list := p.r.LaunchedBy(row)
	return len(list) == 1 && p.r.Trace.Event(int(list[0].Event())).Cat() == trace.CatKernel
}
