package reference_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/reference/cpu"
	"github.com/gaprof/gaprof/reference/optim"
)

// kept is what a run of six steps hands out: losses, final weights, and the checkpoints after a step.
type kept struct {
	losses  []float64
	weights []reference.Tensor
	at      map[int][]reference.Checkpoint
}

func trainKeeping(t *testing.T, o reference.Options, every int) kept {
	t.Helper()
	text, err := reference.NewText(o)
	if err != nil {
		t.Fatal(err)
	}
	k := kept{at: make(map[int][]reference.Checkpoint)}
	result, err := reference.Run(context.Background(), o, cpu.Backend{}, text, reference.Callbacks{
		Step: func(s reference.StepResult) { k.losses = append(k.losses, s.Loss) },
		Weights: func(rank int, list []reference.Tensor) {
			if rank == 0 {
				k.weights = list
			}
		},
		CheckpointEvery: every,
		Checkpoint: func(c reference.Checkpoint) {
			k.at[c.Steps] = append(k.at[c.Steps], c)
			if len(k.at[c.Steps]) == o.WorldSize && len(k.losses) < c.Steps && o.Resume == nil {
				t.Errorf("a checkpoint after %d steps, of which %d are told", c.Steps, len(k.losses))
			}
		},
	})
	if err != nil || result.Steps != o.MaxSteps {
		t.Fatalf("%d steps, %v", result.Steps, err)
	}
	return k
}

// TestResume: a run that goes on from a checkpoint ends with the bits of one that never stopped.
func TestResume(t *testing.T) {
	const small = "max-steps=6 layers=1 width=16 heads=2 sequence-length=16 local-batch-size=2 global-batch-size=8 "
	cases := []string{
		"sharding=full", "", "dtype=float64", "optimizer=sgd",
		"reduce-scatter=step", "reduce-scatter=hook",
		"reduce-scatter=step optimizer=dist-adam matrix-optimizer=muon", "adam-every=2", "clip-grad-norm=0.5",
		"optimizer-in-backward=true sync=every-micro-batch normalization=micro-mean global-batch-size=-1",
		"world-size=1", "model=llama",
	}
	if testing.Short() {
		cases = cases[:2]
	}
	for _, c := range cases {
		t.Run(c, func(t *testing.T) {
			o := reference.Defaults()
			apply(t, &o, small+c)
			whole := trainKeeping(t, o, 2)
			if len(whole.at) != 3 || len(whole.at[4]) != o.WorldSize {
				t.Fatalf("%d checkpoints", len(whole.at))
			}
			o.Weights, o.Resume = make(map[string][]float64), &reference.Resume{Steps: 4}
			o.Resume.Moments = make([]map[string]optim.Kept, o.WorldSize)
			for _, k := range whole.at[4] {
				o.Resume.Moments[k.Rank] = k.Moments
				for _, w := range k.Weights {
					o.Weights[w.Name] = w.Values
				}
			}
			rest := trainKeeping(t, o, 2)
			if got, want := bits(rest.losses), bits(whole.losses[4:]); got != want {
				t.Errorf("losses %v, want %v", rest.losses, whole.losses[4:])
			}
			for i, w := range whole.weights {
				if bits(rest.weights[i].Values) != bits(w.Values) {
					t.Errorf("%s differs", w.Name)
				}
			}
			byRank := func(a, b reference.Checkpoint) int { return a.Rank - b.Rank }
			slices.SortFunc(rest.at[6], byRank)
			slices.SortFunc(whole.at[6], byRank)
			if fmt.Sprint(rest.at[6]) != fmt.Sprint(whole.at[6]) {
				t.Error("the checkpoints after the last step differ")
			}
		})
	}
}

func bits(values []float64) string {
	var b strings.Builder
	for _, v := range values {
		fmt.Fprintf(&b, "%x ", math.Float64bits(v))
	}
	return b.String()
}

func TestResumeRefusals(t *testing.T) {
	for changes, want := range map[string]string{
		"plant=GS001": "plant", "adam-every=3": "adam-every", "max-steps=3": "",
	} {
		o := reference.Defaults()
		apply(t, &o, "max-steps=2 layers=1 width=16 heads=2 sequence-length=16 "+changes)
		text, err := reference.NewText(o)
		if err != nil {
			t.Fatal(err)
		}
		_, err = reference.Run(context.Background(), o, cpu.Backend{}, text, reference.Callbacks{
			CheckpointEvery: 2, Checkpoint: func(reference.Checkpoint) {}})
		if (want == "") != (err == nil) || err != nil && !strings.Contains(fmt.Sprintf("%+v", err), want) {
			t.Errorf("%s: %v", changes, err)
		}
	}
}
