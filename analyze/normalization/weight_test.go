package normalization

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/oracle"
	"github.com/gaprof/gaprof/trace/sidecar"
)

// published is the step of torchtune PR 1917.
var published = &Counts{Tokens: [][]int64{{59, 60, 14, 11}, {12, 268, 133, 6}}}

// line is what a table of weights says in short.
func line(w *Weights) string {
	if w == nil {
		return "none"
	}
	if w.Min == nil {
		return "no tokens"
	}
	return fmt.Sprintf("%s x %s: %.4g at n=%d to %.4g at n=%d", w.Mode, w.Factor, *w.Min, w.MinAt.Tokens, *w.Max,
		w.MaxAt.Tokens)
}

func TestWeightsOfPublishedStep(t *testing.T) {
	want := []string{
		"global x 1: 1 at n=59 to 1 at n=59",
		"per_rank x 1: 0.6718 at n=12 to 1.955 at n=59",
		"per_rank x R: 1.344 at n=12 to 3.91 at n=59",
		"micro_mean x 1: 0.2626 at n=268 to 11.73 at n=6",
		"micro_mean x A: 1.05 at n=268 to 46.92 at n=6",
		"sum x 1: 563 at n=59 to 563 at n=59",
		"global x 1/R: 0.5 at n=59 to 0.5 at n=59",
		"global x R: 2 at n=59 to 2 at n=59",
		"global x 1/A: 0.25 at n=59 to 0.25 at n=59",
		"global x N/(RA): 70.38 at n=59 to 70.38 at n=59",
		"last_micro_batch x 1: 0 at n=59 to 1 at n=11",
		"re_reduced x 1: 1 at n=11 to 8 at n=59",
		"scaled_every_micro x 1: 0.003906 at n=59 to 0.25 at n=11",
	}
	var got []string
	for _, w := range published.AllWeights() {
		got = append(got, line(w))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestWeights(t *testing.T) {
	for _, test := range []struct {
		name   string
		c      Counts
		mode   Mode
		want   string
		ratios string
	}{
		{"no tokens at all", Counts{Tokens: [][]int64{{0, 0}, {0}}}, MicroMean, "none", ""},
		{"no ranks", Counts{}, Global, "none", ""},
		{
			"an empty micro-batch",
			Counts{Tokens: [][]int64{{4, 0}, {2, 2}}},
			MicroMean,
			"micro_mean x 1: 0.5 at n=4 to 1 at n=2",
			"[[0.5,null],[1,1]]",
		},
		{
			"an empty rank",
			Counts{Tokens: [][]int64{{0}, {8}}},
			PerRank,
			"per_rank x 1: 0.5 at n=8 to 0.5 at n=8",
			"[[null],[0.5]]",
		},
		{
			"equal counts",
			Counts{Tokens: [][]int64{{3, 3}, {3, 3}}},
			MicroMean,
			"micro_mean x 1: 1 at n=3 to 1 at n=3",
			"[[1,1],[1,1]]",
		},
		{"one rank", Counts{Tokens: [][]int64{{5, 1}}}, PerRank, "per_rank x 1: 1 at n=5 to 1 at n=5", "[[1,1]]"},
		{
			"counts before the shift",
			Counts{Tokens: [][]int64{{9}, {9}}, Preshift: [][]int64{{10}, {9}}},
			Preshift,
			"pre_shift_count x 1: 0.9474 at n=9 to 1.053 at n=9",
			"",
		},
		{"counts before the shift are not known", Counts{Tokens: [][]int64{{9}, {9}}}, Preshift, "none", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := test.c.WeightsOf(test.mode, One)
			if line(w) != test.want {
				t.Errorf("%s, want %s", line(w), test.want)
			}
			if test.ratios == "" {
				return
			}
			if text, err := json.Marshal(w.Ratio); err != nil || string(text) != test.ratios {
				t.Errorf("%s %v, want %s", text, err, test.ratios)
			}
		})
	}
}

// vector is a file with one tensor.
func vector(t *testing.T, dtype sidecar.Dtype, values ...float64) *sidecar.Safetensors {
	t.Helper()
	return files(t, []oracle.Param{{Name: "w", Shape: []int{len(values)}}}, dtype,
		map[string]oracle.Floats{"w": values})
}

// TestPublishedTable: raw sums of gradients against those that the PR shows are 563 apart,
// to the rounding of float32. That is all that the table can say.
func TestPublishedTable(t *testing.T) {
	for _, row := range []struct{ raw, shown, divided, apart float64 }{
		{-13.8838529586792, -0.02466048300266266, -0.024660484828915, 7.4e-8},
		{1.0207021236419678, 0.0018129688687622547, 0.001812970024231, 6.4e-7},
	} {
		divided := row.raw / float64(published.Total())
		if math.Abs(divided/row.divided-1) > 1e-12 || math.Abs(math.Abs(divided/row.shown-1)/row.apart-1) > 0.01 {
			t.Errorf("%v/563 is %v, %v from %v", row.raw, divided, divided/row.shown-1, row.shown)
		}
		v, err := Audit(published, Gradients{
			Observed:  vector(t, sidecar.F32, row.raw),
			Reference: vector(t, sidecar.F32, row.shown),
		})
		if err != nil || v.Cause.Factor != "N" || !strings.Contains(v.Cause.Text, "cannot be seen") {
			t.Errorf("%+v %v", v, err)
		}
	}
}

func TestCauses(t *testing.T) {
	// Three dimensions, so that no two modes are the same direction.
	g := [][][]float64{{{3, 0, 1}, {0, 4, 2}}, {{1, 1, 0}, {2, -1, 5}}}
	c := &Counts{Tokens: [][]int64{{6, 2}, {1, 4}}}
	for _, test := range []struct {
		name   string
		mode   Mode
		scale  float64
		dtype  sidecar.Dtype
		factor string
	}{
		{"right", Global, 1, sidecar.F64, "1"},
		{"right, half precision", Global, 1.002, sidecar.F16, "1"},
		{"nearly right is wrong in float64", Global, 1.002, sidecar.F64, ""},
		{"an odd factor", PerRank, 1.7, sidecar.F32, ""},
		{"per rank", PerRank, 1, sidecar.F32, "1"},
		{"per rank, not reduced by a mean", PerRank, 2, sidecar.F32, "R"},
		{"micro mean", MicroMean, 1, sidecar.F64, "1"},
		{"last micro-batch over R", LastMicro, 0.5, sidecar.F64, "1/R"},
		{"last micro-batch's mean", LastMean, 1, sidecar.F64, "1"},
		{"re-reduced", ReReduced, 1, sidecar.F64, "1"},
		{"re-reduced means", ReMean, 1, sidecar.F64, "1"},
		{"scaled", Decayed, 1, sidecar.F64, "1"},
		{"sum", Global, 13, sidecar.F64, "N"},
	} {
		t.Run(test.name, func(t *testing.T) {
			observed := predict(nil, c.Coefficients(test.mode), g, 3)
			for i := range observed {
				observed[i] *= test.scale
			}
			v := audit(t, c, g, observed, test.dtype)
			if v.Cause.Mode != test.mode || v.Cause.Factor != test.factor {
				t.Errorf("%+v", v.Cause)
			}
		})
	}
	if v := audit(t, c, g, []float64{1, -7, 1}, sidecar.F64); v.Cause.Mode != Unknown || v.Cause.Confidence != NoIdea {
		t.Errorf("nonsense has the cause %+v", v.Cause)
	}
}

// audit compares gradients with those that micro-batches give.
func audit(t *testing.T, c *Counts, g [][][]float64, observed []float64, dtype sidecar.Dtype) *Verdict {
	t.Helper()
	micro := make([][]*sidecar.Safetensors, len(g))
	for r := range g {
		for j := range g[r] {
			micro[r] = append(micro[r], vector(t, sidecar.F64, g[r][j]...))
		}
	}
	written := dtype
	if dtype == sidecar.F16 || dtype == sidecar.BF16 { // which are not written
		written = sidecar.F32
	}
	v, err := Audit(c, Gradients{Observed: vector(t, written, observed...), Micro: micro})
	if err != nil {
		t.Fatal(err)
	}
	if dtype != written {
		p := newPredictor(c)
		p.add(observed, g)
		v.Cause = p.cause(c, dtype)
	}
	return v
}

func TestPartialWindow(t *testing.T) {
	c := &Counts{Tokens: [][]int64{{6, 2, 5}}, Accumulation: 4}
	g := [][][]float64{{{3, 0, 1}, {0, 4, 2}, {1, 1, 1}}}
	observed := predict(nil, c.Coefficients(MicroMean), g, 3)
	for i := range observed {
		observed[i] *= 3.0 / 4
	}
	if v := audit(t, c, g, observed, sidecar.F64); v.Cause.Mode != MicroMean || v.Cause.Factor != "k/A" {
		t.Errorf("%+v", v.Cause)
	}
}

func TestAmbiguousFactor(t *testing.T) {
	c := &Counts{Tokens: [][]int64{{5, 1}, {2, 2}}}
	v, err := Audit(c, Gradients{Observed: vector(t, sidecar.F32, 1, 2), Reference: vector(t, sidecar.F32, 2, 4)})
	if err != nil || v.Cause.Factor != "1/R" || len(v.Cause.Also) != 1 || v.Cause.Also[0] != "1/A" {
		t.Errorf("two ranks, two micro-batches: %+v %v", v.Cause, err)
	}
}

func TestDeviationOfOddGradients(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, test := range []struct {
		name string
		a, b []float64
		want string
	}{
		{
			"both zero",
			[]float64{0, 0},
			[]float64{0, 0},
			`{"norm_ratio":null,"cosine":null,"max_rel":0,"rel_l2":0,"adamw_first_update_rel_l2":0,`,
		},
		{
			"zero reference",
			[]float64{1, 0},
			[]float64{0, 0},
			`{"norm_ratio":null,"cosine":null,"max_rel":null,"rel_l2":null,"adamw_first_update_rel_l2":null,`,
		},
		{
			"zero",
			[]float64{0, 0},
			[]float64{1, 0},
			`{"norm_ratio":0,"cosine":null,"max_rel":1,"rel_l2":1,"adamw_first_update_rel_l2":1,`,
		},
		{
			"NaN",
			[]float64{nan, 1},
			[]float64{1, 1},
			`{"norm_ratio":null,"cosine":null,"max_rel":null,"rel_l2":null,"adamw_first_update_rel_l2":null,` +
				`"norm":null,"reference_norm":null,"not_finite":1,`,
		},
		{
			"equal infinities",
			[]float64{inf},
			[]float64{inf},
			`{"norm_ratio":null,"cosine":null,"max_rel":null,"rel_l2":null,"adamw_first_update_rel_l2":null,` +
				`"norm":null,"reference_norm":null,"not_finite":1,`,
		},
		{
			"opposite",
			[]float64{-2},
			[]float64{1},
			`{"norm_ratio":2,"cosine":-1,"max_rel":3,"rel_l2":3,"adamw_first_update_rel_l2":`,
		},
		{"empty", nil, nil, `{"norm_ratio":null,"cosine":null,"max_rel":0,"rel_l2":0,`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var c Comparison
			if err := c.Add("w", test.a, test.b); err != nil {
				t.Fatal(err)
			}
			d := c.Deviation()
			text, err := json.Marshal(d)
			if err != nil || !strings.HasPrefix(string(text), test.want) {
				t.Errorf("%s %v, want %s", text, err, test.want)
			}
			if cause := causeOfDeviation(published, d, sidecar.F32); cause.Mode != Unknown {
				t.Errorf("%+v", cause)
			}
		})
	}
}

func TestGradientsOfOtherModels(t *testing.T) {
	params := []oracle.Param{{Name: "v", Shape: []int{1}}, {Name: "w", Shape: []int{2}}}
	two := files(t, params, sidecar.F64, map[string]oracle.Floats{"v": {1}, "w": {1, 2}})
	for _, test := range []struct {
		a, b   *sidecar.Safetensors
		reason string
	}{
		{vector(t, sidecar.F64, 1), vector(t, sidecar.F64, 1, 2), "shape"},
		{vector(t, sidecar.F64, 1, 2), two, "1 tensors"},
		{two, vector(t, sidecar.F64, 1, 2), `no tensor "v"`},
	} {
		_, err := Audit(published, Gradients{Observed: test.a, Reference: test.b})
		if err == nil || !strings.Contains(err.Error(), test.reason) {
			t.Errorf("%v, want %s", err, test.reason)
		}
	}
	if _, err := Audit(published, Gradients{Observed: two}); !errors.Is(err, ErrNoGradients) {
		t.Error(err)
	}
}

func TestLosses(t *testing.T) {
	c := &Counts{Tokens: [][]int64{{4, 0}, {1, 1}}}
	list := c.LossesOf([][]float64{{8, 0}, {3, 5}})
	var got []string
	for _, l := range list {
		got = append(got, fmt.Sprintf("%s %.4g", l.Name, l.Value))
	}
	want := "global_mean 2.667, mean_of_rank_means 3, mean_of_micro_means 3.333, " +
		"mean_of_micro_means_empty_as_zero 2.5, rank_mean 2, rank_mean 4, " +
		"sum_of_rank_means 6, sum_of_micro_means 5, sum_over_ranks_and_micro_batches 4, sum 16"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("%s\nwant %s", s, want)
	}
	for _, test := range []struct {
		logged float64
		want   string
	}{
		{16.0 / 6, "global_mean"},
		{float64(float32(10.0 / 3)), "mean_of_micro_means"},
		{2, "rank_mean"},
		{2.9, ""},
		{math.NaN(), ""},
	} {
		if l, ok := NameLoss(list, test.logged); l.Name != test.want || ok != (test.want != "") {
			t.Errorf("%v is %s", test.logged, l.Name)
		}
	}
	if list := c.LossesOf([][]float64{{math.NaN(), 0}, {3, 5}}); len(list) != 1 || list[0].Value != 4 {
		t.Errorf("an unknown loss makes the averages %v", list)
	}
	if list := (&Counts{Tokens: [][]int64{{0}}}).LossesOf([][]float64{{0}}); list != nil {
		t.Errorf("no tokens make the averages %v", list)
	}
}
