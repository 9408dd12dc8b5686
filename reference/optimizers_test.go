package reference_test

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/reference/cpu"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/optim"
)

// Updates are those that interop/models.py computes in float64, Muon's by singular values.
func TestUpdatesAgainstTorch(t *testing.T) {
	text, err := os.ReadFile("testdata/models.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Updates []struct {
			Name   string
			Shape  []int
			Steps  int
			Values []float64
		}
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Updates) != 4 {
		t.Fatal(err, len(file.Updates))
	}
	for _, u := range file.Updates {
		for dt, tolerance := range map[device.DType]float64{device.F64: 1e-12, device.F32: 2e-5} {
			got := update(t, u.Name, u.Shape, u.Steps, dt)
			off, most := 0.0, 0.0
			for i, v := range u.Values {
				off, most = max(off, math.Abs(got[i]-v)), max(most, math.Abs(v))
			}
			if !(off <= tolerance*most) {
				t.Errorf("%s of %v in %s is off by %.2g of %.2g", u.Name, u.Shape, dt, off, most)
			}
		}
	}
}

// update returns a drawn parameter after some updates by drawn gradients.
func update(t *testing.T, name string, shape []int, steps int, dt device.DType) []float64 {
	t.Helper()
	members, err := cpu.Backend{Poison: true}.Open(device.Config{World: 1})
	if err != nil {
		t.Fatal(err)
	}
	rank := device.NewRank(members[0], dt)
	defer rank.Close()
	o := optim.New(rank, optim.Hyperparameters{Optimizer: "dist-adam",
		Matrices:     map[bool]string{true: name}[name == "muon"],
		LearningRate: 0.1, Beta1: 0.9, Beta2: 0.95, Epsilon: 1e-8, Momentum: 0.95, WeightDecay: 0.2, AdamEvery: 1})
	drawn := func(k int) *device.Buffer {
		b := rank.Alloc(shape...)
		values := make([]float64, b.N)
		for i := range values {
			values[i] = draw(k, i)
		}
		rank.Upload(b, device.Host{Floats: values})
		return b
	}
	value := drawn(0)
	for k := range steps {
		o.Update(o.GroupFor(true), nil, []optim.Target{{Value: value, Grad: drawn(k + 1), Whole: shape}})
	}
	values := make([]float64, value.N)
	rank.Download(device.Host{Floats: values}, value)
	rank.StreamSynchronize(rank.Compute)
	if err := rank.Err(); err != nil {
		t.Fatal(err)
	}
	return values
}

// Sharded or not, and over padded rows, the weights are the same.
func TestShardsOfOptimizers(t *testing.T) {
	for _, c := range []string{"optimizer=dist-adam", "matrix-optimizer=muon"} {
		for _, ranks := range []string{"world-size=2", "world-size=3"} {
			var want *trained
			for _, way := range []string{"", "reduce-scatter=step", "reduce-scatter=hook", "sharding=full",
				"compiled=true", "reduce-scatter=hook compiled=true",
				"reduce-scatter=hook matrix-reduce=step compiled=true"} {
				if strings.Contains(way, "matrix") && !strings.Contains(c, "matrix") {
					continue
				}
				changes := append(strings.Fields(way), c, ranks, "model=llama", "kv-heads=1", "eps=1e-3",
					"global-batch-size=-1")
				o := small(t, changes...)
				got := train(t, o, nil, cpu.Backend{Poison: true})
				if want == nil {
					want = got
				}
				if off := furthest(got, want, o.WorldSize); !(off < 1e-9) {
					t.Errorf("%s %s %s: off by %.2g", c, ranks, way, off)
				}
			}
		}
	}
}
