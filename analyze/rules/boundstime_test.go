package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/idle"
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// idleOf makes steps idle for a cause: so many ns of each step, from step 1 on, and before that never.
func idleOf(set func(w *idle.Window, ns int64), list ...int64) func(*analyze.Pass, *analyze.Rank) {
	return func(_ *analyze.Pass, r *analyze.Rank) {
		for i, ns := range list {
			w := &r.Steps[i+1].Idle[0]
			w.Causes = [idle.NumCauses]int64{}
			set(w, ns)
			for f := range w.Shown {
				w.Shown[f] = idle.Shown{NS: ns / 2, Operator: "op", Python: "train.py:7",
					Event: timeline.Event{Name: fmt.Sprint("e", i+1), Start: int64(i+1) * 1_000_000, Duration: 3000}}
			}
		}
	}
}

func ofData(w *idle.Window, ns int64)  { w.Causes[idle.DataLoading] = ns }
func ofSync(w *idle.Window, ns int64)  { w.Causes[idle.Synchronization] = ns }
func ofAlloc(w *idle.Window, ns int64) { w.Causes[idle.MemoryManagement] = ns }
func ofStall(w *idle.Window, ns int64) { w.HostStall = ns }
func ofLaunches(w *idle.Window, ns int64) {
	w.LaunchBound, w.LaunchGaps = ns, 20
}

func incomplete(_ *analyze.Pass, r *analyze.Rank) {
	for i := range r.Steps {
		r.Steps[i].Complete = false
	}
}

// eachOf changes every collective of a kind.
func eachOf(kind timeline.CollectiveKind, change func(r *analyze.Rank, c *facts.Collective)) func(*analyze.Pass,
	*analyze.Rank) {
	return func(_ *analyze.Pass, r *analyze.Rank) {
		for i := range r.Collectives {
			if c := &r.Collectives[i]; c.Kind == kind {
				change(r, c)
			}
		}
	}
}

// inPhase makes collectives of a kind those of some part of the step.
func inPhase(kind timeline.CollectiveKind, phase facts.Phase, site timeline.Site) func(*analyze.Pass, *analyze.Rank) {
	return eachOf(kind, func(_ *analyze.Rank, c *facts.Collective) {
		c.Phase, c.Site = phase, timeline.LaunchSite{Site: site}
		if site == timeline.SiteOptimizerStep {
			c.Site.Name = []string{"AdamW", "SGD"}[c.Step%2]
		}
	})
}

// backwardOn says when the device computes for the last backward pass: from and to in us of each step.
func backwardOn(from, to int64) func(*analyze.Pass, *analyze.Rank) {
	return func(_ *analyze.Pass, r *analyze.Rank) {
		for i := range r.Steps {
			r.Steps[i].LastBackward = []steps.Interval{{Start: (1000*int64(i) + from) * 1000,
				End: (1000*int64(i) + to) * 1000}}
		}
	}
}

// large makes collectives of a kind those of a megabyte.
func large(kind timeline.CollectiveKind) func(*analyze.Pass, *analyze.Rank) {
	return eachOf(kind, func(_ *analyze.Rank, c *facts.Collective) { c.Bytes, c.InElems = 1_000_000, 250_000 })
}

// timeFacts are the rules about time.
func timeFacts() []onFacts {
	const bytes = timeline.AllReduce
	const none, hook = timeline.SiteUnknown, timeline.SiteBackwardHook
	first := func(n int, change func(*facts.Collective)) func(*analyze.Pass, *analyze.Rank) {
		return func(_ *analyze.Pass, r *analyze.Rank) {
			for i := range r.Collectives {
				if c := &r.Collectives[i]; c.Step < n {
					change(c)
				}
			}
		}
	}
	gatherIn := func(phase facts.Phase) func(*analyze.Pass, *analyze.Rank) {
		return inPhase(timeline.AllGather, phase, hook)
	}
	unseen := func(_ *analyze.Pass, r *analyze.Rank) {
		for i := range r.Steps {
			r.Steps[i].Idle[0].Shown[idle.StalledHost].Unseen = true
		}
	}
	calls := func(gradient bool) func(*analyze.Pass, *analyze.Rank) {
		return func(_ *analyze.Pass, r *analyze.Rank) {
			r.HostCollectives = []gradients.HostCollective{{Kind: bytes, Gradient: gradient}}
			for i := range r.Collectives {
				r.Collectives[i].Asked = 0
			}
		}
	}
	micro := func(n int) func(*analyze.Pass, *analyze.Rank) {
		return func(_ *analyze.Pass, r *analyze.Rank) {
			for i := range r.Steps {
				r.Steps[i].MicroBatches = n
			}
		}
	}
	waits := func(from, until int64, list ...int) func(*analyze.Pass, *analyze.Rank) {
		return func(_ *analyze.Pass, r *analyze.Rank) {
			for _, step := range list {
				at := int64(step) * 1_000_000
				r.BufferWaits = append(r.BufferWaits, facts.BufferWait{Collective: int32(2*step + 1), From: at + from,
					Until: at + until})
			}
		}
	}
	return []onFacts{
		{"a hundredth of three steps", ID001, idleOf(ofData, 10_000, 10_000, 10_000, 0, 0)},
		{"less of one of three", ID001, idleOf(ofData, 10_000, 10_000, 9_999, 0, 0)},
		{"in all of few steps", ID001, all(idleOf(ofData, 10_000, 10_000, 0, 0, 0), func(_ *analyze.Pass,
			r *analyze.Rank) {
			for i := 3; i < len(r.Steps); i++ {
				r.Steps[i].Complete = false
			}
		})},
		{"in steps that are not complete", ID001, all(idleOf(ofData, 10_000, 10_000, 10_000, 0, 0), incomplete)},
		{"the longest gap first", ID001, idleOf(ofData, 20_000, 60_000, 40_000, 80_000, 100_000)},
		{"a cause that there is not", ID001, idleOf(ofSync, 20_000, 60_000, 40_000, 80_000, 90_000)},
		{"workers that do not keep up", ID001, all(idleOf(ofData, 20_000, 20_000, 20_000, 20_000, 20_000),
			func(_ *analyze.Pass, r *analyze.Rank) {
				r.Steps[1].Idle[0].Shown[idle.LateData].Event.Name = "_MultiProcessingDataLoaderIter.__next__"
			})},
		{"a wait", ID002, idleOf(ofSync, 20_000, 20_000, 20_000, 20_000, 20_000)},
		{"an operator that is the event", ID002, all(idleOf(ofSync, 20_000, 20_000, 20_000, 20_000, 20_000),
			func(_ *analyze.Pass, r *analyze.Rank) {
				s := &r.Steps[1].Idle[0].Shown[idle.WaitingHost]
				s.Operator, s.Python = s.Event.Name, ""
			})},
		{"allocation", ID003, idleOf(ofAlloc, 20_000, 20_000, 20_000, 20_000, 20_000)},
		{"a twentieth, in 20 gaps", ID004, idleOf(ofLaunches, 50_000, 50_000, 50_000, 0, 0)},
		{"less than a twentieth", ID004, idleOf(ofLaunches, 50_000, 50_000, 49_999, 0, 0)},
		{"in 19 gaps", ID004, all(idleOf(ofLaunches, 50_000, 50_000, 50_000, 0, 0), func(_ *analyze.Pass,
			r *analyze.Rank) {
			r.Steps[2].Idle[0].LaunchGaps = 19
		})},
		{"a stall", ID005, idleOf(ofStall, 20_000, 20_000, 20_000, 20_000, 20_000)},
		{"a stall without an operator", ID005, all(idleOf(ofStall, 20_000, 20_000, 20_000, 20_000, 20_000), unseen)},
		{"a stall in one of five steps", ID005, idleOf(ofStall, 90_000, 0, 0, 0, 0)},
		{"nearly all in one step", ID005, idleOf(ofStall, 280_000, 10_000, 10_000, 0, 0)},

		{"buffers", OV003, waits(620_000, 700_000, 1, 2, 3)},
		{"a buffer", OV003, waits(620_000, 700_000, 1)},
		{"a wait beyond the collective", OV003, waits(600_000, 800_000, 1, 2)},
		{"no buffers", OV003, waits(0, 0)},

		{"in the optimizer", OV004, all(large(bytes), inPhase(bytes, facts.PhaseOptimizer,
			timeline.SiteOptimizerStep))},
		{"some in the optimizer", OV004, all(large(bytes), inPhase(bytes, facts.PhaseAfterBackward, none), first(2,
			func(c *facts.Collective) {
				c.Phase, c.Site = facts.PhaseOptimizer, timeline.LaunchSite{Site: timeline.SiteOptimizerStep,
					Name: "AdamW"}
			}))},
		{"some in the optimizer, others from hooks", OV004, all(large(bytes), first(2, func(c *facts.Collective) {
			c.Phase, c.Site = facts.PhaseOptimizer, timeline.LaunchSite{Site: timeline.SiteOptimizerStep, Name: "AdamW"}
		}))},
		{"after backward", OV004, all(large(bytes), inPhase(bytes, facts.PhaseAfterBackward, none))},
		{"a small one", OV004, all(large(bytes), inPhase(bytes, facts.PhaseAfterBackward, none),
			eachOf(bytes, func(_ *analyze.Rank, c *facts.Collective) { c.Bytes = 999_999 }))},
		{"after backward, not asked for as gradients", OV004, all(large(bytes), calls(false),
			inPhase(bytes, facts.PhaseAfterBackward, none))},
		{"after backward, asked for as gradients", OV004, all(large(bytes), calls(true),
			inPhase(bytes, facts.PhaseAfterBackward, none))},
		{"after backward, by a hook", OV004, all(large(bytes), inPhase(bytes, facts.PhaseAfterBackward, hook))},
		{"after backward, replayed", OV004, all(large(bytes), inPhase(bytes, facts.PhaseAfterBackward,
			timeline.SiteGraph),
			eachOf(bytes, func(_ *analyze.Rank, c *facts.Collective) { c.Replayed = true }))},
		{"in the optimizer, one in a graph", OV004, all(large(bytes), inPhase(bytes, facts.PhaseOptimizer,
			timeline.SiteOptimizerStep), first(1, func(c *facts.Collective) {
			c.Site = timeline.LaunchSite{Site: timeline.SiteGraph}
		}))},
		{"both kinds in the optimizer", OV004, all(large(bytes), large(timeline.ReduceScatter), inPhase(bytes,
			facts.PhaseOptimizer, timeline.SiteOptimizerStep), inPhase(timeline.ReduceScatter, facts.PhaseOptimizer,
			timeline.SiteOptimizerStep))},

		{"late in all steps", OV007, disordered(20_000, 0, 6)},
		{"late by less", OV007, disordered(19_999, 0, 6)},
		{"late for less than a tenth of backward", OV007, disordered(20_000, 200_001, 6)},
		{"late for a tenth of backward", OV007, disordered(20_000, 200_000, 6)},
		{"late for longer than backward", OV007, disordered(300_000, 200_000, 6)},
		{"late, a tenth more is ready", OV007, all(disordered(100_000, 200_000, 6), ready(2300))},
		{"late, less than a tenth more is ready", OV007, all(disordered(100_000, 200_000, 6), ready(2299))},
		{"late in three steps", OV007, disordered(100_000, 200_000, 4)},
		{"late in two steps", OV007, disordered(100_000, 200_000, 3)},
		{"late in both complete steps", OV007, all(disordered(100_000, 200_000, 3), completeUpTo(3))},
		{"late in the only complete step", OV007, all(disordered(100_000, 200_000, 3), completeUpTo(2))},
		{"late, launched elsewhere", OV007, all(disordered(100_000, 200_000, 6),
			eachAsked(func(c *gradients.HostCollective) {
				c.Site.Site = timeline.SiteOptimizerStep
			}))},
		{"late, before the last backward pass", OV007, all(disordered(100_000, 200_000, 6), eachAsked(
			func(c *gradients.HostCollective) { c.Event.Start -= 2_000 }))},
		{"late, of something else", OV007, all(disordered(100_000, 200_000, 6),
			eachAsked(func(c *gradients.HostCollective) {
				c.Gradient = false
			}))},
		{"late, reduce-scattered", OV007, all(disordered(100_000, 200_000, 6),
			eachAsked(func(c *gradients.HostCollective) {
				c.Kind = timeline.ReduceScatter
			}))},

		{"in backward, between its kernels", OV008, backwardOn(310, 900)},
		{"after backward has computed", OV008, backwardOn(310, 510)},
		{"half after backward has computed", OV008, backwardOn(310, 560)},
		{"a twentieth before", OV008, backwardOn(310, 515)},
		{"less than a twentieth before", OV008, backwardOn(310, 514)},
		{"backward too short", OV008, backwardOn(410, 440)},
		{"backward just too short", OV008, backwardOn(460, 560)},
		{"backward long enough", OV008, backwardOn(459, 560)},
		{"in forward", OV008, inPhase(bytes, facts.PhaseForward, none)},
		{"in the optimizer", OV008, inPhase(bytes, facts.PhaseOptimizer, timeline.SiteOptimizerStep)},
		{"between backward and the optimizer", OV008, inPhase(bytes, facts.PhaseAfterBackward,
			timeline.SiteAnnotation)},
		{"anywhere", OV008, inPhase(bytes, facts.PhaseUnknown, timeline.SiteGraph)},
		{"of a node of the model", OV008, all(large(bytes), calls(false))},
		{"of gradients", OV008, all(large(bytes), calls(true))},
		{"a small one, not of gradients", OV008, calls(false)},
		{"of OV004 alone", OV008, all(large(bytes), inPhase(bytes, facts.PhaseAfterBackward, none))},
		{"some not linked", OV008, first(2, func(c *facts.Collective) { c.Linked = false })},
		{"of several places", OV008, first(2, func(c *facts.Collective) {
			c.Phase, c.Site = facts.PhaseForward, timeline.LaunchSite{Site: timeline.SiteFrameworkHook}
		})},
		{"a hundredth of it hidden", OV001, backwardOn(310, 620)},
		{"reduce-scatters in forward", OV001, inPhase(timeline.ReduceScatter, facts.PhaseForward, none)},
		{"reduce-scatters after backward", OV001, inPhase(timeline.ReduceScatter, facts.PhaseAfterBackward, hook)},

		{"before the first layer", OV009, all(gatherIn(facts.PhaseForward), eachOf(timeline.AllGather,
			func(_ *analyze.Rank, c *facts.Collective) { c.Start -= 450_000; c.End -= 450_000 }))},
		{"in forward", OV009, gatherIn(facts.PhaseForward)},
		{"the first of backward", OV009, all(gatherIn(facts.PhaseBackward), backwardOn(500, 900))},
		{"in backward", OV009, all(gatherIn(facts.PhaseBackward), backwardOn(310, 900))},
		{"in backward, before it computes", OV009, all(gatherIn(facts.PhaseBackward), backwardOn(600, 900))},
		{"in the optimizer", OV009, inPhase(timeline.AllGather, facts.PhaseOptimizer, timeline.SiteOptimizerStep)},
		{"half in the optimizer", OV009, all(gatherIn(facts.PhaseForward), first(3, func(c *facts.Collective) {
			c.Phase, c.Site = facts.PhaseOptimizer, timeline.LaunchSite{Site: timeline.SiteOptimizerStep, Name: "A"}
		}))},

		{"between passes", OV010, all(inPhase(timeline.SendRecv, facts.PhaseForward, none), micro(4))},
		{"between passes of one micro-batch", OV010, all(inPhase(timeline.SendRecv, facts.PhaseAfterBackward, none),
			micro(1))},
		{"between passes, one in backward", OV010, all(inPhase(timeline.SendRecv, facts.PhaseForward, none), first(1,
			func(c *facts.Collective) { c.Phase = facts.PhaseBackward }))},
		{"between passes, one in backward that is not linked", OV010, all(inPhase(timeline.SendRecv, facts.PhaseForward,
			none), first(1, func(c *facts.Collective) { c.Phase, c.Linked = facts.PhaseBackward, false }))},
		{"between passes, one in backward of no step", OV010, all(inPhase(timeline.SendRecv, facts.PhaseForward,
			none), func(_ *analyze.Pass, r *analyze.Rank) {
			for i := range r.Collectives {
				if r.Collectives[i].Kind == timeline.SendRecv {
					r.Collectives[i].Phase, r.Collectives[i].Step = facts.PhaseBackward, -1
					break
				}
			}
		})},
		{"in the optimizer", OV010, inPhase(timeline.SendRecv, facts.PhaseOptimizer, none)},
		{"in backward", OV010, inPhase(timeline.SendRecv, facts.PhaseBackward, none)},
		{"experts", OV011, inPhase(timeline.AllToAll, facts.PhaseForward, none)},
		{"buffers", OV012, inPhase(timeline.Broadcast, facts.PhaseForward, none)},
		{"updates", OV012, inPhase(timeline.Broadcast, facts.PhaseOptimizer, timeline.SiteOptimizerStep)},

		{"a hundredth", TH006, compiling(10_000)},
		{"less than a hundredth", TH006, compiling(9_999)},
		{"and a graph", TH006, all(compiling(20_000), func(_ *analyze.Pass, r *analyze.Rank) { r.Graphs = true })},
		{"none", TH006, compiling(0)},
	}
}

// compiling is so many ns of compilation in steps 1 and 2, whose host time is a millisecond.
func compiling(ns int64) func(*analyze.Pass, *analyze.Rank) {
	return func(_ *analyze.Pass, r *analyze.Rank) {
		r.Compiling = make([]int64, len(r.Steps))
		r.Compiling[1], r.Compiling[2] = ns, ns
		for i := range 6 {
			r.Compiled = append(r.Compiled, timeline.Event{Name: fmt.Sprint("c", i), Start: int64(i) * 1000})
		}
	}
}

// disordered makes the second of three buckets of the first n steps wait so many ns, of a backward pass that takes
// so long on the host, 200 us on the device.
func disordered(waited, of int64, n int) func(*analyze.Pass, *analyze.Rank) {
	return all(backwardOn(310, 510), func(_ *analyze.Pass, r *analyze.Rank) {
		for i := range r.Steps {
			at := int64(i) * 1_000_000
			r.Steps[i].Backwards = []gradients.Backward{{Start: at - 5000}, {Start: at, First: at, Last: at + of}}
			for k := range int64(3) {
				c := gradients.HostCollective{Kind: timeline.AllReduce, Step: i, Gradient: true, Elems: 1000,
					Ready: 2500 + k,
					Site:  timeline.LaunchSite{Site: timeline.SiteBackwardHook},
					Event: timeline.Event{Start: at + 1000*k}}
				if i < n && k == 1 {
					c.Waited = waited
				}
				r.HostCollectives = append(r.HostCollectives, c)
			}
		}
		for i := range r.Collectives {
			r.Collectives[i].Asked = int32(3 * r.Collectives[i].Step)
		}
	})
}

// ready makes so many elements ready at every launch.
func ready(elems int64) func(*analyze.Pass, *analyze.Rank) {
	return eachAsked(func(c *gradients.HostCollective) { c.Ready = elems })
}

// eachAsked changes every host collective.
func eachAsked(change func(*gradients.HostCollective)) func(*analyze.Pass, *analyze.Rank) {
	return func(_ *analyze.Pass, r *analyze.Rank) {
		for i := range r.HostCollectives {
			change(&r.HostCollectives[i])
		}
	}
}

func completeUpTo(n int) func(*analyze.Pass, *analyze.Rank) {
	return func(_ *analyze.Pass, r *analyze.Rank) {
		for i := range r.Steps {
			r.Steps[i].Complete = i > 0 && i < n
		}
	}
}
