package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// gradientPass is a pass over 10 gradients that launches a kernel for each, half of it idle but for a bit.
func gradientPass(step int, kind gradients.PassKind, change func(*gradients.Pass)) gradients.Pass {
	gp := gradients.Pass{
		Step: step, Kind: kind, Place: gradients.AfterBackward, Parameters: 10, Launches: 10, Kernels: 10,
		Bytes: 1_000_000, Busy: 49_000, Span: 100_000, OnDevice: true, HostStart: int64(step)*1_000_000 + 500,
		First: timeline.Event{Name: fmt.Sprintf("%s%d", kind, step), Start: int64(step) * 1_000_000, Duration: 4000},
	}
	if change != nil {
		change(&gp)
	}
	return gp
}

// inSteps puts a pass of a kind into some steps.
func inSteps(kind gradients.PassKind, change func(*gradients.Pass), steps ...int) func(*analyze.Pass, *analyze.Rank) {
	return func(_ *analyze.Pass, r *analyze.Rank) {
		r.Sync = gradients.Sync{Pattern: gradients.SyncLast, Kind: timeline.AllReduce, Ranks: 8}
		for _, i := range steps {
			r.Passes = append(r.Passes, gradientPass(i, kind, change))
		}
	}
}

// all does several changes.
func all(changes ...func(*analyze.Pass, *analyze.Rank)) func(*analyze.Pass, *analyze.Rank) {
	return func(p *analyze.Pass, r *analyze.Rank) {
		for _, change := range changes {
			change(p, r)
		}
	}
}

func fastPass(gp *gradients.Pass) { gp.Busy = 99_000 }
func quarter(gp *gradients.Pass)  { gp.Busy = 75_000 }
func beyond(gp *gradients.Pass)   { gp.Busy = 74_000 }
func doubtful(gp *gradients.Pass) { gp.Doubtful = true }
func decay(gp *gradients.Pass)    { gp.Doubtful, gp.Decay = true, true }
func byOne(gp *gradients.Pass)    { gp.One = true }
func onHost(gp *gradients.Pass)   { gp.OnDevice = false }
func byValue(gp *gradients.Pass)  { gp.ByValue = true }
func between(gp *gradients.Pass)  { gp.Place = gradients.BetweenMicroBatches }
func inBack(gp *gradients.Pass)   { gp.Place = gradients.InBackward }

// inGap gives step 2 a gap between two backward passes that holds the pass of gradientPass.
func inGap(change func(*gradients.Gap)) func(*analyze.Pass, *analyze.Rank) {
	return func(_ *analyze.Pass, r *analyze.Rank) {
		g := gradients.Gap{Start: 2_000_000, End: 2_001_000, Accumulating: true}
		change(&g)
		r.Steps[2].Gaps = gradients.Gaps{g}
	}
}

// onNoDevice takes the windows from some steps, as where nothing is known to run on a device.
func onNoDevice(list ...int) func(*analyze.Pass, *analyze.Rank) {
	return func(_ *analyze.Pass, r *analyze.Rank) {
		for _, i := range list {
			r.Steps[i].Windows, r.Steps[i].Idle, r.Steps[i].LastBackward = nil, nil, nil
		}
	}
}

// passFacts are the rules about passes over gradients.
func passFacts() []onFacts {
	const scale, clip, unscale, norm = gradients.ScalePass, gradients.ClipPass, gradients.UnscalePass,
		gradients.NormPass
	one := func(kind gradients.PassKind, change func(*gradients.Pass)) func(*analyze.Pass, *analyze.Rank) {
		return inSteps(kind, change, 1, 2, 3, 4, 5)
	}
	micro := func(n int) func(*analyze.Pass, *analyze.Rank) {
		return func(_ *analyze.Pass, r *analyze.Rank) {
			for i := range r.Steps {
				r.Steps[i].MicroBatches = n
			}
		}
	}
	ranks := func(n int64) func(*analyze.Pass, *analyze.Rank) {
		return func(_ *analyze.Pass, r *analyze.Rank) { r.Sync.Ranks = n }
	}
	sync := func(s gradients.Sync) func(*analyze.Pass, *analyze.Rank) {
		return func(_ *analyze.Pass, r *analyze.Rank) { r.Sync = s }
	}
	fused := func(_ *analyze.Pass, r *analyze.Rank) { r.FusedOptimizer = true }
	uniform := func(p *analyze.Pass, _ *analyze.Rank) { p.UniformTokens = true }
	rounds := func(reads int, wait int64, calls ...int32) func(*gradients.Pass) {
		return func(gp *gradients.Pass) { gp.Rounds = gradients.Rounds{Reads: reads, Wait: wait, Collectives: calls} }
	}
	calls := func(n int) func(*analyze.Pass, *analyze.Rank) {
		return func(_ *analyze.Pass, r *analyze.Rank) {
			for i := range n {
				r.HostCollectives = append(r.HostCollectives, gradients.HostCollective{Kind: timeline.AllReduce,
					Event: timeline.Event{Name: fmt.Sprintf("call%d", i), Start: int64(i) * 1000}})
				for k := range r.Collectives {
					if c := &r.Collectives[k]; c.Step == i+1 && c.Kind == timeline.AllReduce {
						c.Asked = int32(i)
					}
				}
			}
		}
	}
	unlinked := func(_ *analyze.Pass, r *analyze.Rank) {
		for i := range r.Collectives {
			r.Collectives[i].Linked = false
		}
	}
	return []onFacts{
		{"one rank and one micro-batch", GS001, all(one(scale, nil), ranks(1), micro(1))},
		{"on the host", GS001, all(one(scale, onHost), ranks(1), micro(1))},
		{"declared to be equal", GS001, all(one(scale, nil), micro(1), uniform)},
		{"perhaps not equal", GS001, all(one(scale, nil), micro(1))},
		{"a factor of one is another rule's", GS001, all(one(scale, byOne), ranks(1), micro(1))},
		{"a clip", GS001, all(one(clip, nil), ranks(1), micro(1))},
		{"two micro-batches", GS002, all(one(scale, nil), micro(2))},
		{"two micro-batches of one rank", GS002, all(one(scale, nil), ranks(1), micro(2))},
		{"two ranks", GS002, all(one(scale, onHost), ranks(2), micro(1))},
		{"with a clip of the step", GS002, all(one(scale, nil), one(clip, nil), micro(1))},
		{"with a clip of another step", GS002, all(inSteps(scale, nil, 1), inSteps(clip, nil, 2), micro(1))},
		{"with a clip by value", GS002, all(one(scale, nil), one(clip, byValue), micro(1))},
		{"with a clip between micro-batches", GS002, all(one(scale, nil), one(clip, between), micro(1))},
		{"with a fused optimizer", GS002, all(one(scale, nil), fused, micro(1))},
		{"reduce-scattered at the end", GS002, all(one(scale, nil), micro(2),
			sync(gradients.Sync{Pattern: gradients.SyncLast, Kind: timeline.ReduceScatter, Ranks: 8}))},
		{"reduce-scattered every time", GS002, all(one(scale, nil), micro(2),
			sync(gradients.Sync{Pattern: gradients.SyncEvery, Kind: timeline.ReduceScatter, Ranks: 8}))},
		{"needless", GS002, all(one(scale, nil), ranks(1), micro(1))},
		{"slow, too", GS002, all(one(scale, func(gp *gradients.Pass) {
			gp.Bytes, gp.Busy, gp.Kernels = 39_000_000,
				99_000, 9
		}), micro(1))},
		{"not slow, though with gaps of a quarter", GS002, all(one(scale, beyond), micro(1))},

		{"gaps of more than a half", GS003, one(scale, nil)},
		{"gaps of a half", GS003, one(scale, func(gp *gradients.Pass) { gp.Busy = 50_000 })},
		{"an unscaling", GS003, one(unscale, nil)},
		{"a clip", GS003, one(clip, nil)},
		{"a norm", GS003, one(norm, nil)},
		{"a factor of one", GS003, one(scale, byOne)},
		{"a doubtful one", GS003, one(scale, doubtful)},
		{"in two of five steps", GS003, all(inSteps(scale, nil, 1, 2), inSteps(scale, fastPass, 3, 4, 5))},
		{"in three of five steps", GS003, all(inSteps(scale, nil, 1, 2, 3), inSteps(scale, fastPass, 4, 5))},
		{"in two, and gaps of a quarter in others", GS003, all(inSteps(scale, nil, 1, 2), inSteps(scale, quarter, 3, 4,
			5))},
		{"in two, and gaps beyond a quarter in others", GS003,
			all(inSteps(scale, nil, 1, 2), inSteps(scale, beyond, 3, 4, 5))},
		{"in two, and in others of another kind", GS003, all(inSteps(scale, nil, 1, 2), inSteps(scale, fastPass, 3, 4,
			5),
			one(clip, nil))},
		{"in steps that are on no device", GS003, all(one(scale, nil), onNoDevice(1, 2))},
		{"not vectorized", GS003, one(scale, func(gp *gradients.Pass) {
			gp.Bytes, gp.Busy, gp.Kernels = 39_000_000,
				99_000, 9
		})},

		{"divided whole", GS004, one(gradients.DividePass, func(gp *gradients.Pass) {
			gp.BeforeScatter,
				gp.Hidden = true, 9000
		})},
		{"divided whole, by four", GS004, all(one(gradients.DividePass,
			func(gp *gradients.Pass) { gp.BeforeScatter = true }),
			sync(gradients.Sync{Shards: 4}))},
		{"a shard is all", GS004, all(one(gradients.DividePass, func(gp *gradients.Pass) { gp.BeforeScatter = true }),
			sync(gradients.Sync{Shards: 1}))},
		{"on the host", GS004, one(gradients.DividePass, func(gp *gradients.Pass) {
			gp.BeforeScatter,
				gp.OnDevice = true, false
		})},
		{"in a step that is on no device", GS004, all(one(gradients.DividePass,
			func(gp *gradients.Pass) { gp.BeforeScatter, gp.Hidden = true, 9000 }), onNoDevice(2))},
		{"by one", GS004, one(gradients.DividePass, func(gp *gradients.Pass) {
			gp.BeforeScatter, gp.One = true,
				true
		})},
		{"of nothing that is scattered", GS004, one(gradients.DividePass, nil)},
		{"hidden", GS004, one(gradients.DividePass, func(gp *gradients.Pass) {
			gp.BeforeScatter, gp.Hidden = true,
				gp.Busy
		})},

		{"scaled and clipped", GS005, all(one(scale, nil), one(clip, nil))},
		{"scaled twice", GS005, all(one(scale, nil), inSteps(scale, nil, 3))},
		{"on the host", GS005, all(one(scale, onHost), one(scale, onHost))},
		{"clipped twice", GS005, all(one(clip, nil), one(clip, nil))},
		{"of two optimizers", GS005, all(one(scale, nil), one(clip, func(gp *gradients.Pass) { gp.Optimizer = "B" }))},
		{"unscaled and clipped", GS005, all(one(unscale, nil), one(clip, nil))},
		{"unscaled, scaled and clipped", GS005, all(one(unscale, nil), one(scale, nil), one(clip, nil))},
		{"clipped by value", GS005, all(one(scale, nil), one(clip, byValue))},
		{"by one", GS005, all(one(scale, nil), one(scale, byOne))},
		{"in the loop", GS005, all(one(scale, nil), one(clip, between))},
		{"scaled and decayed", GS005, all(one(scale, nil), one(scale, decay))},
		{"decayed alone", GS005, all(one(scale, decay), one(scale, decay))},
		{"clipped and decayed", GS005, all(one(clip, nil), one(scale, decay))},
		{"doubtful, and decayed", GS005, all(one(scale, doubtful), one(scale, decay))},
		{"doubtful, then clipped", GS005, all(one(scale, doubtful), one(clip, nil))},
		{"scaled, then doubtful", GS005, all(one(scale, nil), one(scale, doubtful))},

		{"by one", GS006, one(scale, byOne)},
		{"by one in two of five", GS006, all(inSteps(scale, byOne, 1, 2), inSteps(scale, nil, 3, 4, 5), one(clip,
			nil))},
		{"a clip by one", GS006, one(clip, byOne)},
		{"by one in backward", GS006, one(scale, func(gp *gradients.Pass) { gp.One = true; inBack(gp) })},
		{"divided by one rank", GS006, all(one(gradients.DividePass, inBack), ranks(1))},
		{"divided by two ranks", GS006, all(one(gradients.DividePass, inBack), ranks(2))},
		{"divided by one rank before a scatter", GS006, all(one(gradients.DividePass, func(gp *gradients.Pass) {
			inBack(gp)
			gp.BeforeScatter = true
		}), ranks(1))},
		{"divided by one rank after backward", GS006, all(one(gradients.DividePass, nil), ranks(1))},
		{"divided by one rank, on the host", GS006, all(one(gradients.DividePass, func(gp *gradients.Pass) {
			inBack(gp)
			gp.OnDevice = false
		}), ranks(1))},
		{"divided by one rank that scatters", GS006, all(one(gradients.DividePass, inBack),
			sync(gradients.Sync{Pattern: gradients.SyncLast, Kind: timeline.ReduceScatter, Ranks: 1}))},

		{"scaled between", GS007, all(inSteps(scale, between, 2), inGap(func(*gradients.Gap) {}))},
		{"scaled between, six times", GS007, all(inSteps(scale, between, 2, 2, 2, 2, 2, 2),
			inGap(func(*gradients.Gap) {}))},
		{"scaled between, in a gap that only used them", GS007,
			all(inSteps(scale, between, 2), inGap(func(g *gradients.Gap) { g.Used, g.Cleared = true, true }))},
		{"scaled between passes of different parameters", GS007,
			all(inSteps(scale, between, 2), inGap(func(g *gradients.Gap) { g.Accumulating = false }))},
		{"scaled before gradients are set anew", GS007,
			all(inSteps(scale, between, 2), inGap(func(g *gradients.Gap) { g.Renewed = true }))},
		{"scaled outside any gap", GS007,
			all(inSteps(scale, between, 2), inGap(func(g *gradients.Gap) { g.Start = 2_000_501 }))},
		{"scaled as a gap begins", GS007,
			all(inSteps(scale, between, 2), inGap(func(g *gradients.Gap) { g.Start = 2_000_500 }))},
		{"scaled after backward", GS007, all(inSteps(scale, nil, 2), inGap(func(*gradients.Gap) {}))},
		{"doubtful", GS007, all(inSteps(scale, func(gp *gradients.Pass) { between(gp); doubtful(gp) }, 2),
			inGap(func(*gradients.Gap) {}))},
		{"by one", GS007, all(inSteps(scale, func(gp *gradients.Pass) { between(gp); byOne(gp) }, 2),
			inGap(func(*gradients.Gap) {}))},
		{"clipped between", GS007, all(inSteps(clip, between, 2), inGap(func(*gradients.Gap) {}))},
		{"cleared between", GS007, all(inSteps(gradients.ZeroPass, between, 2), inGap(func(*gradients.Gap) {}))},
		{"cleared between, and used before", GS007,
			all(inSteps(gradients.ZeroPass, between, 2), inGap(func(g *gradients.Gap) { g.Used = true }))},
		{"zero_grad, and scaled", GS007, all(inSteps(scale, between, 2, 2, 2), inGap(func(*gradients.Gap) {}),
			func(_ *analyze.Pass, r *analyze.Rank) {
				for i := range 3 {
					r.ZeroInside = append(r.ZeroInside, facts.ZeroGrad{Step: 2,
						Event: timeline.Event{Name: fmt.Sprint("z", i)}})
				}
			})},
		{"clipped between", CL004, all(inSteps(clip, between, 2, 2), inGap(func(*gradients.Gap) {}))},
		{"clipped between, and cleared", CL004,
			all(inSteps(clip, between, 2), inGap(func(g *gradients.Gap) { g.Cleared = true }))},
		{"clipped between, and used", CL004, all(inSteps(clip, between, 2),
			inGap(func(g *gradients.Gap) { g.Used = true }))},
		{"scaled between", CL004, all(inSteps(scale, between, 2), inGap(func(*gradients.Gap) {}))},

		{"a norm each", CL001, one(norm, nil)},
		{"a norm each, gaps of a half", CL001, one(norm, func(gp *gradients.Pass) { gp.Busy = 50_000 })},
		{"one norm for two", CL001, one(norm, func(gp *gradients.Pass) { gp.Launches = 5 })},
		{"more than one norm for two", CL001, one(norm, func(gp *gradients.Pass) { gp.Launches = 6 })},
		{"on the host", CL001, one(norm, onHost)},
		{"read one by one", CL001, one(norm, rounds(10, 5))},
		{"reduced one by one", CL001, one(norm, rounds(0, 5, 0))},
		{"in two of five steps", CL001, all(inSteps(norm, nil, 1, 2), inSteps(norm, fastPass, 3, 4, 5))},
		{"a clip", CL001, one(clip, nil)},

		{"read one by one", CL002, one(norm, rounds(10, 30_000))},
		{"read one by one, in a step that is on no device", CL002, all(one(norm, rounds(10, 30_000)), onNoDevice(3))},
		{"one read", CL002, one(norm, rounds(1, 0))},
		{"read one by one, on the host", CL002, one(norm, func(gp *gradients.Pass) {
			rounds(10, 30_000)(gp)
			gp.OnDevice = false
		})},
		{"reduced one by one", CL002, all(calls(6), inSteps(norm, rounds(0, 30_000, 0, 1, 2, 3), 1))},
		{"reduced and read one by one, in two steps", CL002, all(calls(6), inSteps(norm, rounds(2, 30_000, 0, 1), 1,
			2))},
		{"reduced one by one, in three steps", CL002, all(calls(6), inSteps(norm, rounds(0, 30_000, 5), 1, 2, 3))},
		{"reduced one by one, by calls that launch nothing known", CL002,
			all(calls(6), unlinked, inSteps(norm, rounds(0, 30_000, 0, 1), 1))},

		{"never clipped", CL003, one(norm, nil)},
		{"never clipped, on the host", CL003, one(norm, onHost)},
		{"clipped in one step", CL003, all(one(norm, nil), inSteps(clip, nil, 3))},
		{"clipped by value", CL003, all(one(norm, nil), inSteps(clip, byValue, 3))},
		{"in backward", CL003, one(norm, inBack)},
		{"read one by one", CL003, one(norm, rounds(1, 1))},
	}
}

// optimizerRun is a run of an optimizer of step i with so many events and so long idle, of 100 us.
func optimizerRun(i int, name string, events int, idle int64) facts.OptimizerRun {
	return facts.OptimizerRun{Step: i, Name: name, Events: events, Start: int64(i+1) * 1_000_000,
		End: int64(i+1)*1_000_000 + 100_000, Idle: idle, Event: timeline.Event{Name: name, Start: int64(i) * 1_000_000}}
}

// loopFacts are the rules about the loop: optimizers, accumulation, what is cleared.
func loopFacts() []onFacts {
	runs := func(list ...facts.OptimizerRun) func(*analyze.Pass, *analyze.Rank) {
		return func(_ *analyze.Pass, r *analyze.Rank) { r.OptimizerRuns = list }
	}
	idle := func(idles ...int64) func(*analyze.Pass, *analyze.Rank) {
		var list []facts.OptimizerRun
		for i, ns := range idles {
			list = append(list, optimizerRun(i+1, "A", 20, ns))
		}
		return runs(list...)
	}
	inBackward := func(change func(r *analyze.Rank), inPlace int) func(*analyze.Pass, *analyze.Rank) {
		return func(_ *analyze.Pass, r *analyze.Rank) {
			r.Params.Count, r.OptimizerRuns = 100, nil
			for i := range r.Steps {
				r.Steps[i].Backwards = []gradients.Backward{{InPlace: inPlace}}
				run := optimizerRun(i, fmt.Sprint("opt", i), 1, 0)
				run.InBackward = true
				r.OptimizerRuns = append(r.OptimizerRuns, run, run)
			}
			change(r)
		}
	}
	kept := func(list ...int) func(*analyze.Pass, *analyze.Rank) {
		return func(_ *analyze.Pass, r *analyze.Rank) {
			for i := range r.Steps {
				r.Steps[i].Backwards = make([]gradients.Backward, 1)
			}
			for _, i := range list {
				r.Clears.Kept = append(r.Clears.Kept, facts.Clear{Step: i, Event: timeline.Event{Name: fmt.Sprint("c",
					i)}})
			}
		}
	}
	// every is a collective of each of the two backward passes of each step.
	every := func(kind timeline.CollectiveKind, change func(r *analyze.Rank)) func(*analyze.Pass, *analyze.Rank) {
		return func(_ *analyze.Pass, r *analyze.Rank) {
			r.Params.Bytes, r.HostCollectives = 4_000_000, nil
			r.Sync = gradients.Sync{Pattern: gradients.SyncEvery, Kind: kind, PerPass: []int{1, 1}, Ranks: 8}
			for i := range r.Steps {
				r.Steps[i].Backwards = make([]gradients.Backward, 2)
				for k := range 2 {
					name := fmt.Sprintf("r%d.%d", i, k)
					r.HostCollectives = append(r.HostCollectives, gradients.HostCollective{Kind: kind, Step: i,
						Gradient: true, Again: k == 0, NoSync: -1, Backward: 2*i + k,
						Event: timeline.Event{Name: name}})
				}
			}
			for i := range r.Collectives {
				if c := &r.Collectives[i]; c.Kind == kind {
					c.Asked = int32(2 * c.Step)
				}
			}
			change(r)
		}
	}
	eachCall := func(change func(c *gradients.HostCollective)) func(*analyze.Rank) {
		return func(r *analyze.Rank) {
			for i := range r.HostCollectives {
				change(&r.HostCollectives[i])
			}
		}
	}
	same := func(*analyze.Rank) {}
	replicas := func(c *gradients.HostCollective) { c.Replicas = true }
	const allReduce, scatter = timeline.AllReduce, timeline.ReduceScatter
	return []onFacts{
		{"idle in each step", OP001, idle(51_000, 51_000, 51_000, 51_000, 51_000)},
		{"idle for half of each", OP001, idle(50_000, 50_000, 50_000, 50_000, 50_000)},
		{"idle in two of five", OP001, idle(60_000, 60_000, 0, 0, 0)},
		{"idle in three of five", OP001, idle(60_000, 60_000, 60_000, 0, 0)},
		{"idle in two, and for a quarter in others", OP001, idle(60_000, 60_000, 25_000, 25_000, 25_000)},
		{"idle in two, and for more than a quarter in one", OP001, idle(60_000, 60_000, 25_001, 0, 0)},
		{"19 events", OP001, runs(optimizerRun(1, "A", 19, 90_000))},
		{"20 events in one step", OP001, runs(optimizerRun(1, "A", 20, 90_000))},
		{"after the last update", OP001, runs(optimizerRun(-1, "A", 20, 90_000))},
		{"in a step that is on no device", OP001, all(runs(optimizerRun(1, "A", 20, 90_000)), onNoDevice(1))},
		{"in backward", OP001, func(_ *analyze.Pass, r *analyze.Rank) {
			r.OptimizerRuns = []facts.OptimizerRun{optimizerRun(1, "A", 20, 90_000)}
			r.OptimizerRuns[0].InBackward = true
		}},
		{"of two optimizers, one idle", OP001, runs(optimizerRun(1, "A", 30, 0), optimizerRun(1, "B", 25, 90_000),
			optimizerRun(2, "A", 30, 0), optimizerRun(2, "B", 25, 80_000))},
		{"a hundredth of all steps", OP001, runs(optimizerRun(1, "A", 20, 60_000))},
		{"less than a hundredth of all steps", OP001, runs(optimizerRun(1, "A", 20, 59_999))},

		{"in backward", OP002, inBackward(same, 90)},
		{"in backward, less than nine tenths added", OP002, inBackward(same, 89)},
		{"after backward", OP002, inBackward(func(r *analyze.Rank) {
			for i := range r.OptimizerRuns {
				r.OptimizerRuns[i].InBackward = false
			}
		}, 100)},
		{"in backward of the first step", OP002,
			inBackward(func(r *analyze.Rank) { r.OptimizerRuns = r.OptimizerRuns[:2] }, 100)},
		{"in backward of one step", OP002, inBackward(func(r *analyze.Rank) { r.OptimizerRuns = r.OptimizerRuns[2:4] },
			100)},
		{"in backward, cleared", OP002, inBackward(func(r *analyze.Rank) { r.ZeroSteps = []int{0, 1, 2, 3, 4, 5} },
			100)},
		{"in backward, two passes", OP002, inBackward(func(r *analyze.Rank) {
			for i := range r.Steps {
				r.Steps[i].Backwards = append(r.Steps[i].Backwards, gradients.Backward{})
			}
		}, 100)},

		{"kept in all", GS008, kept(1, 2, 3, 4, 5)},
		{"kept in the first, too", GS008, kept(0, 1, 2, 3, 4, 5)},
		{"kept in all but one", GS008, kept(1, 2, 3, 4)},
		{"kept in all that have a backward pass", GS008, all(kept(1, 2, 3), func(_ *analyze.Pass, r *analyze.Rank) {
			r.Steps[4].Backwards, r.Steps[5].Backwards = nil, nil
		})},
		{"blank in all", GS008, all(kept(), func(_ *analyze.Pass, r *analyze.Rank) {
			for i := range r.Steps {
				r.Clears.Blank = append(r.Clears.Blank, facts.Clear{Step: i,
					Event: timeline.Event{Name: fmt.Sprint("b", i)}})
			}
		})},
		{"none", GS008, kept()},

		{"every micro-batch", AC001, every(allReduce, same)},
		{"of one micro-batch", AC001, every(allReduce, func(r *analyze.Rank) { r.Sync.PerPass = []int{2} })},
		{"the last micro-batch", AC001, every(allReduce,
			func(r *analyze.Rank) { r.Sync.Pattern = gradients.SyncLast })},
		{"reduce-scattered", AC001, every(scatter, same)},
		{"by the optimizer", AC001, every(allReduce,
			func(r *analyze.Rank) { r.Sync.Site.Site = timeline.SiteOptimizerStep })},
		{"beside reduce-scatters of gradients", AC001, every(allReduce, func(r *analyze.Rank) {
			r.HostCollectives = append(r.HostCollectives, gradients.HostCollective{Kind: scatter, Gradient: true})
		})},
		{"beside other reduce-scatters", AC001, every(allReduce, func(r *analyze.Rank) {
			r.HostCollectives = append(r.HostCollectives, gradients.HostCollective{Kind: scatter})
		})},
		{"inside no_sync", AC001, every(allReduce, eachCall(func(c *gradients.HostCollective) { c.NoSync = 0 }))},
		{"between replicas", AC001, every(allReduce, eachCall(replicas))},
		{"hidden, or not linked", AC001, every(allReduce, func(r *analyze.Rank) {
			for i := range r.Collectives {
				r.Collectives[i].Linked = false
			}
		})},
		{"every micro-batch", AC004, every(scatter, same)},
		{"all-reduced", AC004, every(allReduce, same)},

		{"without effect", AC002, every(allReduce, func(r *analyze.Rank) {
			r.NoSync = []gradients.NoSync{{}, {ForwardBefore: true}}
			r.HostCollectives[0].NoSync, r.HostCollectives[2].NoSync = 0, 1
		})},
		{"without effect, the forward pass before", AC002, every(scatter, func(r *analyze.Rank) {
			r.NoSync = []gradients.NoSync{{ForwardBefore: true}}
			r.HostCollectives[0].NoSync = 0
		})},
		{"outside", AC002, every(allReduce, func(r *analyze.Rank) { r.NoSync = []gradients.NoSync{{}} })},

		{"between replicas", AC003, every(allReduce, func(r *analyze.Rank) {
			eachCall(replicas)(r)
			r.Sync.Shards = 4
		})},
		{"between replicas, inside no_sync", AC003, every(allReduce, eachCall(func(c *gradients.HostCollective) {
			replicas(c)
			c.NoSync = 0
		}))},
		{"between replicas, of parameters of unknown size", AC003, every(allReduce, func(r *analyze.Rank) {
			eachCall(replicas)(r)
			r.Params.Bytes = 0
		})},
		{"between replicas, in the second pass of each step alone", AC003, every(allReduce, eachCall(
			func(c *gradients.HostCollective) { c.Replicas = c.Backward%2 == 1 }))},
		{"between replicas, of one pass per step", AC003, every(allReduce, func(r *analyze.Rank) {
			eachCall(func(c *gradients.HostCollective) { c.Replicas, c.Backward = true, c.Step })(r)
			for i := range r.Steps {
				r.Steps[i].Backwards = r.Steps[i].Backwards[:1]
			}
		})},
		{"of something else", AC003, every(allReduce, eachCall(func(c *gradients.HostCollective) {
			replicas(c)
			c.Gradient = false
		}))},
		{"after the last update", AC003, every(allReduce, eachCall(func(c *gradients.HostCollective) {
			replicas(c)
			c.Step = -1
		}))},
	}
}
