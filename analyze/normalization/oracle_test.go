package normalization

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/gaprof/gaprof/oracle"
	"github.com/gaprof/gaprof/trace/sidecar"
)

// truth is what each variant of the oracle does.
var truth = map[string]struct {
	mode   Mode
	factor string
}{
	"torchtune_2172":                     {Global, "1"},
	"torchtune_1917_draft_no_sync_world": {Global, "1"},
	"sum_reduce_no_sync":                 {Global, "1"},
	"nathan_az_fixed":                    {Global, "1"},
	"titan_2206":                         {Global, "1"},
	"tnt_1049_world":                     {Global, "1"},
	"torchtune_1917_merged":              {Global, "1/R"},
	"torchtune_2543":                     {Global, "1/R"},
	"tnt_1049_literal":                   {Global, "1/R"},
	"torchtune_2172_preshift_count":      {Global, "1"}, // counts are equal before and after the shift here
	"per_rank_mean":                      {PerRank, "1"},
	"per_rank_sum":                       {PerRank, "R"},
	"micro_mean_of_means":                {MicroMean, "1"},
	"micro_mean_of_means_no_sync":        {MicroMean, "1"},
	"micro_mean_no_rescale":              {MicroMean, "A"},
	"tnt_pre1049":                        {Global, "N/(RA)"},
	"unnormalized_sum":                   {Global, "N"},
	"ddp_sum_hook_sync_every_microbatch": {ReReduced, "1"},
	"nathan_az_literal":                  {LastMicro, "1"},
	"zero_grad_each_microbatch":          {LastMicro, "1"},
	"scale_each_microbatch_ema":          {Decayed, "1"},
	"accum1_scaled":                      {Global, "1"},
	"accum1_loss_prescaled":              {Global, "1"},
	"accum1_skip_naive_distributed":      {PerRank, "1"},
}

// files turns gradients into a file in memory.
func files(
	t *testing.T, params []oracle.Param, dtype sidecar.Dtype, grads map[string]oracle.Floats,
) *sidecar.Safetensors {
	t.Helper()
	var tensors []sidecar.Tensor
	for _, p := range params {
		shape := make([]int64, len(p.Shape))
		for i, d := range p.Shape {
			shape[i] = int64(d)
		}
		tensors = append(tensors, sidecar.Tensor{Name: p.Name, Dtype: dtype, Shape: shape, Values: grads[p.Name]})
	}
	var b bytes.Buffer
	if err := sidecar.WriteSafetensors(&b, nil, tensors); err != nil {
		t.Fatal(err)
	}
	s, err := sidecar.ReadSafetensors(bytes.NewReader(b.Bytes()), int64(b.Len()), "gradients")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// countsOf is the step of an oracle, with all micro-batches or the first alone.
func countsOf(e *oracle.Expected, micro int) *Counts {
	c := &Counts{}
	for _, row := range e.Micro {
		var tokens, before []int64
		for _, m := range row[:micro] {
			tokens, before = append(tokens, m.Valid), append(before, m.Preshift)
		}
		c.Tokens, c.Preshift = append(c.Tokens, tokens), append(c.Preshift, before)
	}
	return c
}

// TestOracle: of our own oracle, and of PyTorch's where it is.
func TestOracle(t *testing.T) {
	for name, dir := range map[string]string{
		"tiny":   filepath.Join("..", "..", "oracle", "testdata", "tiny"),
		"shared": filepath.Join("..", "..", "..", "shared", "oracle"),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := os.Stat(dir); err != nil && name == "shared" {
				t.Skip("no ../shared/oracle here")
			}
			cases, err := oracle.Read(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range cases {
				t.Run(c.Name+"/f64", func(t *testing.T) { checkOracle(t, c.F64, c.F64, sidecar.F64) })
				if c.F32 != nil {
					t.Run(c.Name+"/f32", func(t *testing.T) { checkOracle(t, c.F32, c.F64, sidecar.F32) })
				}
			}
		})
	}
}

// checkOracle compares what Audit says of every variant with what the oracle says. The
// gradients of micro-batches are those of the float64 file.
func checkOracle(t *testing.T, e, exact *oracle.Expected, dtype sidecar.Dtype) {
	var micro [][]*sidecar.Safetensors
	for _, row := range exact.Micro {
		var list []*sidecar.Safetensors
		for _, m := range row {
			list = append(list, files(t, e.Params, sidecar.F64, m.Grads))
		}
		micro = append(micro, list)
	}
	if len(e.Variants) != len(truth) {
		t.Errorf("%d variants", len(e.Variants))
	}
	for _, name := range e.VariantNames() {
		v, want := e.Variants[name], truth[name]
		of := countsOf(e, e.Accumulation)
		if v.Versus.Reference == "accum1_scaled" {
			of = countsOf(e, 1)
		}
		observed := files(t, e.Params, dtype, v.Grads)
		reference := files(t, e.Params, dtype, e.Variants[v.Versus.Reference].Grads)
		got, err := Audit(of, Gradients{observed, reference, micro})
		if err != nil {
			t.Fatal(err)
		}
		if got.Cause.Mode != want.mode || got.Cause.Factor != want.factor || got.Cause.Confidence != Exact {
			t.Errorf("%s: %+v, want %v", name, got.Cause, want)
		}
		alone, err := Audit(of, Gradients{observed, reference, nil})
		if err != nil {
			t.Fatal(err)
		}
		// By norm ratio and cosine alone: multiples are named, of others nothing wrong is said.
		switch c := alone.Cause; {
		case want.mode == Global && (c.Mode != Global || c.Factor != want.factor || c.Confidence != FactorAlone):
			t.Errorf("%s without micro-batches: %+v", name, c)
		case c.Mode != want.mode && c.Mode != Unknown && (c.Confidence != Weak || e.ValidTokens >= manyTokens):
			t.Errorf("%s without micro-batches is taken for %+v", name, c)
		}
		t.Logf("%s: %s %s; without micro-batches %s %s %v", name, got.Cause.Mode, got.Cause.Factor, alone.Cause.Mode,
			alone.Cause.Factor, alone.Cause.Also)
		if dtype == sidecar.F64 || v.Multiple == nil { // in f32 a multiple stands for gradients rounded otherwise
			checkDeviation(t, name, got.Deviation, &v.Versus)
		}
	}
}

// manyTokens are so many that the gradients of micro-batches are as long as their numbers of
// tokens say; of fewer a weak guess may be wrong, which decides nothing.
const manyTokens = 100

func checkDeviation(t *testing.T, name string, d *Deviation, want *oracle.Deviation) {
	t.Helper()
	for _, f := range []struct {
		what string
		got  *float64
		want float64
	}{
		{"norm_ratio", d.NormRatio, want.NormRatio},
		{"cosine", d.Cosine, want.Cosine},
		{"max_rel", d.MaxRel, want.MaxRel},
		{"rel_l2", d.RelL2, want.RelL2},
		{"adamw", d.AdamW, want.AdamW},
	} {
		if f.got == nil || math.Abs(*f.got-f.want) > 1e-9*max(1, math.Abs(f.want)) {
			t.Errorf("%s: %s is %v, want %v", name, f.what, f.got, f.want)
		}
	}
}
