package normalization

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace/sidecar"
)

// listed is a list of factors in short: name=value.
func listed(list []Factor) string {
	var parts []string
	for _, f := range list {
		parts = append(parts, fmt.Sprintf("%s=%.4g", f.Name, f.Value))
	}
	return strings.Join(parts, " ")
}

// TestFactorTable: which factors a mistake can leave behind depends on what there is more
// than one of, and their values are what their names say.
func TestFactorTable(t *testing.T) {
	for _, c := range []struct {
		ranks, window, micro int
		tokens               int64
		want                 string
	}{
		{1, 1, 1, 1, "1=1"},
		{1, 1, 1, 0, "1=1"},
		{1, 1, 1, 5, "1=1 N=5 1/N=0.2"},
		{2, 1, 1, 10, "1=1 1/R=0.5 R=2 N=10 N/R=5 1/N=0.1"},
		{1, 4, 4, 8, "1=1 1/A=0.25 A=4 N=8 N/A=2 1/N=0.125"},
		{1, 4, 1, 8, "1=1 k/A=0.25 1/A=0.25 A=4 N=8 N/A=2 1/N=0.125"},
		{1, 4, 0, 0, "1=1 1/A=0.25 A=4"},
		{2, 4, 3, 100, "1=1 k/A=0.75 1/R=0.5 R=2 1/A=0.25 A=4 1/(RA)=0.125 RA=8 R/A=0.5 A/R=2 N=100 N/R=50 N/A=25 " +
			"N/(RA)=12.5 1/N=0.01"},
		{2, 2, 2, 0, "1=1 1/R=0.5 R=2 1/A=0.5 A=2 1/(RA)=0.25 RA=4"},
		{2, 2, 2, 8, "1=1 1/R=0.5 R=2 1/A=0.5 A=2 1/(RA)=0.25 RA=4 N=8 N/R=4 N/A=4 N/(RA)=2 1/N=0.125"},
		{4, 4, 4, 16, "1=1 1/R=0.25 R=4 1/A=0.25 A=4 1/(RA)=0.0625 RA=16 N=16 N/R=4 N/A=4 1/N=0.0625"},
		{2, 3, 3, 2, "1=1 1/R=0.5 R=2 1/A=0.3333 A=3 1/(RA)=0.1667 RA=6 R/A=0.6667 A/R=1.5 N=2 N/A=0.6667 " +
			"N/(RA)=0.3333 1/N=0.5"},
	} {
		if got := listed(factors(c.ranks, c.window, c.micro, c.tokens)); got != c.want {
			t.Errorf("R=%d A=%d k=%d N=%d: %s, want %s", c.ranks, c.window, c.micro, c.tokens, got, c.want)
		}
	}
	list := factors(2, 4, 4, 0)
	for v, want := range map[float64]string{
		0.5: "1/R=0.5 R/A=0.5", 4.004: "A=4", 4.0041: "", 3.9961: "A=4", 3.9959: "", -4: "", 0: "",
	} {
		if got := listed(nameFactors(list, v, 1e-3)); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
}

// TestLossTable: the averages of two ranks with three micro-batches, one of them empty,
// by hand; of what is not there none is made up.
func TestLossTable(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name   string
		counts Counts
		sums   [][]float64
		want   string
	}{
		{"two ranks", Counts{Tokens: [][]int64{{4, 0, 2}, {1, 3, 0}}}, [][]float64{{8, nan, 2}, {3, 12, nan}},
			"global_mean 2.5, mean_of_rank_means 2.708, mean_of_micro_means 2.5, " +
				"mean_of_micro_means_empty_as_zero 1.667, " +
				"rank_mean 1.667, rank_mean 3.75, sum_of_rank_means 5.417, sum_of_micro_means 5, " +
				"sum_over_ranks_and_micro_batches 4.167, sum 25"},
		{"one rank", Counts{Tokens: [][]int64{{4, 1}}}, [][]float64{{8, 3}},
			"global_mean 2.2, mean_of_rank_means 2.2, mean_of_micro_means 2.5, sum_of_rank_means 2.2, " +
				"sum_of_micro_means 5, sum_over_ranks_and_micro_batches 5.5, sum 11"},
		{"a rank without tokens", Counts{Tokens: [][]int64{{0}, {2}}}, [][]float64{{nan}, {5}},
			"global_mean 2.5, mean_of_rank_means 2.5, mean_of_micro_means 2.5, " +
				"mean_of_micro_means_empty_as_zero 1.25, " +
				"sum_of_rank_means 2.5, sum_of_micro_means 2.5, sum_over_ranks_and_micro_batches 2.5, sum 5"},
		{"a partial window", Counts{Tokens: [][]int64{{2}}, Accumulation: 4}, [][]float64{{6}},
			"global_mean 3, mean_of_rank_means 3, mean_of_micro_means 3, sum_of_rank_means 3, sum_of_micro_means 3, " +
				"sum_over_ranks_and_micro_batches 1.5, sum 6"},
		{"a loss that is not known", Counts{Tokens: [][]int64{{2}, {2}}}, [][]float64{{6}, {nan}}, "rank_mean 3"},
		{"an infinite one", Counts{Tokens: [][]int64{{2}}}, [][]float64{{math.Inf(1)}}, ""},
		{"no tokens", Counts{Tokens: [][]int64{{0}}}, [][]float64{{1}}, ""},
		{"no ranks", Counts{}, nil, ""},
	} {
		var parts []string
		for _, l := range c.counts.LossesOf(c.sums) {
			parts = append(parts, fmt.Sprintf("%s %.4g", l.Name, l.Value))
		}
		if got := strings.Join(parts, ", "); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestNameLoss(t *testing.T) {
	list := []Loss{{Name: "a", Value: 2}, {Name: "b", Value: 2.000003}, {Name: "again", Value: 2}, {Name: "c",
		Value: -5}}
	for logged, want := range map[float64]string{
		2: "a", 2.000001: "a", 2.000002: "b", 2.0000069: "b", 2.0000071: "", 1.9999961: "a", 1.9999959: "",
		-5: "c", 5: "", 0: "",
	} {
		l, ok := NameLoss(list, logged)
		if ok != (want != "") || l.Name != want {
			t.Errorf("%v is %s %v, want %s", logged, l.Name, ok, want)
		}
	}
	c := &Counts{Tokens: [][]int64{{2, 2, 2}, {2, 2, 2}}}
	for v, want := range map[float64]string{2: "a 1", 6: "a A", 4: "a R", 1: "a 1/R", 12: "a RA", 24: "a N",
		5: "unknown "} {
		if got := nameLoss(c, list[:1], v); got.Name+" "+got.Factor != want || got.Value != v {
			t.Errorf("%v is %+v, want %s", v, got, want)
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got := nameLoss(c, list, v); got != nil {
			t.Errorf("%v is %+v", v, got)
		}
	}
}

// TestFollowedLoss: the loss whose gradient a mode follows is its coefficients times the
// summed losses; modes that follow none, and losses that are not known, have none.
func TestFollowedLoss(t *testing.T) {
	c := &Counts{Tokens: [][]int64{{4, 0}, {1, 1}}}
	sums := [][]float64{{8, math.NaN()}, {3, 5}}
	for mode, want := range map[Mode]float64{
		Global: 16.0 / 6, PerRank: 3, MicroMean: 10.0 / 4,
		LastMicro: 5.0 / 6, Decayed: (8.0/4 + 3.0/4 + 5.0/2) / 6, ReReduced: (8*2 + 3*2 + 5.0) / 6,
	} {
		l, ok := c.OptimisedLoss(sums, mode)
		if !ok || math.Abs(l.Value-want) > 1e-12 || l.Name != string(mode) || l.Text == "" {
			t.Errorf("%s: %+v %v, want %v", mode, l, ok, want)
		}
	}
	for _, mode := range []Mode{Sum, Unknown, Preshift} {
		if l, ok := c.OptimisedLoss(sums, mode); ok {
			t.Errorf("%s follows %+v", mode, l)
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		if l, ok := c.OptimisedLoss([][]float64{{8, 0}, {v, 5}}, Global); ok {
			t.Errorf("of %v: %+v", v, l)
		}
	}
	if _, ok := (&Counts{Tokens: [][]int64{{0}}}).OptimisedLoss([][]float64{{0}}, Global); ok {
		t.Error("without tokens")
	}
}

// TestAllWeightsByShape: only what the shape of a step lets one tell apart is listed.
func TestAllWeightsByShape(t *testing.T) {
	for _, c := range []struct {
		counts Counts
		want   string
	}{
		{Counts{Tokens: [][]int64{{5}}}, "global:1 per_rank:1 micro_mean:1 sum:1"},
		{Counts{Tokens: [][]int64{{5}, {3}}},
			"global:1 per_rank:1 per_rank:R micro_mean:1 sum:1 global:1/R global:R global:N/(RA)"},
		{Counts{Tokens: [][]int64{{5, 3}}},
			"global:1 per_rank:1 micro_mean:1 micro_mean:A sum:1 global:1/A global:N/(RA) last_micro_batch:1 " +
				"scaled_every_micro:1"},
		{Counts{Tokens: [][]int64{{5, 3}}, Accumulation: 3, Preshift: [][]int64{{5, 4}}},
			"global:1 per_rank:1 micro_mean:1 micro_mean:A sum:1 global:1/A global:N/(RA) last_micro_batch:1 " +
				"scaled_every_micro:1 pre_shift_count:1 global:k/A"},
		{Counts{Tokens: [][]int64{{0}}}, ""},
	} {
		var got []string
		for _, w := range c.counts.AllWeights() {
			got = append(got, string(w.Mode)+":"+w.Factor)
			if w.Mode == Global && w.Factor == "1" && (*w.Min != 1 || *w.Max != 1) {
				t.Errorf("the right weights are %v to %v", *w.Min, *w.Max)
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%v: %s, want %s", c.counts, text, c.want)
		}
	}
	partial := &Counts{Tokens: [][]int64{{2, 2}}, Accumulation: 8}
	for _, w := range partial.AllWeights() {
		if w.Factor == "k/A" && *w.Max != 0.25 || w.Factor == "A" && *w.Max != 8 && w.Mode == Global {
			t.Errorf("%s %s is %v", w.Mode, w.Factor, *w.Max)
		}
	}
}

// TestWrongAndRagged: bounds of what counts as wrong, and as different.
func TestWrongAndRagged(t *testing.T) {
	w := func(low, high float64) *Weights { return &Weights{Min: &low, Max: &high} }
	for _, c := range []struct {
		w             *Weights
		wrong, ragged bool
	}{
		{&Weights{}, false, false},
		{w(1, 1), false, false},
		{w(0.9995, 1.0004), false, false},
		{w(1, 1.00095), false, false},
		{w(0.99905, 1), false, false},
		{w(1, 1.002), true, true},
		{w(0.998, 1), true, true},
		{w(0.5, 0.5), true, false},
		{w(500, 500.4), true, false},
		{w(0, 1), true, true},
	} {
		if c.w.Wrong() != c.wrong || c.w.Ragged() != c.ragged {
			t.Errorf("%+v: wrong %v, ragged %v", c.w, c.w.Wrong(), c.w.Ragged())
		}
	}
}

// TestDeviationByHand: the figures of small vectors.
func TestDeviationByHand(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	show := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprintf("%.4g", *v)
	}
	for _, c := range []struct {
		name string
		a, b []float64
		want string // ratio, cosine, max, l2, adamw, norms, not finite
	}{
		{"equal", []float64{3, 4}, []float64{3, 4}, "1 1 0 0 0 5 5 0"},
		{"opposite", []float64{-3, -4}, []float64{3, 4}, "1 -1 2 2 2 5 5 0"},
		{"at a right angle", []float64{0, 5}, []float64{5, 0}, "1 0 1 1.414 1.414 5 5 0"},
		{"twice", []float64{6, 8}, []float64{3, 4}, "2 1 1 1 1.473e-09 10 5 0"},
		{"another", []float64{3, 4}, []float64{0, -10}, "0.5 -0.8 1.4 1.432 2.236 5 10 0"},
		{"nothing against something", []float64{0, 0}, []float64{3, 4}, "0 - 1 1 1 0 5 0"},
		{"something against nothing", []float64{3, 4}, []float64{0, 0}, "- - - - - 5 0 0"},
		{"both nothing", []float64{0}, []float64{0}, "- - 0 0 0 0 0 0"},
		{"not a number", []float64{nan, 4}, []float64{3, 4}, "- - - - - - - 1"},
		{"infinite on both sides", []float64{inf, 4, 1}, []float64{inf, -inf, 1}, "- - - - - - - 2"},
	} {
		var k Comparison
		for i := range c.a { // tensor by tensor is the same as all at once
			if err := k.Add(fmt.Sprint(i), c.a[i:i+1], c.b[i:i+1]); err != nil {
				t.Fatal(err)
			}
		}
		d := k.Deviation()
		got := strings.Join([]string{show(d.NormRatio), show(d.Cosine), show(d.MaxRel), show(d.RelL2), show(d.AdamW),
			show(d.Norm), show(d.Reference), fmt.Sprint(d.NotFinite)}, " ")
		if got != c.want || len(d.Tensors) != len(c.a) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if err := new(Comparison).Add("w", []float64{1}, nil); err == nil || !strings.Contains(err.Error(),
		"1 elements here and 0") {
		t.Error(err)
	}
}

// TestFirstUpdate: the first update of AdamW goes by the sign alone, but where a gradient is
// about as small as its epsilon.
func TestFirstUpdate(t *testing.T) {
	for g, want := range map[float64]float64{5: 1, -3: -1, 0: 0, 1e-8: 0.5, -1e-8: -0.5, 1e-9: 1.0 / 11} {
		if got := firstUpdate(g); math.Abs(got-want) > 1e-7 {
			t.Errorf("%v: %v, want %v", g, got, want)
		}
	}
}

func TestPrecision(t *testing.T) {
	for _, c := range []struct{ a, b, want sidecar.Dtype }{
		{sidecar.F64, sidecar.F64, sidecar.F64}, {sidecar.F32, sidecar.F64, sidecar.F32},
		{sidecar.F64, sidecar.F16, sidecar.F16}, {sidecar.F16, sidecar.BF16, sidecar.BF16},
		{sidecar.BF16, sidecar.F32, sidecar.BF16}, {sidecar.F16, sidecar.F32, sidecar.F16},
	} {
		if got := Precision(c.a, c.b); got != c.want {
			t.Errorf("%v and %v: %v", c.a, c.b, got)
		}
	}
}

// TestCauseByCounts: what norm ratio and cosine alone say. Multiples of the right gradient
// are named exactly, others only where one mode fits, and weakly.
func TestCauseByCounts(t *testing.T) {
	c := &Counts{Tokens: [][]int64{{59, 60, 14, 11}, {12, 268, 133, 6}}}
	for _, test := range []struct {
		name          string
		ratio, cosine float64
		counts        *Counts
		want          string
	}{
		{"right", 1, 1, c, "global 1 factor"},
		{"half", 0.5, 1, c, "global 1/R factor"},
		{"right in the other direction", 1, -1, c, "unknown  none"},
		{"at a right angle", 1, 0, c, "unknown  none"},
		{"four times", 4, 1, c, "global A factor"},
		{"a factor without a name", 0.7, 1, c, "global  factor"},
		{"nothing like it", 100, 0.5, c, "unknown  none"},
		{"without counts", 2, 0.5, &Counts{}, "unknown  none"},
		{"the last micro-batch of two, or its mean halved", 0.5, 0.5, &Counts{Tokens: [][]int64{{30, 10}}},
			"unknown  none"},
	} {
		d := &Deviation{NormRatio: &test.ratio, Cosine: &test.cosine}
		got := causeOfDeviation(test.counts, d, sidecar.F64)
		if text := fmt.Sprintf("%s %s %s", got.Mode, got.Factor, got.Confidence); text != test.want {
			t.Errorf("%s: %s (also %v), want %s", test.name, text, got.Also, test.want)
		}
	}
	two, half := 2.0, 0.5
	if got := causeOfDeviation(&Counts{}, &Deviation{NormRatio: &two, Cosine: &half}, sidecar.F64); got.Text !=
		"nothing known fits" {
		t.Errorf("without counts: %s", got.Text)
	}
	if got := causeOfDeviation(c, &Deviation{}, sidecar.F64); got.Mode != Unknown || !strings.Contains(got.Text,
		"zero or not finite") {
		t.Errorf("%+v", got)
	}
}

// TestCountsDoNotExclude: where gradients of tokens are noise alone, the norm ratio and the
// cosine are what the counts say, and the mode that made them is always among those named.
func TestCountsDoNotExclude(t *testing.T) {
	for _, c := range []*Counts{
		published, {Tokens: [][]int64{{30, 10}}}, {Tokens: [][]int64{{7, 1, 0}, {2, 9, 4}}}, {Tokens: [][]int64{{9},
			{1}}},
	} {
		for _, mode := range distinct[1:] {
			table := c.Coefficients(mode)
			if w := c.WeightsOf(mode, One); table == nil || !w.Ragged() {
				continue
			}
			mean, square := 0.0, 0.0
			for r, row := range c.Tokens {
				for j, n := range row {
					mean += table[r][j] * float64(n)
					square += table[r][j] * table[r][j] * float64(n)
				}
			}
			n := float64(c.Total())
			ratio, cosine := math.Sqrt(square*n), mean/math.Sqrt(square*n)
			got := causeOfDeviation(c, &Deviation{NormRatio: &ratio, Cosine: &cosine}, sidecar.F64)
			if got.Mode != mode && !strings.Contains(strings.Join(got.Also, ","), string(mode)) {
				t.Errorf("%v: %s is taken for %s, also %v", c.Tokens, mode, got.Mode, got.Also)
			}
			tooFar := cosine * 0.8
			if f, ok := fit(c, mode, mean/tooFar, tooFar); ok {
				t.Errorf("%v: %s fits a cosine of %.3f with factor %s, and allows %.3f", c.Tokens, mode, tooFar,
					f.Name, cosine)
			}
		}
	}
}

// TestCauseTexts: what a cause says, for the right gradients, for a factor with a name, for
// several names of one number, and for none.
func TestCauseTexts(t *testing.T) {
	list := factors(2, 4, 4, 100)
	for _, c := range []struct {
		mode Mode
		v    float64
		name string
		text string
	}{
		{Global, 1, "1", Global.Title()},
		{PerRank, 1, "1", PerRank.Title()},
		{Global, 4, "A", "A times the right gradients: not divided by the micro-batches of a window"},
		{Global, 0.5, "1/R", "1/R times the right gradients: divided by the number of ranks once too often: " +
			"1/N, or no R, on top of a mean over ranks; or R/A, which is the same number here"},
		{PerRank, 4, "A", PerRank.Title() + "; and all multiplied by A: not divided by the micro-batches of a window"},
		{Global, 0.7, "", Global.Title() +
			"; all multiplied by 0.7, which is no product of ranks, micro-batches and tokens"},
	} {
		got := named(c.mode, list, c.v, 1e-6, Exact)
		if got.Factor != c.name || got.Text != c.text || *got.Value != c.v || got.Mode != c.mode ||
			got.Right() != (c.mode == Global && c.v == 1) {
			t.Errorf("%s x %v: %q %q", c.mode, c.v, got.Factor, got.Text)
		}
	}
	for v, seen := range map[float64]bool{100: true, 0.01: true, 50: false, 4: false} {
		if got := named(Global, list, v, 1e-6, Exact).Text; strings.Contains(got, "cannot be seen") != seen {
			t.Errorf("%v: %s", v, got)
		}
	}
}

// TestDescribe: the report of a step names the losses of its log, and lists no modes where
// only whole steps were counted.
func TestDescribe(t *testing.T) {
	o := &Observation{Counts: &Counts{Tokens: [][]int64{{4, 1}, {1, 2}}}, Ranks: 2,
		Sums: [][]float64{{8, 3}, {3, 2}}, Logged: 2, Optimised: 1}
	d := &Decision{Mode: PerRank, Factor: One, Basis: ByTrace, Evidence: "e"}
	r := Describe(7, o, d)
	if r.Step != 7 || r.Total != 8 || r.Mode != PerRank || r.Factor != "1" || r.Basis != ByTrace || r.Evidence != "e" ||
		len(r.Modes) < 5 || len(r.Losses) < 5 {
		t.Errorf("%+v", r)
	}
	if r.Logged == nil || r.Logged.Name != "global_mean" || r.Logged.Factor != "1" {
		t.Errorf("logged %+v", r.Logged)
	}
	if r.Optimised == nil || r.Optimised.Name != "global_mean" || r.Optimised.Factor != "1/R" {
		t.Errorf("optimized %+v", r.Optimised)
	}
	o.Whole, o.Logged = true, math.NaN()
	if r := Describe(7, o, d); len(r.Modes) != 0 || len(r.Losses) != 0 || r.Logged != nil || r.Modes == nil ||
		r.Losses == nil {
		t.Errorf("of whole steps: %+v", r)
	}
}

// TestNearestLoss: of several averages that a loss is near, the nearest is what it follows,
// unless they cannot be told apart.
func TestNearestLoss(t *testing.T) {
	c := &Counts{Tokens: [][]int64{{400, 100}, {100, 100}}}
	sums := [][]float64{{800, 200.0008}, {200, 200}} // means of 2, and one a little more
	for _, m := range []Mode{Global, PerRank, MicroMean} {
		l, ok := c.OptimisedLoss(sums, m)
		if !ok {
			t.Fatal(m)
		}
		o := &Observation{Counts: c, Ranks: 2, Sums: sums, Optimised: l.Value}
		if d := Decide(o); d.Mode != m || d.Basis != ByLoss {
			t.Errorf("the loss of %s, %.9g, is taken for %s by %s", m, l.Value, d.Mode, d.Basis)
		}
	}
	// Half way between two averages that are near each other nothing can be told.
	a, _ := c.OptimisedLoss(sums, Global)
	b, _ := c.OptimisedLoss(sums, PerRank)
	o := &Observation{Counts: c, Ranks: 2, Sums: sums, Optimised: (a.Value + b.Value) / 2}
	if d := Decide(o); d.Basis != ByNothing {
		t.Errorf("between two averages: %s by %s", d.Mode, d.Basis)
	}
}
