package reference

import (
	"math"
	"slices"

	"github.com/gaprof/gaprof/reference/gradients"
)

// A follower writes down what a rank does to the gradient of one parameter in a step, where it
// is done, so that afterwards it is known how much each micro-batch counts in what the
// optimizer gets: the truth about a run, whatever its options say. All parameters fare alike.

// deed is one thing that is done to a gradient.
type deed struct {
	what  deedKind
	micro int     // of gained
	by    float64 // of scaled; NaN: the factor of the step, which is on the device
	shard bool    // scaled is the shard, else the whole gradient
	event gradients.Event
}

type deedKind uint8

const (
	gained  deedKind = iota // the gradient of a micro-batch's loss was added
	reduced                 // see deed.event
	cleared                 // the next gradient overwrites what is there
	scaled                  // all was multiplied
	clipped                 // all was multiplied by a number that depends on it
	applied                 // the optimizer updated the parameter
)

// lossDeeds are what is done to the loss of a micro-batch before backward.
type lossDeeds struct {
	divided        float64 // by a constant; 1 by none
	counts, factor bool    // it is multiplied by the tokens of the micro-batch, by the step's factor
}

// follower follows the first parameter whose optimizer steps in every step.
type follower struct {
	of     *gradients.Param // nil: none does
	tapes  []int            // micro-batches whose losses the backward pass at hand is of
	deeds  []deed
	losses []lossDeeds
	stale  bool // the gradient held something of earlier steps when this one began
}

// choose picks the parameter to follow.
func (f *follower) choose(params []*gradients.Param) {
	i := slices.IndexFunc(params, func(p *gradients.Param) bool { return p.Group.Due(0) && p.Group.Due(1) })
	if i >= 0 {
		f.of = params[i]
	}
}

// did is the hook of a gradients.Set.
func (f *follower) did(p *gradients.Param, e gradients.Event) {
	switch {
	case p != f.of:
	case e == gradients.Accumulated:
		for _, j := range f.tapes {
			f.deeds = append(f.deeds, deed{what: gained, micro: j})
		}
	default:
		f.deeds = append(f.deeds, deed{what: reduced, event: e})
	}
}

func (f *follower) note(p *gradients.Param, d deed) {
	if p == f.of {
		f.deeds = append(f.deeds, d)
	}
}

// loss notes what is done to the loss of micro-batch j.
func (f *follower) loss(j int, d lossDeeds) {
	for len(f.losses) <= j {
		f.losses = append(f.losses, lossDeeds{divided: 1})
	}
	f.losses[j] = d
}

// take returns what was done in a step, and begins the next one.
func (f *follower) take() story {
	s := story{f.deeds, f.losses, f.stale}
	f.stale = f.of == nil || !slices.ContainsFunc(f.deeds[lastIndex(f.deeds, applied)+1:], isCleared)
	f.deeds, f.losses = nil, nil
	return s
}

func isCleared(d deed) bool { return d.what == cleared }

// lastIndex is that of the last deed of a kind, -1 without one.
func lastIndex(list []deed, what deedKind) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].what == what {
			return i
		}
	}
	return -1
}

// story is what one rank did in a step.
type story struct {
	deeds  []deed
	losses []lossDeeds
	stale  bool
}

// optimizedLoss is the loss whose gradient the optimizers were given in a step: the sum of
// the losses of all micro-batches, each times what its gradient was multiplied by. It is NaN
// where there is no such loss: ranks differ, gradients of other steps are in it, it was
// clipped on the way, or the optimizer stepped more than once.
func optimizedLoss(s *StepResult) float64 {
	weights, ok := followed(s)
	if !ok {
		return math.NaN()
	}
	total, at := 0.0, 0
	for i := range s.Ranks {
		for _, sum := range s.Ranks[i].LossSums {
			if weights[at] != 0 {
				total += weights[at] * sum
			}
			at++
		}
	}
	return total
}

// followed is what the gradient of the summed loss of each micro-batch of all ranks, in order,
// was multiplied by in what the optimizers were given.
func followed(s *StepResult) ([]float64, bool) {
	p := replay{whole: make([][]float64, len(s.Ranks)), shard: make([][]float64, len(s.Ranks))}
	for i := range s.Ranks {
		p.first = append(p.first, p.cells)
		p.cells += len(s.Ranks[i].LossSums)
		if len(s.Ranks[i].story.deeds) != len(s.Ranks[0].story.deeds) || s.Ranks[i].story.stale {
			return nil, false
		}
	}
	for i := range s.Ranks {
		p.whole[i], p.shard[i] = make([]float64, p.cells), make([]float64, p.cells)
	}
	for k := range s.Ranks[0].story.deeds {
		if !p.step(s, k) {
			return nil, false
		}
	}
	return p.given, p.given != nil
}

// replay does with the weights of micro-batches what ranks did with their gradients.
type replay struct {
	whole, shard [][]float64 // by rank, then by micro-batch of all ranks
	first        []int       // by rank: where its micro-batches begin
	cells        int
	given        []float64 // to the optimizers; nil before they step
}

// step replays the k-th deed of all ranks; false where no weights say what came of it.
func (p *replay) step(s *StepResult, k int) bool {
	kind := s.Ranks[0].story.deeds[k].what
	if kind == reduced {
		return p.reduce(s.Ranks[0].story.deeds[k].event)
	}
	for i := range s.Ranks {
		r := &s.Ranks[i]
		d := &r.story.deeds[k]
		switch {
		case d.what != kind, kind == clipped:
			return false
		case kind == gained:
			p.whole[i][p.first[i]+d.micro] += r.weightOfLoss(d.micro)
		case kind == cleared:
			clear(p.whole[i])
			clear(p.shard[i])
		case kind == scaled && d.shard:
			multiplyBy(p.shard[i], d.factor(r))
		case kind == scaled:
			multiplyBy(p.whole[i], d.factor(r))
		}
	}
	return kind != applied || p.apply(s.Ranks[0].story.deeds[k].shard)
}

// reduce replays a reduction over ranks.
func (p *replay) reduce(e gradients.Event) bool {
	sum := make([]float64, p.cells)
	for _, row := range p.whole {
		for i, v := range row {
			sum[i] += v
		}
	}
	if e == gradients.Averaged || e == gradients.AveragedShard {
		multiplyBy(sum, 1/float64(len(p.whole)))
	}
	for r := range p.whole {
		if e == gradients.Averaged || e == gradients.Summed {
			copy(p.whole[r], sum)
			continue
		}
		clear(p.whole[r])
		for i, v := range sum {
			p.shard[r][i] += v
		}
	}
	return true
}

// apply notes what the optimizers were given: the same on all ranks, and once.
func (p *replay) apply(shard bool) bool {
	given := p.whole
	if shard {
		given = p.shard
	}
	for _, row := range given[1:] {
		if !slices.Equal(row, given[0]) {
			return false
		}
	}
	once := p.given == nil
	p.given = slices.Clone(given[0])
	return once
}

// factor is what a deed multiplies by.
func (d *deed) factor(r *RankStep) float64 {
	if math.IsNaN(d.by) {
		return r.Factor
	}
	return d.by
}

// weightOfLoss is what the summed loss of a micro-batch is multiplied by before backward; 0
// without tokens, which have no gradient.
func (r *RankStep) weightOfLoss(j int) float64 {
	if r.valid[j] == 0 || j >= len(r.story.losses) {
		return 0
	}
	d, w := r.story.losses[j], 1.0
	if r.means {
		w /= float64(r.valid[j])
	}
	if d.counts {
		w *= float64(r.Tokens[j])
	}
	if d.factor {
		w *= r.Factor
	}
	return w / d.divided
}

func multiplyBy(list []float64, by float64) {
	for i := range list {
		list[i] *= by
	}
}
