package reference_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/device/devicetest"
	"github.com/gaprof/gaprof/reference/sim"
)

// The figures of the sources on simulated GPUs, as docs/simulation.md has them. They are deterministic: what changes
// them is a change of the model.

// onGPUs are the default options of simulated GPUs with some changes: GPT-2 124M.
func onGPUs(t *testing.T, world int, changes string) reference.Options {
	t.Helper()
	o := reference.DefaultsOn(sim.Backend{}.Traits())
	o.WorldSize = world
	apply(t, &o, changes)
	return o
}

// steady is what three more steps take each.
func steady(t *testing.T, preset string, o reference.Options) time.Duration {
	t.Helper()
	few, _ := simulate(t, o, preset, "", reference.Callbacks{})
	o.MaxSteps += 3
	more, _ := simulate(t, o, preset, "", reference.Callbacks{})
	return (more.Duration - few.Duration) / 3
}

// exposed is what of kernels with such a name nothing hides that computes or copies, and how long they are in all, both
// per step.
func exposed(tape *devicetest.Tape, name string, steps int) (alone, busy float64) {
	var compute, comm [][2]int64
	for _, e := range tape.Devices {
		switch {
		case strings.Contains(e.Name, name):
			comm = append(comm, [2]int64{e.Start, e.End})
		case !strings.Contains(e.Name, "nccl"):
			compute = append(compute, [2]int64{e.Start, e.End})
		}
	}
	return uncovered(comm, compute) / float64(steps), uncovered(comm, nil) / float64(steps)
}

// uncovered is how much of some intervals no other one covers, in ns. Either list is in order and without overlaps.
func uncovered(list, by [][2]int64) float64 {
	sum, at := int64(0), 0
	for _, one := range list {
		sum += one[1] - one[0]
		for at > 0 && by[at-1][1] > one[0] {
			at--
		}
		for ; at < len(by) && by[at][0] < one[1]; at++ {
			sum -= max(0, min(one[1], by[at][1])-max(one[0], by[at][0]))
		}
	}
	return float64(sum)
}

// Source 2: backward once per step holds the activations of all four micro-batches, by the memory events of rank 0.
func TestSource2(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of thousands of allocations")
	}
	for way, want := range map[string]string{"micro-batch": "59.5 GB", "step": "87.5 GB"} {
		o := gpt2(t, 8, "model=llama-3.1-8b", "layers=0", "width=0", "heads=0", "sequence-length=2048", "vocabulary=0",
			"fused-swiglu=true", "local-batch-size=1", "global-batch-size=32", "reduce-scatter=hook", "backward="+way,
			"max-steps=2")
		_, tapes := taped(t, o, "h200x8", "")
		most := int64(0)
		for _, e := range tapes[0].Blocks {
			most = max(most, e.Allocated)
		}
		if got := fmt.Sprintf("%.1f GB", float64(most)/1e9); got != want {
			t.Errorf("backward once per %s: %s, want %s", way, got, want)
		}
	}
}

// Source 4: gradients reduced in the last of four micro-batches or in each, on one node and on eight.
func TestSource4(t *testing.T) {
	if testing.Short() {
		t.Skip("twelve runs")
	}
	for _, c := range []struct {
		world int
		sync  string
		want  string
	}{
		{8, "last", "68.7 ms, 0.6 exposed"}, {8, "every-micro-batch", "70.5 ms, 2.4 exposed"},
		{64, "last", "69.1 ms, 0.9 exposed"}, {64, "every-micro-batch", "71.9 ms, 3.7 exposed"},
	} {
		o := onGPUs(t, c.world, "local-batch-size=8 max-steps=3 sync="+c.sync)
		step := steady(t, "h100x8@ib-ndr", o)
		_, tapes := taped(t, o, "h100x8@ib-ndr", "")
		alone, _ := exposed(tapes[0], "AllReduce", o.MaxSteps)
		if got := fmt.Sprintf("%.1f ms, %.1f exposed", step.Seconds()*1e3, alone/1e6); got != c.want {
			t.Errorf("%d ranks, %s: %s, want %s", c.world, c.sync, got, c.want)
		}
	}
}

// Source 5 on a machine of data sheets: reduce-scatter in the optimizer's step or in hooks.
func TestSource5(t *testing.T) {
	for way, want := range map[string]string{
		"step": "22.5 ms, 10 % overlapped", "hook": "21.5 ms, 87 % overlapped",
	} {
		o := onGPUs(t, 8, "local-batch-size=8 global-batch-size=-1 max-steps=3 reduce-scatter="+way)
		step := steady(t, "h100x8@ib-ndr", o)
		_, tapes := taped(t, o, "h100x8@ib-ndr", "")
		alone, busy := exposed(tapes[0], "ReduceScatter", o.MaxSteps)
		got := fmt.Sprintf("%.1f ms, %.0f %% overlapped", step.Seconds()*1e3, 100*(1-alone/busy))
		if got != want {
			t.Errorf("%s: %s, want %s", way, got, want)
		}
	}
}

// adamBlock is what happens from the first gradient of Adam that is added up to the last parameter that is gathered:
// its length, its reduce-scatters, and what of those nothing hides, in ns; means over all blocks and ranks.
type adamBlock struct{ length, busy, exposed float64 }

func adamBlocks(tapes []*devicetest.Tape) adamBlock {
	var mean adamBlock
	blocks := 0.0
	for _, tape := range tapes {
		var first, ends []int64
		var scatters, compute [][2]int64
		for _, e := range tape.Devices {
			of := [2]int64{e.Start, e.End}
			switch message := sizeOf(e); {
			case strings.Contains(e.Name, "accumulate") && e.Bytes > 1<<20:
				first, compute = append(first, e.Start), append(compute, of)
			case e.Message == nil:
				compute = append(compute, of)
			case message != 38633472 && message != 768:
			case strings.Contains(e.Name, "ReduceScatter"):
				scatters = append(scatters, of)
			case strings.Contains(e.Name, "AllGather"):
				ends = append(ends, e.End)
			}
		}
		const each, large = 6, 5 // parameters of Adam
		for i := range len(ends) / each {
			mean.length += float64(ends[i*each+each-1] - first[i*large])
			blocks++
		}
		mean.busy, mean.exposed = mean.busy+uncovered(scatters, nil), mean.exposed+uncovered(scatters, compute)
	}
	return adamBlock{mean.length / blocks, mean.busy / blocks, mean.exposed / blocks}
}

// sizeOf is the larger side of a collective in elements, 0 of others.
func sizeOf(e device.DeviceEvent) int {
	if e.Message == nil {
		return 0
	}
	return max(e.Message.In, e.Message.Out)
}

// Source 5 on the machine that was measured in its traces: what the traces of the PR show of the block of DistAdam,
// means of three blocks of rank 0, in ms, against means of all blocks and ranks here.
func TestSource5AsMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("eight ranks one by one")
	}
	real := map[string]adamBlock{"step": {4.221, 2.285, 1.856}, "hook": {3.723, 2.253, 1.518}}
	got := make(map[string]adamBlock)
	for way, want := range real {
		o := gpt2(t, 8, "model=modded-nanogpt", "layers=0", "heads=0", "sequence-length=2048", "optimizer=dist-adam",
			"matrix-optimizer=muon", "adam-every=2", "matrix-reduce=step", "compiled=true", "lr=0.01", "weight-decay=0",
			"max-steps=12", "reduce-scatter="+way)
		_, tapes := taped(t, o, "h100-nanogptx8", "")
		b := adamBlocks(tapes)
		b = adamBlock{b.length / 1e6, b.busy / 1e6, b.exposed / 1e6}
		t.Logf("%s: %.3f ms, reduce-scatters %.3f, %.3f of it exposed; real %.3f", way, b.length, b.busy, b.exposed,
			want)
		if math.Abs(b.length/want.length-1) > 0.15 || math.Abs(b.exposed/want.exposed-1) > 0.25 {
			t.Errorf("%s: %.3f, real %.3f", way, b, want)
		}
		got[way] = b
	}
	gain, realGain := got["step"].length-got["hook"].length, real["step"].length-real["hook"].length
	if math.Abs(gain/realGain-1) > 0.25 {
		t.Errorf("hooks gain %.3f ms of a block, really %.3f", gain, realGain)
	}
	for way, b := range got {
		overlap, want := 1-b.exposed/b.busy, 1-real[way].exposed/real[way].busy
		if math.Abs(overlap-want) > 0.1 {
			t.Errorf("%s: %.0f %% are overlapped, really %.0f %%", way, 100*overlap, 100*want)
		}
	}
}
