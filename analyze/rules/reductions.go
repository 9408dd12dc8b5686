package rules

import (
	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/bounded"
)

// smallReduction is the size in bytes below which an all-reduce is taken for that of a
// norm, a count or another figure of the step, not for one of gradients.
const smallReduction = 1_000_000

// lateReductions are the collectives that reduce gradients and are launched only after the
// backward pass, ascending: by the optimizer, or between backward and the optimizer.
//
// A reduce-scatter inside Optimizer.step is one whatever else the step reduces. Of all others
// it is asked that a step reduce more elements late than in backward: FSDP reduces its last
// group when backward is over, which is no fault, and an all-reduce of updates or of
// statistics inside an optimizer whose gradients are reduced already is none of gradients.
func lateReductions(r *analyze.Rank) []int {
	early, late := make([]int64, len(r.Steps)), make([]int64, len(r.Steps))
	var list []int
	for i := range r.Collectives {
		c := &r.Collectives[i]
		if c.Step < 0 || !carriesGradients(r, c) {
			continue
		}
		switch {
		case isLate(c):
			late[c.Step] = bounded.Add(late[c.Step], elements(c))
			list = append(list, i)
		case c.Phase == facts.PhaseBackward:
			early[c.Step] = bounded.Add(early[c.Step], elements(c))
		}
	}
	kept := list[:0]
	for _, i := range list {
		c := &r.Collectives[i]
		inStep := c.Kind == timeline.ReduceScatter && c.Site.Site == timeline.SiteOptimizerStep
		if inStep || late[c.Step] > early[c.Step] {
			kept = append(kept, i)
		}
	}
	return kept
}

// isLate reports whether a collective is launched after the backward pass.
func isLate(c *facts.Collective) bool {
	return c.Site.Site == timeline.SiteOptimizerStep ||
		c.Phase == facts.PhaseAfterBackward && c.Site.Site != timeline.SiteBackwardHook && !c.Replayed
}

// carriesGradients reports whether a collective reduces gradients: a reduce-scatter, or an
// all-reduce of some size that the facts of gradients do not take for another one.
func carriesGradients(r *analyze.Rank, c *facts.Collective) bool {
	switch c.Kind {
	case timeline.ReduceScatter:
		return true
	case timeline.AllReduce:
		return c.Bytes >= smallReduction && (c.Asked < 0 || r.HostCollectives[c.Asked].Gradient)
	}
	return false
}

// elements is the size of a message for comparing: of unknown ones all are alike.
func elements(c *facts.Collective) int64 { return max(1, c.InElems, c.OutElems) }
