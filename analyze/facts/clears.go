package facts

import (
	"sort"

	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// Clears is what the clearing of gradients makes of updates.
type Clears struct {
	Kept  []Clear // updates with what was left of the gradients of the update before
	Blank []Clear // updates with gradients that were cleared after backward
}

// Clear is a step whose gradients were cleared too early, or not at all.
type Clear struct {
	Step  int            // index
	Event timeline.Event // what shows it: the update, or what clears
}

// clearsOf judges the updates of a rank, but for optimizers that step in backward.
func clearsOf(x *timeline.Rank, s *steps.Steps, g *gradients.Gradients) (c Clears) {
	if s.Source != steps.FromOptimizer {
		return c
	}
	zeros := x.Spans(x.Host, timeline.ZeroGrad)
	for i := range s.List {
		step, passes := &s.List[i], g.Steps[i].Backwards
		if len(passes) == 0 || passes[len(passes)-1].Last > step.Update.Start {
			continue // nothing to update with, or a closure
		}
		spans, ok := updateSpans(x, step)
		if !ok {
			continue
		}
		kept := keeps(passes) || g.ShardsKept[i]
		if i > 0 && kept && !g.Written[i] && !anyStarts(zeros, s.List[i-1].Update.Start, passes[0].First) {
			c.Kept = append(c.Kept, Clear{i, x.Event(spans[0].Row)})
		}
		last := passes[len(passes)-1].Last
		if z := firstStart(zeros, last, step.Update.Start); z >= 0 && !worked(x, spans) {
			c.Blank = append(c.Blank, Clear{i, x.Event(zeros[z].Row)})
		} else if p := zeroed(g, i); p != nil {
			c.Blank = append(c.Blank, Clear{i, p.First})
		}
	}
	return c
}

// updateSpans returns the optimizer spans of an update; ok is false if one of them runs in
// backward, or a backward pass in it.
func updateSpans(x *timeline.Rank, s *steps.Step) (spans []timeline.Span, ok bool) {
	from := sort.Search(len(x.Optimizers), func(i int) bool { return x.Optimizers[i].Start >= s.Update.Start })
	for _, o := range x.Optimizers[from:] {
		if o.Start >= s.Update.End {
			break
		}
		if x.InBackward(o.Row) {
			return nil, false
		}
		spans = append(spans, o)
	}
	return spans, len(spans) > 0
}

// keeps reports whether every accumulation of some backward passes adds to a gradient that
// was there before.
func keeps(passes []gradients.Backward) bool {
	for i := range passes {
		accumulated := 0
		for _, n := range passes[i].Accumulated {
			accumulated += n
		}
		if passes[i].InPlace < accumulated {
			return false
		}
	}
	return true
}

// worked reports whether an optimizer does anything in its spans: one that finds no gradient
// runs no operator and launches nothing, however many frames of Python and spans of classes
// that it inherits from were recorded.
func worked(x *timeline.Rank, spans []timeline.Span) bool {
	for _, o := range spans {
		for i := o.Row + 1; i < x.TrackEnd(o.Row) && x.Col.Start[i] < o.End; i++ {
			frame := x.Col.Cat[i] == trace.CatPythonFunction || x.Is(i, timeline.OptimizerStep)
			if !frame && x.Col.Phase[i] == trace.Complete {
				return true
			}
		}
	}
	return false
}

// zeroed returns the pass that fills all gradients with zeros between the last backward pass
// of a step and its update, nil if there is none.
func zeroed(g *gradients.Gradients, step int) *gradients.Pass {
	for i := range g.Passes {
		p := &g.Passes[i]
		if p.Step == step && p.Kind == gradients.ZeroPass && p.Place == gradients.AfterBackward &&
			p.Parameters >= g.Params.Count && len(g.Optimizers) == 1 {
			return p
		}
	}
	return nil
}

// firstStart returns the index of the first of some spans, in order of start, that begins in
// [from, to), -1 if none does.
func firstStart(spans []timeline.Span, from, to int64) int {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].Start >= from })
	if i < len(spans) && spans[i].Start < to {
		return i
	}
	return -1
}

// anyStarts reports whether one of some spans begins in [from, to).
func anyStarts(spans []timeline.Span, from, to int64) bool { return firstStart(spans, from, to) >= 0 }
