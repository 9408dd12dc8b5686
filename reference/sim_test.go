package reference_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/reference/cpu"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/device/devicetest"
	"github.com/gaprof/gaprof/reference/sim"
)

// taped simulates and returns what the ranks were told.
func taped(t *testing.T, o reference.Options, preset, figures string) (reference.Result, []*devicetest.Tape) {
	t.Helper()
	tapes := make([]*devicetest.Tape, o.WorldSize)
	result, _ := simulate(t, o, preset, figures, reference.Callbacks{Recorder: func(rank int) device.Recorder {
		tapes[rank] = &devicetest.Tape{}
		return tapes[rank]
	}})
	return result, tapes
}

// times writes down when everything on a tape was.
func times(tape *devicetest.Tape) string {
	var b strings.Builder
	for _, e := range tape.Hosts {
		fmt.Fprintln(&b, e)
	}
	for _, e := range tape.Spans {
		name := e.Name
		if strings.HasPrefix(name, "gaprof.tokens=") {
			name = "forward" // of a rank that stands for others, which have other tokens
		}
		fmt.Fprintln(&b, name, e.Start, e.End, e.External)
	}
	for _, e := range tape.Devices {
		fmt.Fprintln(&b, e.Name, e.Stream, e.Start, e.End, e.Correlation, e.External)
	}
	fmt.Fprintln(&b, tape.Syncs, tape.Blocks, tape.Steps)
	return b.String()
}

// The same options give the same times; ranks that are equal have them all, whether one stands
// for the others or each is simulated; those of another seed differ where there is chance.
func TestSimulatedAlike(t *testing.T) {
	o := small(t, "world-size=4", "global-batch-size=16", "dtype=bfloat16", "max-steps=3", "reduce-scatter=hook")
	result, folded := taped(t, o, "h100x2", "")
	again, _ := taped(t, o, "h100x2", "")
	if result.Ranks != 1 || !reflect.DeepEqual(result, again) || len(folded[1].Hosts) > 0 {
		t.Fatalf("%+v, then %+v", result, again)
	}
	each := o
	if err := each.Set("straggler", "3=1"); err != nil { // one of them is no slower, but might have been
		t.Fatal(err)
	}
	unfolded, tapes := taped(t, each, "h100x2", "")
	if unfolded.Ranks != 4 || unfolded.Duration != result.Duration {
		t.Errorf("each rank by itself: %+v, one for all: %+v", unfolded, result)
	}
	for rank, tape := range tapes {
		if times(tape) != times(folded[0]) {
			t.Errorf("rank %d differs from the one that stands for it", rank)
		}
	}
	_, first := taped(t, o, "h100x2", "jitter=5%,skew=20us")
	_, second := taped(t, o, "h100x2", "jitter=5%,skew=20us")
	o.Seed = 2
	_, other := taped(t, o, "h100x2", "jitter=5%,skew=20us")
	if times(first[2]) != times(second[2]) || times(first[2]) == times(other[2]) || times(first[2]) == times(first[1]) {
		t.Error("chance does not follow the seed and the rank")
	}
}

// No loss is known, all tokens are, and steps have the times of the devices.
func TestSimulatedSteps(t *testing.T) {
	o := small(t, "world-size=4", "global-batch-size=16", "max-steps=5", "dtype=float32")
	real := train(t, o, nil, cpu.Backend{})
	var got []reference.StepResult
	var at []string
	result, _ := simulate(t, o, "a100", "", reference.Callbacks{
		Step:    func(s reference.StepResult) { got = append(got, s) },
		Weights: func(int, []reference.Tensor) { at = append(at, "weights") },
		Gradients: func(int, int, []reference.Tensor) {
			at = append(at, "gradients")
		},
	})
	if len(got) != 5 || len(at) > 0 || result.Tokens != real.result.Tokens {
		t.Fatalf("%d steps, %v, %d tokens, of %d", len(got), at, result.Tokens, real.result.Tokens)
	}
	sum := time.Duration(0)
	for i, s := range got {
		want := real.steps[i]
		if !math.IsNaN(s.Loss) || !math.IsNaN(s.Logged) || !math.IsNaN(s.Optimized) || s.Tokens != want.Tokens ||
			s.Duration <= 0 {
			t.Errorf("%+v", s)
		}
		for rank, r := range s.Ranks {
			w := want.Ranks[rank]
			if r.Rank != rank || !reflect.DeepEqual(r.Tokens, w.Tokens) || r.LocalTokens != w.LocalTokens ||
				r.GlobalTokens != w.GlobalTokens || !math.IsNaN(r.LossSums[0]) || !math.IsNaN(r.Factor) {
				t.Errorf("rank %d: %+v, want the tokens of %+v", rank, r, w)
			}
		}
		sum += s.Duration
	}
	if sum > result.Duration || sum < result.Duration*9/10 {
		t.Errorf("steps last %v, the run %v", sum, result.Duration)
	}
}

// A model that does not fit is refused with what it needs and what has that.
func TestSimulatedTooLarge(t *testing.T) {
	o := gpt2(t, 1, "layers=48", "width=1600", "heads=25", "local-batch-size=64")
	m, err := sim.Lookup("a100")
	if err != nil {
		t.Fatal(err)
	}
	text, err := reference.NewText(small(t))
	if err != nil {
		t.Fatal(err)
	}
	_, err = reference.Run(t.Context(), o, sim.Backend{Machine: m}, text, reference.Callbacks{})
	var refused *reference.OptionError
	if !errors.As(err, &refused) || refused.Option != "device" ||
		!strings.Contains(refused.Reason, "NVIDIA A100-SXM4-80GB has 85.0 GB, and the run wants ") ||
		!strings.Contains(refused.WayOut, "`local-batch-size`") {
		t.Error(err)
	}
	if err := m.Set("memory=8TB"); err != nil {
		t.Fatal(err)
	}
	if _, err := reference.Run(t.Context(), o, sim.Backend{Machine: m}, text, reference.Callbacks{}); err != nil {
		t.Error(err)
	}
}

// The scale pass of torchtune issue 2515, on what the host and the device can do: as the memory
// allows, dispatched slowly, and by a kernel that is not vectorized. Figures are those of GPT-2.
func TestScalePass(t *testing.T) {
	o := gpt2(t, 1, "scale=pass", "max-steps=2", "local-batch-size=4", "lr=0")
	for _, c := range []struct {
		figures string
		rate    float64 // bytes/s at which gradients are scaled
		span    time.Duration
	}{
		{"hbm=2.0TB/s,elementwise=1", 2.0e12, 0},
		{"hbm=2.0TB/s,elementwise=1,eager=146us", 2.0e12, 149 * 146 * time.Microsecond},
		{"hbm=2.0TB/s,scale=756GB/s", 756e9, 0},
	} {
		want := int64(0) // each gradient is read and written, and no kernel is shorter than 2 us
		for _, s := range o.Filled().Specs() {
			want += int64(max(2000, float64(2*2*device.Elements(s.Shape))/c.rate*1e9))
		}
		_, tapes := taped(t, o, "h100", c.figures)
		busy, count, first, last := int64(0), 0, int64(math.MaxInt64), int64(0)
		for _, e := range tapes[0].Devices {
			if e.Name != "gaprof_scale_bf16" {
				continue
			}
			count++
			if count <= 149 {
				busy, first, last = busy+e.End-e.Start, min(first, e.Start), max(last, e.End)
			}
		}
		if count != 2*149 || busy != want {
			t.Errorf("%s: %d kernels, busy %d ns, want %d", c.figures, count, busy, want)
		}
		if span := time.Duration(last - first); span < c.span*148/149-200*time.Microsecond ||
			c.span == 0 && float64(span) > 1.5*float64(busy)+1e6 {
			t.Errorf("%s: the pass spans %v, busy %v", c.figures, span, time.Duration(busy))
		}
	}
}
