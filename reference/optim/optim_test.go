package optim

import (
	"strings"
	"testing"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/device/devicetest"
	"github.com/gaprof/gaprof/reference/ops"
)

func TestGroups(t *testing.T) {
	for _, c := range []struct {
		hyper        Hyperparameters
		matrix, rest string
		groups       int
	}{
		{Hyperparameters{Optimizer: "adamw", AdamEvery: 1}, "AdamW", "AdamW", 1},
		{Hyperparameters{Optimizer: "adamw", AdamEvery: 3}, "SGD", "AdamW", 2},
		{Hyperparameters{Optimizer: "sgd", AdamEvery: 1}, "SGD", "SGD", 1},
		{Hyperparameters{Optimizer: "dist-adam", AdamEvery: 2}, "SGD", "DistAdam", 2},
		{Hyperparameters{Optimizer: "dist-adam", Matrices: "muon", AdamEvery: 2}, "Muon", "DistAdam", 2},
		{Hyperparameters{Optimizer: "adamw", Matrices: "sgd", AdamEvery: 1}, "SGD", "AdamW", 2},
	} {
		_, rank := devicetest.NewRank(1, device.F32)
		o := New(rank, c.hyper)
		matrix, rest := o.GroupFor(true), o.GroupFor(false)
		if matrix.Name != c.matrix || rest.Name != c.rest || len(o.Groups()) != c.groups || o.GroupFor(true) != matrix {
			t.Errorf("%+v: %+v, %+v, %d groups", c.hyper, matrix, rest, len(o.Groups()))
		}
	}
}

func TestDue(t *testing.T) {
	for step, want := range []bool{false, false, true, false, false, true} {
		if g := (&Group{Every: 3}); g.Due(step) != want {
			t.Errorf("step %d: %v", step, !want)
		}
		if g := (&Group{Every: 1}); !g.Due(step) {
			t.Errorf("step %d: not due", step)
		}
	}
}

// Moments are allocated by the first update of a parameter; every update counts. SGD has
// no state.
func TestUpdate(t *testing.T) {
	script, rank := devicetest.NewRank(1, device.F64)
	o := New(rank, Hyperparameters{Optimizer: "adamw", LearningRate: 0.5, AdamEvery: 1})
	target := func(index int) Target { return Target{Index: index, Value: rank.Alloc(2), Grad: rank.Alloc(2)} }
	targets := []Target{target(3), target(7)}
	script.Take()
	for range 2 {
		o.Update(o.GroupFor(false), nil, targets)
	}
	const want = "compute zero 2; compute zero 2; compute zero 2; compute zero 2; compute multi_tensor_adamw; " +
		"compute multi_tensor_adamw"
	if got := script.Take(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	first, second := script.Kernels[0].(ops.AdamW), script.Kernels[1].(ops.AdamW)
	if first.Step != 1 || second.Step != 2 || first.M[1] != second.M[1] || first.M[0] == first.V[0] || first.LR != 0.5 {
		t.Errorf("%+v, then %+v", first, second)
	}
	factor := rank.Alloc()
	live := script.Live
	o.Update(&Group{Name: "SGD", Every: 1}, factor, targets)
	if k := script.Kernels[2].(ops.SGD); script.Live != live || k.Factor != factor || k.P[1] != targets[1].Value {
		t.Errorf("%+v, %d blocks", k, script.Live-live)
	}
}

// The operations of DistAdam are those of the traces that modded-nanogpt published, and those of
// Muon those of torch.optim.Muon. Neither leaves memory but its state.
func TestUnfused(t *testing.T) {
	for _, c := range []struct {
		matrix bool
		shape  []int
		first  string
		state  int
	}{
		{false, []int{2, 3}, "zero 6; zero 6; scale_by; add_scaled; scale_by; add_product; roots; raise; quotient; " +
			"scale_by; add_scaled", 2},
		{true, []int{2, 3}, "zero 6; lerp; lerp; cast; vector_norm; at_least; quotient; gemm_nt; gemm_nn; gemm_nn; " +
			"gemm_nt; gemm_nn; gemm_nn; gemm_nt; gemm_nn; gemm_nn; gemm_nt; gemm_nn; gemm_nn; gemm_nt; gemm_nn; " +
			"gemm_nn; add_scaled", 1},
	} {
		script, rank := devicetest.NewRank(1, device.BF16)
		o := New(rank, Hyperparameters{Optimizer: "dist-adam", Matrices: "muon", MasterWeights: true, AdamEvery: 1})
		p := Target{Value: rank.Alloc(c.shape...), Grad: rank.Alloc(c.shape...), Whole: c.shape}
		live := script.Live
		o.Update(o.GroupFor(c.matrix), nil, []Target{p})
		if got := strings.ReplaceAll(script.Take(), "compute ", ""); got != c.first {
			t.Errorf("%s, want %s", got, c.first)
		}
		if left := script.Live - live; left != c.state {
			t.Errorf("%d blocks are left, want %d", left, c.state)
		}
	}
}

// A rank that has some rows of a matrix gathers all before the iteration.
func TestMuonOfShards(t *testing.T) {
	script, rank := devicetest.NewRank(2, device.F32)
	o := New(rank, Hyperparameters{Optimizer: "adamw", Matrices: "muon", AdamEvery: 1})
	p := Target{Value: rank.Alloc(2, 5), Grad: rank.Alloc(2, 5), Whole: []int{3, 5},
		Shards: rank.Comm}
	o.Update(o.GroupFor(true), nil, []Target{p})
	if got := script.Take(); !strings.Contains(got, "comms all-gather 10 to 20") {
		t.Error(got)
	}
	for _, k := range script.Kernels {
		if m, ok := k.(ops.MatMul); ok && (m.N != 4 && m.N != 5) {
			t.Errorf("%+v", m)
		}
	}
}
