package reference_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/gaprof/gaprof/oracle"
	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/reference/cpu"
)

// tinyOracle is our own, computed in decimals by the script beside it; sharedOracle was
// written by PyTorch, and is not here everywhere.
const tinyOracle, sharedOracle = "../oracle/testdata/tiny", "../../shared/oracle"

// precision is one of the two that the oracle has, with its tolerance.
type precision struct {
	dtype     string
	tolerance float64
	expected  func(*oracle.Case) *oracle.Expected
}

var precisions = []precision{
	{"float64", 1e-12, func(c *oracle.Case) *oracle.Expected { return c.F64 }},
	{"float32", 2e-5, func(c *oracle.Case) *oracle.Expected { return c.F32 }},
}

func oracleCases(t *testing.T, dir string) []oracle.Case {
	t.Helper()
	cases, err := oracle.Read(dir)
	if errors.Is(err, os.ErrNotExist) && dir == sharedOracle {
		t.Skip("no oracle in " + dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// eachCase runs f for every case that is there.
func eachCase(t *testing.T, f func(t *testing.T, c *oracle.Case)) {
	for _, dir := range []string{tinyOracle, sharedOracle} {
		t.Run(filepath.Base(filepath.Dir(dir)), func(t *testing.T) {
			for _, c := range oracleCases(t, dir) {
				t.Run(c.Name, func(t *testing.T) { f(t, &c) })
			}
		})
	}
}

// eachOracle runs f for every case and precision that is there.
func eachOracle(t *testing.T, f func(t *testing.T, c *oracle.Case, e *oracle.Expected, p precision)) {
	eachCase(t, func(t *testing.T, c *oracle.Case) {
		for _, p := range precisions {
			if e := p.expected(c); e != nil {
				t.Run(p.dtype, func(t *testing.T) { f(t, c, e, p) })
			}
		}
	})
}

func runOracle(t *testing.T, c *oracle.Case, run reference.OracleRun) *reference.OracleResult {
	t.Helper()
	result, err := reference.RunOracle(t.Context(), c.Inputs, run, cpu.Backend{Poison: true})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// worst returns the largest max|a-b|/max|b| of all tensors.
func worst(got []reference.Tensor, want map[string]oracle.Floats) (name string, most float64) {
	if len(got) != len(want) {
		return fmt.Sprintf("%d tensors instead of %d", len(got), len(want)), math.Inf(1)
	}
	for _, g := range got {
		w := want[g.Name]
		if len(g.Values) != len(w) {
			return g.Name + " has another size", math.Inf(1)
		}
		diff, size := 0.0, 0.0
		for i, v := range g.Values {
			diff, size = math.Max(diff, math.Abs(v-w[i])), math.Max(size, math.Abs(w[i]))
		}
		if size > 0 {
			diff /= size
		}
		if math.IsNaN(diff) || diff > most {
			name, most = g.Name, diff
		}
	}
	return name, most
}

func near(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance*math.Abs(want)
}

// Every loop of the oracle, run literally, on every rank.
func TestOracleVariants(t *testing.T) {
	eachOracle(t, func(t *testing.T, c *oracle.Case, e *oracle.Expected, p precision) {
		for _, name := range e.VariantNames() {
			t.Run(name, func(t *testing.T) {
				result := runOracle(t, c, reference.OracleRun{Variant: name, DType: p.dtype})
				most := 0.0
				for rank, list := range result.Gradients[0] {
					tensor, off := worst(list, e.Variants[name].Grads)
					if most = max(most, off); !(off <= p.tolerance) {
						t.Errorf("rank %d: %s is off by %.2g", rank, tensor, off)
					}
				}
				logged := e.Variants[name].Logged.Float()
				if got := result.Steps[0].Logged; !math.IsNaN(logged) && !near(got, logged, p.tolerance) {
					t.Errorf("logs %v, the loop logged %v", got, logged)
				}
				t.Logf("worst %.1e", most)
			})
		}
	})
}

// All loops of the oracle are known, whatever precision knows them.
func TestOracleVariantsAreKnown(t *testing.T) {
	eachCase(t, func(t *testing.T, c *oracle.Case) {
		for _, p := range precisions {
			if e := p.expected(c); e != nil && !slices.Equal(e.VariantNames(),
				slices.Sorted(slices.Values(reference.Variants()))) {
				t.Errorf("%s: %v", p.dtype, e.VariantNames())
			}
		}
	})
}

func TestOracleLosses(t *testing.T) {
	eachOracle(t, func(t *testing.T, c *oracle.Case, e *oracle.Expected, p precision) {
		step := runOracle(t, c, reference.OracleRun{Variant: "torchtune_2172", DType: p.dtype}).Steps[0]
		for rank, micros := range e.Micro {
			for j, m := range micros {
				if got := step.Ranks[rank].LossSums[j]; step.Ranks[rank].Tokens[j] != m.Valid ||
					!near(got, m.LossSum.Float(), p.tolerance) {
					t.Errorf("rank %d micro-batch %d: loss %v of %d tokens, want %v of %d", rank, j, got,
						step.Ranks[rank].Tokens[j], m.LossSum.Float(), m.Valid)
				}
			}
		}
		if !near(step.Loss, e.Losses.GlobalMean.Float(), p.tolerance) || step.Tokens != e.ValidTokens ||
			step.Ranks[0].GlobalTokens != e.ValidTokens {
			t.Errorf("mean loss %v of %d tokens (%d), want %v of %d", step.Loss, step.Tokens,
				step.Ranks[0].GlobalTokens, e.Losses.GlobalMean.Float(), e.ValidTokens)
		}
	})
}

// The clip coefficient of the right gradient, by every way to scale and to shard.
func TestOracleClip(t *testing.T) {
	eachOracle(t, func(t *testing.T, c *oracle.Case, e *oracle.Expected, p precision) {
		for _, changes := range [][]reference.Change{
			nil, {{"scale", "loss"}}, {{"scale", "clip"}}, {{"scale", "foreach"}},
			{{"sharding", "full"}, {"reshard-after-forward", "false"}},
			{{"reduce-scatter", "hook"}, {"sync", "last"}}, {{"grad-sync", "reduce-then-accumulate"},
				{"scale", "clip"}},
		} {
			changes = append(changes, reference.Change{Option: "clip-grad-norm",
				Value: strconv.FormatFloat(e.Clip.MaxNorm, 'g', -1, 64)})
			for _, rank := range runOracle(t, c, reference.OracleRun{Variant: "torchtune_2172", DType: p.dtype,
				Change: changes}).Steps[0].Ranks {
				if !near(rank.GradNorm, e.Clip.TotalNorm, p.tolerance) ||
					!near(rank.ClipCoef, e.Clip.Coef, p.tolerance) {
					t.Errorf("%v: norm %v, coefficient %v, want %v, %v", changes, rank.GradNorm, rank.ClipCoef,
						e.Clip.TotalNorm, e.Clip.Coef)
				}
			}
		}
	})
}

// Three steps of each optimizer, whole and sharded.
func TestOracleTrajectories(t *testing.T) {
	eachOracle(t, func(t *testing.T, c *oracle.Case, e *oracle.Expected, p precision) {
		for name, settings := range e.Optimizers {
			for _, sharded := range [][]reference.Change{nil, {{"reduce-scatter", "hook"}, {"sync", "last"}},
				{{"reduce-scatter", "step"}, {"sync", "last"}, {"step-order", "explicit"}},
				{{"sharding", "full"}}} {
				t.Run(fmt.Sprint(name, sharded), func(t *testing.T) {
					trajectory(t, c, e.Trajectory[name], settings, name, sharded, p)
				})
			}
		}
	})
}

func trajectory(t *testing.T, c *oracle.Case, want oracle.Trajectory, o oracle.Optimizer, name string,
	changes []reference.Change, p precision) {
	for _, number := range []struct {
		option string
		value  float64
	}{{"lr", o.LR}, {"beta1", o.Beta1}, {"beta2", o.Beta2}, {"eps", o.Eps}, {"weight-decay", o.WeightDecay}} {
		changes = append(changes, reference.Change{Option: number.option, Value: strconv.FormatFloat(number.value,
			'g', -1, 64)})
	}
	changes = append(changes, reference.Change{Option: "optimizer", Value: name})
	result := runOracle(t, c, reference.OracleRun{Variant: "torchtune_2172", DType: p.dtype, Steps: o.Steps,
		Change: changes})
	for step, loss := range want.LossBefore {
		norm := 0.0
		for _, g := range result.Gradients[step][0] {
			for _, v := range g.Values {
				norm += v * v
			}
		}
		if got := result.Steps[step].Loss; !near(got, loss, p.tolerance) ||
			!near(math.Sqrt(norm), want.GradNorm[step], p.tolerance) {
			t.Errorf("step %d: loss %v, norm %v, want %v, %v", step, got, math.Sqrt(norm), loss, want.GradNorm[step])
		}
	}
	for rank, list := range result.Weights {
		if want.ParamsAfter == nil {
			break
		}
		if tensor, off := worst(list, want.ParamsAfter); !(off <= p.tolerance) {
			t.Errorf("rank %d: %s is off by %.2g after %d steps", rank, tensor, off, o.Steps)
		}
	}
}
