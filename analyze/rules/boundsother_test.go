package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/memory"
	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// problems are those of the inputs, each once and at no place unless said.
func problems(list ...report.Problem) func(*analyze.Pass, *analyze.Rank) {
	return func(p *analyze.Pass, _ *analyze.Rank) { p.Problems = list }
}

func problem(code trace.Code, count int64, at *int64) report.Problem {
	return report.Problem{Code: string(code), Message: "of " + string(code), Count: count, Offset: at, File: "f.json"}
}

// normalized is steps of a run of two ranks whose tokens are [2 6] and [4 4], or as given.
func normalized(list ...*analyze.NormalizedStep) func(*analyze.Pass, *analyze.Rank) {
	return func(p *analyze.Pass, _ *analyze.Rank) {
		for _, s := range list {
			p.Normalized = append(p.Normalized, *s)
		}
	}
}

// normalizedStep is a step of a mode and a factor, with its weights.
func normalizedStep(step int, mode normalization.Mode, f normalization.Factor, tokens [][]int64,
	change func(*analyze.NormalizedStep)) *analyze.NormalizedStep {
	c := &normalization.Counts{Tokens: tokens}
	s := &analyze.NormalizedStep{Step: step, Counts: c, Observed: &normalization.Observation{Counts: c,
		Ranks: len(tokens)},
		Decision: &normalization.Decision{Mode: mode, Factor: f, Basis: normalization.ByTrace,
			Evidence: "so the trace says",
			Weights:  c.WeightsOf(mode, f)}}
	if change != nil {
		change(s)
	}
	return s
}

// holding gives steps memory: the devices, each with what forward passes hold at the peak of each step, and at most.
func holding(micro, backwards int, list ...memory.Device) func(*analyze.Pass, *analyze.Rank) {
	return func(_ *analyze.Pass, r *analyze.Rank) {
		r.Memory = list
		for i := range r.Steps {
			r.Steps[i].MicroBatches, r.Steps[i].Backwards = micro, make([]gradients.Backward, backwards)
		}
	}
}

// device is one of a kind, with the bytes that forward passes hold at each peak, and the peaks.
func device(kind string, held ...[2]int64) memory.Device {
	d := memory.Device{Name: kind, Kind: kind}
	for i := range 6 {
		h := held[min(i, len(held)-1)]
		d.Peaks = append(d.Peaks, memory.Peak{Window: i, Allocated: h[1], Phase: "after_backward",
			AtPeak: memory.Held{Bytes: h[0]}, Most: memory.Held{Bytes: 9e6},
			Event: timeline.Event{Name: fmt.Sprint("alloc", i), Start: int64(i) * 1_000_000}})
	}
	return d
}

func otherFacts() []onFacts {
	at := int64(77)
	two := [][]int64{{2, 6}, {4, 4}}
	three := [][]int64{{1, 1}, {30, 30}}
	const perRank, micro, global = normalization.PerRank, normalization.MicroMean, normalization.Global
	one := normalization.One
	half := normalization.Factor{Name: "1/R", Value: 0.5, Text: "1/R too small"}
	partial := normalization.Factor{Name: "k/A", Value: 0.5, Text: "divided by A"}
	declared := func(m normalization.Mode) func(*analyze.NormalizedStep) {
		return func(s *analyze.NormalizedStep) { s.Observed.Declared = m }
	}
	byWord := func(s *analyze.NormalizedStep) { s.Basis = normalization.ByWord }
	whole := func(s *analyze.NormalizedStep) { s.Observed.Whole = true }
	fewer := func(s *analyze.NormalizedStep) { s.Observed.Ranks = 3 }
	explained := func(s *analyze.NormalizedStep) { s.Explained = "CL004" }
	noWeights := func(s *analyze.NormalizedStep) { s.Weights = nil }
	window := func(s *analyze.NormalizedStep) { s.Counts.Accumulation = 4 }
	unknownFactor := func(s *analyze.NormalizedStep) {
		window(s)
		s.Factor = normalization.Factor{}
		s.Observed.Divided, s.Observed.Scaled = normalization.Yes, normalization.No
	}
	return []onFacts{
		{"two kinds of damage", TH001, problems(problem(trace.Truncated, 1, &at), problem(trace.NegativeDuration, 3,
			nil))},
		{"a note alone", TH001, problems(problem(trace.BadEscape, 2, nil))},
		{"damage of devices is another rule's", TH001, problems(problem(trace.DroppedDevice, 2, nil))},
		{"nothing", TH001, problems()},
		{"dropped", TH002, all(problems(problem(trace.DroppedDevice, 2, nil), problem(trace.Truncated, 1, nil),
			problem(trace.ClockOffset, 1, &at)), func(_ *analyze.Pass, r *analyze.Rank) {
			for i := range 7 {
				r.Impossible = append(r.Impossible, timeline.Event{Name: fmt.Sprint("i", i), Start: int64(i) * 1000})
			}
		})},
		{"another kind of damage", TH002, problems(problem(trace.Truncated, 1, nil))},
		{"numbered", TH003, problems(problem(trace.RankAssigned, 1, nil), problem(trace.Truncated, 1, nil))},
		{"numbered in two files", TH003, problems(problem(trace.RankAssigned, 1, nil), problem(trace.RankAssigned, 1,
			nil))},
		{"in conflict", TH003, problems(problem(trace.RankConflict, 1, nil), problem(trace.RankAssigned, 1, nil))},
		{"another kind of damage", TH003, problems(problem(trace.Truncated, 1, nil))},
		{"all at the start", TH004, unlinkedOf(100, 3, 3)},
		{"one elsewhere of a hundred", TH004, unlinkedOf(100, 1, 0)},
		{"one elsewhere of a hundred and one", TH004, unlinkedOf(101, 3, 2)},
		{"one more elsewhere than at the start, of many", TH004, unlinkedOf(1000, 5, 2)},
		{"as many elsewhere as at the start, of many", TH004, unlinkedOf(1000, 4, 2)},
		{"all of them", TH004, unlinkedOf(10, 10, 0)},
		{"none", TH004, unlinkedOf(10, 0, 0)},

		{"each rank by its own", NM001, normalized(normalizedStep(1, perRank, one, [][]int64{{2, 6}, {20, 4}}, nil))},
		{"each rank by its own, as declared", NM001, normalized(normalizedStep(1, perRank, one, [][]int64{{2, 6}, {20,
			4}},
			declared(perRank)))},
		{"each rank by its own, another mode declared", NM001, normalized(normalizedStep(1, perRank, one,
			[][]int64{{2, 6}, {20, 4}}, declared(micro)))},
		{"each rank by its own, by word", NM001, normalized(normalizedStep(1, perRank, one, [][]int64{{2, 6}, {20, 4}},
			byWord))},
		{"ranks with equal tokens", NM001, normalized(normalizedStep(1, perRank, one, two, nil))},
		{"some ranks are not counted", NM001, normalized(normalizedStep(1, perRank, one, [][]int64{{2, 6}, {20, 4}},
			fewer))},
		{"counts of whole steps", NM001, normalized(normalizedStep(1, perRank, one, [][]int64{{8}, {24}}, whole))},
		{"the worst of three steps", NM001, normalized(normalizedStep(1, perRank, one, [][]int64{{2, 6}, {20, 4}}, nil),
			normalizedStep(2, perRank, one, three, nil), normalizedStep(3, perRank, one, [][]int64{{2, 6}, {20, 4}},
				nil))},
		{"a step that was not recorded", NM001, normalized(normalizedStep(9, perRank, one, three, nil))},
		{"means are averaged", NM002, normalized(normalizedStep(1, micro, one, two, nil))},
		{"means are averaged, as declared", NM002, normalized(normalizedStep(1, micro, one, two, declared(micro)))},
		{"means of whole steps", NM002, normalized(normalizedStep(1, micro, one, two, whole))},
		{"another mode", NM002, normalized(normalizedStep(1, global, one, two, nil))},
		{"half of the right ones", NM003, normalized(normalizedStep(1, global, half, two, nil))},
		{"half of the right ones, by word", NM003, normalized(normalizedStep(1, global, half, two, byWord))},
		{"half of the right ones, in two steps", NM003, normalized(normalizedStep(1, global, half, two, nil),
			normalizedStep(2, global, normalization.Factor{Name: "1/A", Value: 0.25, Text: "1/A"}, two, nil))},
		{"explained by another rule", NM003, normalized(normalizedStep(1, global, half, two, explained))},
		{"of means, which NM002 names first", NM003, normalized(normalizedStep(1, micro, half, two, nil))},
		{"of means of equal counts", NM003, normalized(normalizedStep(1, micro, half, [][]int64{{4, 4}, {4, 4}}, nil))},
		{"of unknown weights", NM003, normalized(normalizedStep(1, global, half, two, noWeights))},
		{"right", NM003, normalized(normalizedStep(1, global, one, two, nil))},
		{"of a partial window", NM003, normalized(normalizedStep(1, global, partial, two, nil))},
		{"divided by the full window", NM004, normalized(normalizedStep(1, global, partial, two, window))},
		{"divided by the full window, twice", NM004, normalized(normalizedStep(1, global, partial, two, window),
			normalizedStep(2, global, partial, two, window))},
		{"a full window", NM004, normalized(normalizedStep(1, global, partial, two, nil))},
		{"a full window, of whole counts", NM004, normalized(normalizedStep(1, global, partial, two,
			func(s *analyze.NormalizedStep) { window(s); whole(s) }))},
		{"divided, by word", NM004, normalized(normalizedStep(1, global, partial, two,
			func(s *analyze.NormalizedStep) { window(s); byWord(s) }))},
		{"perhaps divided by the full window", NM004, normalized(normalizedStep(1, micro, one, two, unknownFactor))},
		{"perhaps, of another mode", NM004, normalized(normalizedStep(1, perRank, one, two, unknownFactor))},
		{"perhaps, and scaled", NM004, normalized(normalizedStep(1, micro, one, two, func(s *analyze.NormalizedStep) {
			unknownFactor(s)
			s.Observed.Scaled = normalization.Yes
		}))},
		{"perhaps, and not known to be divided", NM004, normalized(normalizedStep(1, micro, one, two,
			func(s *analyze.NormalizedStep) {
				unknownFactor(s)
				s.Observed.Divided = 0
			}))},

		{"four forward passes for one", AC005, holding(4, 1, device("cuda", [2]int64{4e6, 20e6}))},
		{"four for two", AC005, holding(4, 2, device("cuda", [2]int64{4e6, 20e6}))},
		{"one each", AC005, holding(4, 4, device("cuda", [2]int64{4e6, 20e6}))},
		{"one alone", AC005, holding(1, 1, device("cuda", [2]int64{4e6, 20e6}))},
		{"without memory", AC005, holding(2, 1)},
		{"without a backward pass", AC005, holding(2, 0)},
		{"not at the peak", AC005, holding(2, 1, device("cuda", [2]int64{0, 20e6}))},
		{"of two devices the one that holds more", AC005, holding(2, 1, device("cuda", [2]int64{4e6, 20e6}),
			device("hip", [2]int64{5e6, 10e6}))},
		{"of two devices the first", AC005, holding(2, 1, device("cuda", [2]int64{4e6, 20e6}),
			device("hip", [2]int64{4e6, 30e6}))},
		{"host memory stands back", AC005, holding(2, 1, device("cpu", [2]int64{9e6, 20e6}),
			device("cuda", [2]int64{4e6, 30e6}))},
		{"host memory stands back, wherever", AC005, holding(2, 1, device("cuda", [2]int64{4e6, 30e6}),
			device("cpu", [2]int64{9e6, 20e6}))},
		{"of steps the one that holds most", AC005, holding(2, 1, device("cuda", [2]int64{1e6, 9e6}, [2]int64{4e6,
			20e6},
			[2]int64{3e6, 30e6}))},
		{"of equal steps the one with the highest peak", AC005, holding(2, 1, device("cuda", [2]int64{4e6, 9e6},
			[2]int64{4e6, 20e6}, [2]int64{4e6, 10e6}))},
		{"at least", AC005, holding(2, 1, func() memory.Device {
			d := device("cuda", [2]int64{4e6, 9e6})
			d.Relative = true
			for i := range d.Peaks {
				d.Peaks[i].Event = timeline.Event{}
			}
			return d
		}())},
		{"of one step it is not known what is held", AC005, holding(2, 1, func() memory.Device {
			d := device("cuda", [2]int64{4e6, 9e6})
			d.Peaks[0].Most, d.Peaks[5].Most = memory.Held{}, memory.Held{}
			return d
		}())},
	}
}

// unlinkedOf is so many device events, of which so many have no launch, some of them at the start.
func unlinkedOf(events, unlinked, atStart int) func(*analyze.Pass, *analyze.Rank) {
	return func(_ *analyze.Pass, r *analyze.Rank) {
		r.DeviceEvents, r.Unlinked, r.UnlinkedAtStart = events, unlinked, atStart
		r.FirstUnlinked = nil
		for i := range min(unlinked, 7) {
			r.FirstUnlinked = append(r.FirstUnlinked, timeline.Event{Name: fmt.Sprint("u", i), Start: int64(i) * 1000})
		}
		r.Collectives[0].Linked = false
	}
}
