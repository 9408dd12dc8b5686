package normalization

import (
	"fmt"
	"math"
	"testing"
)

// decision is a decision in short.
func decision(d *Decision) string {
	text := fmt.Sprintf("%s %s by %s", d.Mode, d.Factor.Name, d.Basis)
	if d.Weights != nil {
		text += fmt.Sprintf(" %.4g-%.4g", *d.Weights.Min, *d.Weights.Max)
	}
	return text
}

func TestDecide(t *testing.T) {
	nan := math.NaN()
	ragged, equal := &Counts{Tokens: [][]int64{{4, 0}, {1, 1}}}, &Counts{Tokens: [][]int64{{2, 2}, {2, 2}}}
	partial := &Counts{Tokens: [][]int64{{2}, {2}}, Accumulation: 2}
	short := &Counts{Tokens: [][]int64{{4}, {1}}}
	sums := [][]float64{{8, 0}, {3, 5}} // means: global 16/6, of ranks 3, of micro-batches 10/3
	half := 0.5
	for _, test := range []struct {
		name string
		o    Observation
		want string
	}{
		{"nothing", Observation{}, "unknown  by unknown"},
		{"nothing but counts", Observation{Counts: ragged, Ranks: 2}, "unknown  by unknown"},
		{"a word", Observation{Counts: ragged, Ranks: 2, Declared: PerRank}, "per_rank 1 by declared 0.75-1.5"},
		{"counts of too few ranks", Observation{Counts: ragged, Ranks: 3, Declared: PerRank}, "per_rank 1 by declared"},
		{
			"means",
			Observation{Counts: ragged, Ranks: 2, Mean: Yes, Divided: Yes, Divisor: nan, Scaled: No},
			"micro_mean 1 by trace 0.375-1.5",
		},
		{
			"means against a word",
			Observation{Counts: ragged, Ranks: 2, Mean: Yes, Divided: Yes, Divisor: nan, Scaled: No, Declared: Global},
			"micro_mean 1 by trace 0.375-1.5",
		},
		{
			"means by 2",
			Observation{Counts: equal, Ranks: 2, Mean: Yes, Divided: Yes, Divisor: 2, Scaled: No},
			"micro_mean 1 by trace 1-1",
		},
		{
			"means by 4",
			Observation{Counts: equal, Ranks: 2, Mean: Yes, Divided: Yes, Divisor: 4, Scaled: No},
			"micro_mean 1/R by trace 0.5-0.5",
		},
		{
			"means by nearly 4",
			Observation{Counts: equal, Ranks: 2, Mean: Yes, Divided: Yes, Divisor: 4 * (1 + 0.95e-9), Scaled: No},
			"micro_mean 1/R by trace 0.5-0.5",
		},
		{
			"means by a little more than 4",
			Observation{Counts: equal, Ranks: 2, Mean: Yes, Divided: Yes, Divisor: 4 * (1 + 1.05e-9), Scaled: No},
			"micro_mean 2/4.0000000042 by trace 0.5-0.5",
		},
		{
			"means by 7",
			Observation{Counts: equal, Ranks: 2, Mean: Yes, Divided: Yes, Divisor: 7, Scaled: No},
			"micro_mean 2/7 by trace 0.2857-0.2857",
		},
		{
			"means added up",
			Observation{Counts: equal, Ranks: 2, Mean: Yes, Divided: No, Divisor: nan, Scaled: No},
			"micro_mean A by trace 2-2",
		},
		{
			"means added up, and a fused optimizer",
			Observation{Counts: equal, Ranks: 2, Mean: Yes, Divided: No, Divisor: nan, Scaled: No, Hidden: true},
			"micro_mean  by trace",
		},
		{
			"means, and a pass",
			Observation{Counts: equal, Ranks: 2, Mean: Yes, Divided: No, Divisor: nan, Scaled: Yes},
			"micro_mean  by trace",
		},
		{
			"a partial window",
			Observation{Counts: partial, Ranks: 2, Mean: Yes, Divided: Yes, Divisor: 2, Scaled: No},
			"micro_mean k/A by trace 0.5-0.5",
		},
		{
			"a partial window by something",
			Observation{Counts: partial, Ranks: 2, Mean: Yes, Divided: Yes, Divisor: nan, Scaled: No},
			"micro_mean  by trace",
		},
		{
			"one mean a rank",
			Observation{Counts: short, Ranks: 2, Mean: Yes, Divided: No, Divisor: nan, Scaled: No},
			"per_rank 1 by trace 0.625-2.5",
		},
		{
			"one mean",
			Observation{
				Counts:  &Counts{Tokens: [][]int64{{4}}},
				Ranks:   1,
				Mean:    Yes,
				Divided: No,
				Divisor: nan,
				Scaled:  No,
			},
			"global 1 by trace 1-1",
		},
		{
			"counts of whole steps",
			Observation{
				Counts:  short,
				Whole:   true,
				Micro:   4,
				Ranks:   2,
				Mean:    Yes,
				Divided: Yes,
				Divisor: nan,
				Scaled:  No,
			},
			"micro_mean  by trace",
		},
		{
			"sums by a count of one's own",
			Observation{Counts: ragged, Ranks: 2, Mean: No, Divided: No, Divisor: nan, Reduced: No, Inverted: Yes},
			"per_rank 1 by trace 0.75-1.5",
		},
		{
			"sums by a count that is reduced",
			Observation{Counts: ragged, Ranks: 2, Mean: No, Divisor: nan, Reduced: Yes, Inverted: Yes},
			"global  by trace",
		},
		{
			"sums by a count that may be reduced",
			Observation{Counts: ragged, Ranks: 2, Mean: No, Divided: No, Divisor: nan, Inverted: Yes},
			"unknown  by unknown",
		},
		{
			"sums by nothing that shows",
			Observation{Counts: ragged, Ranks: 2, Mean: No, Divided: No, Divisor: nan, Reduced: No},
			"unknown  by unknown",
		},
		{
			"an optimised loss",
			Observation{Counts: ragged, Ranks: 2, Sums: sums, Optimised: 3},
			"per_rank 1 by loss log 0.75-1.5",
		},
		{
			"an optimised loss before the trace",
			Observation{Counts: ragged, Ranks: 2, Sums: sums, Optimised: 16.0 / 6, Mean: Yes, Scaled: No},
			"global 1 by loss log 1-1",
		},
		{
			"half an optimised loss",
			Observation{Counts: ragged, Ranks: 2, Sums: sums, Optimised: 8.0 / 6},
			"global 1/R by loss log 0.5-0.5",
		},
		{
			"a thousandth off",
			Observation{Counts: ragged, Ranks: 2, Sums: sums, Optimised: float64(float32(10.0 / 4.001))},
			"unknown  by unknown",
		},
		{
			"an optimised loss with an empty micro-batch",
			Observation{Counts: ragged, Ranks: 2, Sums: sums, Optimised: float64(float32(10.0 / 4))},
			"micro_mean 1 by loss log 0.375-1.5",
		},
		{
			"an optimised loss of another run",
			Observation{Counts: ragged, Ranks: 2, Sums: sums, Optimised: 2.9},
			"unknown  by unknown",
		},
		{
			"averages that are all the same",
			Observation{Counts: ragged, Ranks: 2, Sums: [][]float64{{8, 0}, {2, 2}}, Optimised: 2},
			"unknown  by unknown",
		},
		{
			"averages of equal counts",
			Observation{Counts: equal, Ranks: 2, Sums: [][]float64{{4, 6}, {2, 2}}, Optimised: 1.75},
			"global 1 by loss log 1-1",
		},
		{
			"gradients",
			Observation{
				Counts:    ragged,
				Ranks:     2,
				Sums:      sums,
				Optimised: 3,
				Gradients: &Cause{Mode: Global, Factor: "1/R", Value: &half, Confidence: FactorAlone},
			},
			"global 1/R by gradients 0.5-0.5",
		},
		{
			"gradients that say little",
			Observation{
				Counts:    ragged,
				Ranks:     2,
				Sums:      sums,
				Optimised: 3,
				Gradients: &Cause{Mode: MicroMean, Factor: "1", Value: &half, Confidence: Weak},
			},
			"per_rank 1 by loss log 0.75-1.5",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.o.Sums == nil {
				test.o.Optimised = nan
			}
			if got := decision(Decide(&test.o)); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}
