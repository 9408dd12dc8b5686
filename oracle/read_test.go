package oracle

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
)

// A case of one rank, one micro-batch and one weight.
const (
	tinyHead = `"schema": "gaprof-oracle/1", "case": "tiny", "model": "mlp",
 "config": {"V": 3, "D": 1, "F": 1, "T": 2, "B": 1, "ignore_index": -100},
 "world_size": 1, "accumulation_steps": 1, "total_valid_tokens": 1, "param_order": [{"name": "w", "shape": [2, 1]}]`
	tinyInputs = `{` + tinyHead + `, "kind": "inputs", "weights": {"w": [0.5, -1e-3]},
 "data": [[{"tokens": [[0, 2]], "labels": [[0, 1]], "targets": [[1, -100]], "n_valid": 1, "n_preshift": 2}]]}`
	tinyExpected = `{` + tinyHead + `, "kind": "expected", "dtype": "f32",
 "variants": {
  "right": {"coeff": [[1]], "loop_logged_loss": null, "grads": {"w": [0.1, null]}, "vs_correct": {"norm_ratio": 1}},
  "twice": {"coeff": [[2]], "multiple_of": {"variant": "right", "factor": 2}}},
 "micro": [[{"n_valid": 1, "loss_sum": 2.5, "loss_mean": null}]]}`
)

// oracleDir writes a case into a folder.
func oracleDir(t *testing.T, inputs, expected string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"tiny_inputs.json": inputs, "tiny_expected_f32.json": expected} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRead(t *testing.T) {
	cases, err := Read(oracleDir(t, tinyInputs, tinyExpected))
	if err != nil {
		t.Fatal(err)
	}
	c := cases[0]
	if len(cases) != 1 || c.Name != "tiny" || c.F64 != nil || c.F32 == nil {
		t.Fatalf("%+v", cases)
	}
	right, twice := c.F32.Variants["right"], c.F32.Variants["twice"]
	for _, v := range []float64{right.Logged.Float(), twice.Logged.Float(), c.F32.Micro[0][0].LossMean.Float()} {
		if !math.IsNaN(v) {
			t.Error("null and absent are not NaN")
		}
	}
	tenth := float64(float32(0.1))
	if g := twice.Grads["w"]; len(g) != 2 || g[0] != 2*tenth || !math.IsNaN(g[1]) || right.Grads["w"][0] != tenth {
		t.Errorf("gradients %v, %v", right.Grads, twice.Grads)
	}
	got := fmt.Sprint(c.F32.VariantNames(), c.F32.Micro[0][0].LossSum.Float(), c.Inputs.Weights["w"])
	if got != "[right twice] 2.5 [0.5 -0.001]" {
		t.Error(got)
	}
}

func TestRefused(t *testing.T) {
	for _, test := range []struct{ name, file, from, to, reason string }{
		{"cut", "inputs", `}]]}`, "", "unexpected end"},
		{"other schema", "inputs", "oracle/1", "oracle/2", "schema"},
		{"kinds exchanged", "inputs", `"inputs"`, `"expected"`, "kind"},
		{"no rank", "inputs", `"world_size": 1`, `"world_size": 0`, "world_size"},
		{"a rank too many", "inputs", `"world_size": 1`, `"world_size": 2`, "data has 1 ranks of 2"},
		{"absurd world", "inputs", `"world_size": 1`, `"world_size": 1000000000`, "world_size"},
		{"a weight too few", "inputs", "[0.5, -1e-3]", "[0.5]", "w has 1 numbers"},
		{"a word for a weight", "inputs", "0.5,", "Inf,", "invalid character"},
		{"a text for a weight", "inputs", "-1e-3", `"1"`, "not a number"},
		{"weights of another", "inputs", `{"w": [0.5`, `{"v": [1], "w": [0.5`, "2 tensors of 1"},
		{"an unknown token", "inputs", "[[0, 2]]", "[[0, 3]]", "holds 3"},
		{"a short row", "inputs", "[[0, 2]]", "[[0]]", "1 positions of 2"},
		{"a wrong count", "inputs", `"n_valid": 1`, `"n_valid": 2`, "n_valid is 2"},
		{"a wrong sum", "inputs", `"total_valid_tokens": 1`, `"total_valid_tokens": 4`, "total_valid_tokens is 4"},
		{"a zero in a shape", "inputs", "[2, 1]", "[2, 0]", "shape"},
		{"a name twice", "inputs", `"param_order": [`, `"param_order": [{"name": "w", "shape": [1]}, `, "twice"},
		{"other precision", "expected", `"f32"`, `"f64"`, "dtype"},
		{"other world", "expected", `"world_size": 1`, `"world_size": 2`, "differ"},
		{"micro of two ranks", "expected", `"micro": [`, `"micro": [[], `, "micro is not"},
		{"coefficients of no rank", "expected", `"coeff": [[1]]`, `"coeff": []`, "coeff of right"},
		{"no gradient", "expected", `[0.1, null]`, `[]`, "w has 0 numbers"},
		{"a multiple of nothing", "expected", `"variant": "right"`, `"variant": "left"`, "left"},
		{"a multiple of itself", "expected", `"variant": "right"`, `"variant": "twice"`, "twice"},
		{"gradients that are text", "expected", `[0.1, null]`, `"0.1"`, "not an array"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := map[string]string{"inputs": tinyInputs, "expected": tinyExpected}
			bad := strings.Replace(text[test.file], test.from, test.to, 1)
			if bad == text[test.file] {
				t.Fatal("nothing was changed")
			}
			text[test.file] = bad
			_, err := Read(oracleDir(t, text["inputs"], text["expected"]))
			var format *trace.FormatError
			if !errors.As(err, &format) {
				t.Fatal(err)
			}
			if !strings.Contains(format.Reason, test.reason) || !strings.Contains(format.File, test.file) {
				t.Errorf("%v, want %s", err, test.reason)
			}
		})
	}
}

func TestNoOracle(t *testing.T) {
	empty, lonely := t.TempDir(), oracleDir(t, tinyInputs, tinyExpected)
	if err := os.Remove(filepath.Join(lonely, "tiny_expected_f32.json")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{empty, lonely, filepath.Join(empty, "absent")} {
		if _, err := Read(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// TestTinyOracle: our own oracle says all that PyTorch's says, in float64.
func TestTinyOracle(t *testing.T) {
	cases, err := Read(filepath.Join("testdata", "tiny"))
	if err != nil || len(cases) != 2 {
		t.Fatal(len(cases), err)
	}
	for _, c := range cases {
		e := c.F64
		if len(e.Variants) != 24 || c.Inputs.Accumulation < 2 || e.Clip.Coef >= 1 {
			t.Errorf("%s: %d variants, %d micro-batches, clipped by %v",
				c.Name, len(e.Variants), c.Inputs.Accumulation, e.Clip.Coef)
		}
		for name, o := range e.Optimizers {
			if o.WeightDecay == 0 || name == "adamw" && o.Eps < 1e-3 || len(e.Trajectory[name].ParamsAfter) == 0 {
				t.Errorf("%s: %s with %+v would hide a mistake", c.Name, name, o)
			}
		}
	}
}

func TestSharedOracle(t *testing.T) {
	dir := filepath.Join("..", "..", "shared", "oracle")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no ../shared/oracle here")
	}
	cases, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mlp", "transformer"} {
		i := slices.IndexFunc(cases, func(c Case) bool { return c.Name == name })
		if i < 0 {
			t.Errorf("no case %s", name)
			continue
		}
		c := cases[i]
		if len(c.F64.Variants) != 24 || len(c.F32.Variants) != 24 || c.Inputs.ValidTokens != 563 {
			t.Errorf("%s: %d and %d variants, %d tokens", c.Name, len(c.F64.Variants), len(c.F32.Variants),
				c.Inputs.ValidTokens)
		}
		if n := len(c.F64.Trajectory["adamw"].ParamsAfter); n != len(c.Inputs.Params) {
			t.Errorf("%s: AdamW leaves %d of %d parameters", c.Name, n, len(c.Inputs.Params))
		}
	}
}
