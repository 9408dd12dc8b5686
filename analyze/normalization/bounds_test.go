package normalization

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace/sidecar"
)

// TestFit: which modes, with which of the likeliest factors, a norm ratio and a cosine allow.
func TestFit(t *testing.T) {
	// Of 30 and 10 tokens the mean weight is 1, and the square of the cosine at least 3/4.
	two, grid := &Counts{Tokens: [][]int64{{30}, {10}}}, &Counts{Tokens: [][]int64{{30, 30}, {10, 10}}}
	for _, test := range []struct {
		what          string
		c             *Counts
		m             Mode
		ratio, cosine float64
		want          string // "" does not fit
	}{
		{"as expected", two, PerRank, 1, 1, "1"}, {"a quarter more", two, PerRank, 1.25, 1, "1"},
		{"more than that", two, PerRank, 1.26, 1, ""}, {"a quarter less", two, PerRank, 0.75, 1, "1"},
		{"less than that", two, PerRank, 0.74, 1, ""}, {"twice", two, PerRank, 2, 1, "R"}, {"half", two, PerRank, 0.5,
			1,
			"1/R"},
		{"four times", two, PerRank, 4, 1, ""}, {"much noise", two, PerRank, 1 / 0.76, 0.76, "1"},
		{"more noise than there can be", two, PerRank, 1 / 0.74, 0.74, ""},
		{"a quarter, of ranks and micro-batches", grid, PerRank, 0.25, 1, ""}, {"half of those", grid, PerRank, 0.5, 1,
			"1/R"},
		{"equal counts", &Counts{Tokens: [][]int64{{10}, {10}}}, PerRank, 1, 1, ""},
		{"the right mode", two, Global, 1, 1, ""}, {"counts that are not known", two, Preshift, 1, 1, ""},
		{"none in the last micro-batch", &Counts{Tokens: [][]int64{{5, 0}}}, LastMicro, 1, 1, ""},
	} {
		got := ""
		if f, ok := fit(test.c, test.m, test.ratio, test.cosine); ok {
			got = f.Name
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.what, got, test.want)
		}
	}
	ratio, cosine := 1.5, 0.65
	d := &Deviation{NormRatio: &ratio, Cosine: &cosine}
	weak := &Counts{Tokens: [][]int64{{30, 10}}}
	for _, test := range []struct {
		c    *Counts
		want string
	}{
		{two,
			"token counts alone do not tell why these gradients differ; write the gradients of the micro-batches, too"},
		{weak, LastMean.Title() + "; by the norm ratio and the token counts alone"},
	} {
		if got := causeOfDeviation(test.c, d, sidecar.F64); got.Text != test.want || got.Also == nil {
			t.Errorf("%v: %s, also %v, want %s", test.c.Tokens, got.Text, got.Also, test.want)
		}
	}
}

// TestRounding: how far from a factor rounding to a type alone can be.
func TestRounding(t *testing.T) {
	one := 1.0
	for dtype, most := range map[sidecar.Dtype]float64{sidecar.F64: 1e-6, sidecar.F32: 1e-4, sidecar.F16: 5e-3,
		sidecar.BF16: 3e-2} {
		near, far := 1+0.95*most, 1+1.05*most
		c := &Counts{Tokens: [][]int64{{30}, {10}}}
		if got := causeOfDeviation(c, &Deviation{NormRatio: &near, Cosine: &one}, dtype); got.Factor != "1" {
			t.Errorf("%s: %v is no 1", dtype, near)
		}
		if got := causeOfDeviation(c, &Deviation{NormRatio: &far, Cosine: &one}, dtype); got.Factor != "" {
			t.Errorf("%s: %v is %s", dtype, far, got.Factor)
		}
	}
	for n := range 40 { // whatever rounding does, no cosine is beyond 1
		var same, other []float64
		for i := range n + 1 {
			same, other = append(same, 0.1*float64(i+1)), append(other, -0.1*float64(i+1))
		}
		var a, b Comparison
		if err := errors.Join(a.Add("w", same, same), b.Add("w", same, other)); err != nil {
			t.Fatal(err)
		}
		if v, w := *a.Deviation().Cosine, *b.Deviation().Cosine; v > 1 || v < 1-1e-12 || w < -1 || w > 1e-12-1 {
			t.Errorf("of %d elements: %v and %v", n+1, v, w)
		}
	}
	var c Comparison
	if err := c.Add("w", []float64{math.Inf(-1), 1}, []float64{1, 1}); err != nil || c.Deviation().NotFinite != 1 {
		t.Errorf("%v, %d not finite", err, c.Deviation().NotFinite)
	}
}

// TestProven: what a decision rests on, and of which micro-batches it knows the weights.
func TestProven(t *testing.T) {
	for basis, want := range map[Basis]bool{ByGradients: true, ByLoss: true, ByTrace: true, ByWord: false,
		ByNothing: false} {
		if got := (&Decision{Basis: basis}).Proven(); got != want {
			t.Errorf("%s: proven %v", basis, got)
		}
	}
	c := &Counts{Tokens: [][]int64{{4}, {1}}}
	for mode, want := range map[Mode]bool{Global: true, PerRank: true, Sum: true, MicroMean: false, LastMicro: false,
		Decayed: false} {
		d := &Decision{Mode: mode, Factor: One}
		if d.weigh(&Observation{Counts: c, Whole: true, Ranks: 2}); (d.Weights != nil) != want {
			t.Errorf("%s of whole steps: weights %v", mode, d.Weights)
		}
		d = &Decision{Mode: mode, Factor: One}
		if d.weigh(&Observation{Counts: c, Ranks: 2}); d.Weights == nil {
			t.Errorf("%s: no weights", mode)
		}
	}
}

// TestEvidence: what decisions say that they rest on.
func TestEvidence(t *testing.T) {
	nan, value := math.NaN(), 0.7
	equal, partial := &Counts{Tokens: [][]int64{{2, 2}, {2, 2}}}, &Counts{Tokens: [][]int64{{2}, {2}}, Accumulation: 2}
	ragged, sums := &Counts{Tokens: [][]int64{{4, 0}, {1, 1}}}, [][]float64{{8, 0}, {3, 5}}
	row := &Counts{Tokens: [][]int64{{2, 2}}}
	const unsaid = "; the trace does not say what else they are multiplied by"
	for _, test := range []struct {
		what string
		o    Observation
		want string
	}{
		{"gradients without a name", Observation{Counts: ragged, Ranks: 2, Gradients: &Cause{Mode: Global,
			Value:      &value,
			Confidence: Exact, Text: "t"}}, "global 0.7 by gradients 0.7-0.7: gradients: t"},
		{"a loss", Observation{Counts: ragged, Ranks: 2, Sums: sums, Optimised: 3},
			"per_rank 1 by loss log 0.75-1.5: the optimized loss 3 is the mean of the ranks' means"},
		{"half a loss", Observation{Counts: ragged, Ranks: 2, Sums: sums, Optimised: 8.0 / 6},
			"global 1/R by loss log 0.5-0.5: the optimized loss 1.33333333 is the mean over all tokens times 1/R: " +
				"divided by the number of ranks once too often: 1/N, or no R, on top of a mean over ranks"},
		{"a loss of one", Observation{Counts: row, Ranks: 1, Sums: [][]float64{{1, 3}}, Optimised: 1},
			"global 1 by loss log 1-1: the optimized loss 1 is the mean over all tokens"},
		{"the loss of the last one", Observation{Counts: &Counts{Tokens: [][]int64{{3, 2}}}, Ranks: 1,
			Sums: [][]float64{{6, 1}}, Optimised: 0.2},
			"last_micro_batch 1 by loss log 0-1: the optimized loss 0.2 is " +
				"the loss of the last micro-batches alone, divided by all tokens"},
		{"which is half of the mean as well", Observation{Counts: row, Ranks: 1, Sums: [][]float64{{4, 4}},
			Optimised: 1},
			"global 1/A by loss log 0.5-0.5: the optimized loss 1 is the mean over all tokens times 1/A: " +
				"divided by the micro-batches of a window once too often"},
		{"no loss", Observation{Counts: ragged, Ranks: 2, Sums: sums}, "unknown  by unknown"},
		{"losses of no counts", Observation{Sums: sums, Optimised: 3}, "unknown  by unknown"},
		{"losses of whole steps", Observation{Counts: ragged, Whole: true, Ranks: 2, Sums: sums, Optimised: 3},
			"unknown  by unknown"},
		{"a loss without those of micro-batches", Observation{Counts: ragged, Ranks: 2, Optimised: 3},
			"unknown  by unknown"},
		{"means, and something is scaled", Observation{Micro: 1, Ranks: 2, Mean: Yes, Scaled: Yes},
			"unknown  by unknown"},
		{"means of micro-batches that nobody counts", Observation{Ranks: 2, Mean: Yes, Scaled: No},
			"unknown  by unknown"},
		{"a mean of unknown ranks", Observation{Micro: 1, Mean: Yes, Scaled: No}, "unknown  by unknown"},
		{"a partial window, not divided", Observation{Counts: partial, Ranks: 2, Mean: Yes, Divided: No, Divisor: nan,
			Scaled: No}, "micro_mean k by trace 1-1: each micro-batch's loss is a mean over its own tokens, which " +
			"nothing multiplies by their number"},
		{"a full one, not divided", Observation{Counts: equal, Ranks: 2, Mean: Yes, Divided: No, Divisor: nan,
			Scaled: No},
			"micro_mean A by trace 2-2: each micro-batch's loss is a mean over its own tokens, which nothing " +
				"multiplies by their number"},
		{"sums on one rank", Observation{Ranks: 1, Mean: No, Inverted: Yes, Reduced: Yes},
			"global  by trace: losses are sums, and a count is inverted" + unsaid},
		{"sums on one rank, and nothing is reduced", Observation{Ranks: 1, Mean: No, Inverted: Yes, Reduced: No},
			"global  by trace: losses are sums, and a count is inverted" + unsaid},
		{"sums on two", Observation{Ranks: 2, Mean: No, Inverted: Yes, Reduced: Yes},
			"global  by trace: losses are sums, and a count is inverted that is reduced over ranks" + unsaid},
		{"sums on ranks that are not known", Observation{Mean: No, Inverted: Yes, Reduced: Yes},
			"global  by trace: losses are sums, and a count is inverted" + unsaid},
		{"sums on ranks that are not known, and not reduced", Observation{Mean: No, Inverted: Yes, Reduced: No,
			Divided: No}, "unknown  by unknown"},
		{"sums that are divided, too", Observation{Ranks: 2, Mean: No, Inverted: Yes, Reduced: No, Divided: Yes},
			"unknown  by unknown"},
	} {
		d := Decide(&test.o)
		got := decision(d)
		if d.Basis != ByNothing {
			got += ": " + d.Evidence
		}
		if got != test.want {
			t.Errorf("%s: %s\nwant %s", test.what, got, test.want)
		}
	}
}

// TestNearEnough: of several averages the nearest is named if the others are clearly further away,
// or would give every token the same weight.
func TestNearEnough(t *testing.T) {
	ragged, equal := &Counts{Tokens: [][]int64{{4}, {1}}}, &Counts{Tokens: [][]int64{{4}, {4}}}
	half := Factor{Name: "1/R", Value: 0.5}
	for _, test := range []struct {
		what     string
		c        *Counts
		a, b     float64 // how far off the two are
		other    Factor  // of the second
		want     Mode    // "" cannot be told
		wantName string
	}{
		{"one much nearer", ragged, 1e-8, 1.05e-7, One, Global, "1"}, {"the other", ragged, 1.05e-7, 1e-8, One,
			PerRank, "1"},
		{"one not clearly nearer", ragged, 1e-8, 0.95e-7, One, "", ""}, {"the other not", ragged, 0.95e-7, 1e-8, One,
			"", ""},
		{"beyond rounding", ragged, 0, 1.05e-9, One, Global, "1"}, {"within rounding", ragged, 0, 0.95e-9, One, "", ""},
		{"equal counts: the first", equal, 0.95e-9, 0, One, Global, "1"},
		{"equal counts: the nearer", equal, 1.05e-9, 0, One, PerRank, "1"},
		{"another factor", equal, 0, 0, half, "", ""}, {"another factor, further away", equal, 0, 1e-6, half, Global,
			"1"},
	} {
		o := &Observation{Counts: test.c}
		d := o.only([]match{{&Decision{Mode: Global, Factor: One}, test.a}, {&Decision{Mode: PerRank,
			Factor: test.other},
			test.b}})
		got := Mode("")
		if d != nil {
			got = d.Mode
		}
		if got != test.want || d != nil && d.Factor.Name != test.wantName {
			t.Errorf("%s: %q", test.what, got)
		}
	}
	o := &Observation{Counts: equal}
	unknown := &Decision{Mode: Preshift, Factor: One}
	if o.alike(unknown, &Decision{Mode: Global, Factor: One}) || o.alike(&Decision{Mode: Global, Factor: One},
		unknown) {
		t.Error("weights that are not known")
	}
	o.Counts = ragged
	if o.alike(&Decision{Mode: PerRank, Factor: One}, &Decision{Mode: PerRank, Factor: One}) {
		t.Error("weights that differ from token to token")
	}
	if o.alike(&Decision{Mode: Global, Factor: One}, &Decision{Mode: PerRank, Factor: One}) ||
		o.alike(&Decision{Mode: PerRank, Factor: One}, &Decision{Mode: Global, Factor: One}) {
		t.Error("weights of which one side differs")
	}
	seen := &Observation{Counts: ragged, Sums: [][]float64{{8}, {3}}, Optimised: 1.1}
	for _, h := range seen.followed([]Mode{Global}, ragged.Factors()) {
		if h.Factor.Name != "1/R" || h.off > 1e-9 {
			t.Errorf("%s, off by %v", h.Factor.Name, h.off)
		}
	}
}

// TestCounts: what token counts say of a step's shape.
func TestCounts(t *testing.T) {
	for _, test := range []struct {
		c             Counts
		micro, window int
		total         int64
		partial       bool
	}{
		{Counts{}, 0, 0, 0, false}, {Counts{Tokens: [][]int64{{}}}, 0, 0, 0, false},
		{Counts{Tokens: [][]int64{{3}, {4, 5}}}, 2, 2, 12, false},
		{Counts{Tokens: [][]int64{{3}}, Accumulation: 1}, 1, 1, 3, false},
		{Counts{Tokens: [][]int64{{3, 4}}, Accumulation: 1}, 2, 1, 7, false},
		{Counts{Tokens: [][]int64{{3, 4}}, Accumulation: 3}, 2, 3, 7, true},
	} {
		c := &test.c
		if c.Micro() != test.micro || c.Window() != test.window || c.Total() != test.total ||
			c.Partial() != test.partial {
			t.Errorf("%v: %d micro-batches of %d, %d tokens, partial %v", c.Tokens, c.Micro(), c.Window(), c.Total(),
				c.Partial())
		}
	}
	// A sum over ranks of means that were summed before, by hand.
	re := (&Counts{Tokens: [][]int64{{4, 2}, {1, 3}}}).Coefficients(ReMean)
	if got := fmt.Sprintf("%.4f", re); got != "[[0.1250 0.1250] [0.5000 0.0833]]" {
		t.Errorf("means that are reduced again: %s", got)
	}
	short := &Counts{Tokens: [][]int64{{5, 3}, {2, 1}}, Preshift: [][]int64{{6}, {3, 1}}}
	if got := fmt.Sprintf("%.4f", short.Coefficients(Preshift)); got != "[[0.1200 0.0000] [0.1500 0.1000]]" {
		t.Errorf("of a count that is not known: %s", got)
	}
	var names []string
	for _, w := range (&Counts{Tokens: [][]int64{{5, 3}, {2, 2}}}).AllWeights() {
		names = append(names, string(w.Mode))
	}
	if text := strings.Join(names, " "); !strings.Contains(text, string(ReReduced)) {
		t.Errorf("of two ranks and two micro-batches: %s", text)
	}
	for tokens, want := range map[int64]string{1: "1=1 1/R=0.5 R=2", 2: "1=1 1/R=0.5 R=2 N=2 1/N=0.5"} {
		if got := listed(factors(2, 1, 1, tokens)); got != want {
			t.Errorf("of %d tokens: %s, want %s", tokens, got, want)
		}
	}
}

// TestLossesOfSingleTokens: averages where ranks, or the step, have a single token, and where a loss
// is infinite.
func TestLossesOfSingleTokens(t *testing.T) {
	text := func(c Counts, sums ...[]float64) string {
		var parts []string
		for _, l := range c.LossesOf(sums) {
			parts = append(parts, fmt.Sprintf("%s %.4g", l.Name, l.Value))
		}
		return strings.Join(parts, ", ")
	}
	one := text(Counts{Tokens: [][]int64{{1}}}, []float64{5})
	if !strings.HasPrefix(one, "global_mean 5, mean_of_rank_means 5,") {
		t.Errorf("of one token: %s", one)
	}
	two := text(Counts{Tokens: [][]int64{{1}, {2}}}, []float64{5}, []float64{4})
	if !strings.HasPrefix(two, "global_mean 3, mean_of_rank_means 3.5,") || !strings.Contains(two,
		"rank_mean 5, rank_mean 2") {
		t.Errorf("of one and two: %s", two)
	}
	infinite := text(Counts{Tokens: [][]int64{{1}, {2}}}, []float64{math.Inf(-1)}, []float64{4})
	if infinite != "rank_mean 2" {
		t.Errorf("of an infinite one: %s", infinite)
	}
	c := &Counts{Tokens: [][]int64{{1}}}
	if l, ok := c.OptimisedLoss([][]float64{{math.Inf(-1)}}, Global); ok {
		t.Errorf("%+v", l)
	}
}

// TestDescribeDecided: a logged loss that is none of the averages is named by what was decided of it.
func TestDescribeDecided(t *testing.T) {
	for _, test := range []struct {
		what      string
		d         Decision
		optimised float64
		want      string
	}{
		{"by the loss", Decision{Mode: LastMicro, Factor: One, Basis: ByLoss}, 0.77,
			"last_micro_batch x 1: " + optimised[LastMicro]},
		{"times a factor", Decision{Mode: LastMicro, Factor: Factor{Name: "A", Value: 2}, Basis: ByLoss}, 0.77,
			"last_micro_batch x A: " + optimised[LastMicro] + " times A"},
		{"by the trace", Decision{Mode: LastMicro, Factor: One, Basis: ByTrace}, 0.77,
			"unknown x : none of the averages of the micro-batches' losses"},
		{"an average", Decision{Mode: LastMicro, Factor: One, Basis: ByLoss}, 2,
			"global_mean x 1: the mean over all tokens"},
		{"none", Decision{Mode: LastMicro, Factor: One, Basis: ByLoss}, math.NaN(), ""},
	} {
		o := &Observation{Counts: &Counts{Tokens: [][]int64{{4, 1}, {1, 2}}}, Ranks: 2, Sums: [][]float64{{8, 3}, {3,
			2}},
			Logged: math.NaN(), Optimised: test.optimised}
		got := ""
		if l := Describe(0, o, &test.d).Optimised; l != nil {
			got = fmt.Sprintf("%s x %s: %s", l.Name, l.Factor, l.Text)
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
}

// TestReportWords: what a report names as its caller does, and when there is nothing in it.
func TestReportWords(t *testing.T) {
	r := NewReport("v", nil)
	r.Findings = []Judgement{{Message: "pass {against}", Why: "no {against}", Fix: "{against} runs"}}
	r.Steps = []StepReport{{Evidence: "without {against}"}}
	r.Gradients = []GradientReport{{}}
	r.Notes = []string{"see {against}"}
	r.Conclude()
	r.NameChoices(map[string]string{"against": "--against"})
	for _, text := range []string{r.Verdict.Message, r.Findings[0].Message, r.Findings[0].Why, r.Findings[0].Fix,
		r.Steps[0].Evidence, r.Notes[0]} {
		if !strings.Contains(text, "--against") || strings.Contains(text, "{") {
			t.Errorf("%q", text)
		}
	}
	if r.Verdict.Fix != "--against runs" {
		t.Errorf("of one finding the verdict is %+v", r.Verdict)
	}
	if r.Empty() || !NewReport("v", nil).Empty() {
		t.Error("empty")
	}
}

// broken fails to read what follows the header.
type broken struct{ *bytes.Reader }

func (b broken) ReadAt(p []byte, off int64) (int, error) {
	if off > 8 {
		return 0, fs.ErrPermission
	}
	return b.Reader.ReadAt(p, off)
}

// TestBrokenGradients: what cannot be read is an error, on whichever side it is.
func TestBrokenGradients(t *testing.T) {
	values := make([]float64, 100)
	var b bytes.Buffer
	tensor := sidecar.Tensor{Name: "w", Dtype: sidecar.F64, Shape: []int64{100}, Values: values}
	if err := sidecar.WriteSafetensors(&b, nil, []sidecar.Tensor{tensor}); err != nil {
		t.Fatal(err)
	}
	bad, err := sidecar.ReadSafetensors(broken{bytes.NewReader(b.Bytes())}, int64(b.Len()), "bad")
	if err != nil {
		t.Fatal(err)
	}
	good, c := vector(t, sidecar.F64, values...), &Counts{Tokens: [][]int64{{2}}}
	for what, g := range map[string]Gradients{
		"observed": {Observed: bad, Reference: good}, "reference": {Observed: good, Reference: bad},
		"a micro-batch": {Observed: good, Reference: good, Micro: [][]*sidecar.Safetensors{{bad}}},
	} {
		if _, err := Audit(c, g); err == nil || !strings.Contains(err.Error(), fs.ErrPermission.Error()) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestComplete: the gradients of micro-batches give the right ones if those with tokens are all
// there.
func TestComplete(t *testing.T) {
	f := &sidecar.Safetensors{}
	for _, test := range []struct {
		what   string
		tokens [][]int64
		micro  [][]*sidecar.Safetensors
		want   bool
	}{
		{"all", [][]int64{{2, 3}}, [][]*sidecar.Safetensors{{f, f}}, true},
		{"one token", [][]int64{{1}}, [][]*sidecar.Safetensors{{f}}, true},
		{"one is missing", [][]int64{{2, 1}}, [][]*sidecar.Safetensors{{f, nil}}, false},
		{"one too few", [][]int64{{2, 1}}, [][]*sidecar.Safetensors{{f}}, false},
		{"none is there", [][]int64{{2}}, [][]*sidecar.Safetensors{{}}, false},
		{"an empty one is missing", [][]int64{{2, 0}}, [][]*sidecar.Safetensors{{f}}, true},
		{"no tokens", [][]int64{{0}}, [][]*sidecar.Safetensors{{f}}, false},
		{"a rank too few", [][]int64{{2}, {3}}, [][]*sidecar.Safetensors{{f}}, false},
	} {
		g := &Gradients{Micro: test.micro}
		if got := g.complete(&Counts{Tokens: test.tokens}); got != test.want {
			t.Errorf("%s: %v", test.what, got)
		}
	}
	// The gradient of a single token is the right one as it is; an empty micro-batch has none.
	nan := math.NaN()
	single, empty := &Counts{Tokens: [][]int64{{1}}}, &Counts{Tokens: [][]int64{{4, 0}}}
	for what, v := range map[string]*Verdict{
		"one token":            audit(t, single, [][][]float64{{{3, 4}}}, []float64{3, 4}, sidecar.F64),
		"an empty micro-batch": audit(t, empty, [][][]float64{{{4, 8}, {nan, nan}}}, []float64{1, 2}, sidecar.F64),
	} {
		if v.Cause == nil || !v.Cause.Right() {
			t.Errorf("%s: %+v", what, v.Cause)
		}
	}
	none := files(t, nil, sidecar.F64, nil)
	if _, err := Audit(single, Gradients{Observed: none, Reference: vector(t, sidecar.F64)}); err == nil {
		t.Error("a tensor of no elements is missing")
	}
}

// TestFilesAreClosed: every file that was opened is closed again, also after an error; and what is
// not there is one.
func TestFilesAreClosed(t *testing.T) {
	folder := t.TempDir()
	write := func(name string, values ...float64) string {
		var b bytes.Buffer
		tensor := sidecar.Tensor{Name: "w", Dtype: sidecar.F64, Shape: []int64{int64(len(values))}, Values: values}
		if err := sidecar.WriteSafetensors(&b, nil, []sidecar.Tensor{tensor}); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	run, right, short, micro := write("run", 1, 2), write("right", 2, 4), write("short", 1), write("micro", 4, 8)
	absent := filepath.Join(folder, "absent")
	var opened []*sidecar.Safetensors
	set := GradientSet{
		Open: func(name string) (*sidecar.Safetensors, error) {
			s, err := sidecar.OpenSafetensors(name)
			if err == nil {
				opened = append(opened, s)
			}
			return s, err
		},
		Counts: func(int64) *Counts { return &Counts{Tokens: [][]int64{{4}}} },
	}
	for _, test := range []struct {
		what       string
		reference  string
		micro      string
		files      int
		err        bool
		notPresent bool
	}{
		{"compared", right, "", 2, false, false}, {"with micro-batches", "", micro, 2, false, false},
		{"of another model", short, "", 2, true, false}, {"a reference that is not there", absent, "", 1, true, true},
		{"a micro-batch that is not there", right, absent, 2, true, true},
	} {
		opened = nil
		set.Run, set.Reference = []sidecar.GradientFile{file(run, 0, 0, -1)}, nil
		if test.reference != "" {
			set.Reference = []sidecar.GradientFile{file(test.reference, 0, 0, -1)}
		}
		if test.micro != "" {
			set.Run = append(set.Run, file(test.micro, 0, 0, 0))
		}
		if _, err := set.Audit(); (err != nil) != test.err || errors.Is(err, fs.ErrNotExist) != test.notPresent {
			t.Errorf("%s: %v", test.what, err)
		}
		if len(opened) != test.files {
			t.Errorf("%s: %d files were opened, want %d", test.what, len(opened), test.files)
		}
		for _, s := range opened {
			if s.Close() == nil {
				t.Errorf("%s: %s is still open", test.what, filepath.Base(s.File))
			}
		}
	}
	// Of two runs from step 0 on only step 0 is judged.
	set.Run = []sidecar.GradientFile{file(run, 0, 0, -1), file(run, 0, 1, -1), file(run, 0, 2, -1)}
	set.Reference = []sidecar.GradientFile{file(right, 0, 0, -1), file(right, 0, 1, -1), file(right, 0, 2, -1)}
	if a, err := set.Audit(); err != nil || len(a.Causes) != 1 || a.Causes[0].Step != 0 || !a.Later {
		t.Errorf("%v %+v", err, a)
	}
}
