package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/whatif"
	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/reference/cpu"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/kineto"
	"github.com/gaprof/gaprof/reference/sim"
)

// closedLoop is how often each program of TestClosedLoop is run; 0 runs a few of them once.
var closedLoop = flag.Int("closedloop", 0, "runs of each program of the closed loop, for docs/whatif.md")

// loops are programs with a fault, the same without, and the edit that undoes the fault. Options are
// name=value.
var loops = []struct {
	fault string // and what else both have
	right string
	edit  string
	quick bool // the fault shows in one run on any machine
}{
	{"world-size=1 loader-delay=20ms", "world-size=1", "hide-data-loading", true},
	{"world-size=1 straggler=0=3", "world-size=1", "faster=.:3", true},
	{"world-size=1 launch-delay=100us", "world-size=1", "cuda-graph", false},
	{"world-size=1 read-loss=micro-batch", "world-size=1", "drop-host-sync", false},
	{"world-size=1 scale=pass", "world-size=1 scale=optimizer", "fold-scale", false},
	{"world-size=1 scale=pass", "world-size=1 scale=foreach", "foreach-scale", false},
	{"loader-delay=20ms", "", "hide-data-loading", false},
	{"loader-delay=1=20ms", "", "no-straggler=1", false},
	{"host-delay=1=40ms", "", "no-straggler=1", false},
	{"straggler=1=3", "", "no-straggler=1", false},
	{"loader-delay=20ms straggler=1=3", "", "hide-data-loading,no-straggler=1", false},
	{"sync=every-micro-batch", "", "sync-last-micro-batch", false},
	{"reduce-scatter=step", "reduce-scatter=hook", "hoist-reduce-scatter", false},
	{"world-size=4 host-delay=1=40ms", "world-size=4", "no-straggler=1", false},
}

// TestSimulatedLoop does what TestClosedLoop does on simulated GPUs, where nothing disturbs: predictions hold to
// 1 % of the step, those of bounds, too.
func TestSimulatedLoop(t *testing.T) {
	machine, err := sim.Lookup("h100x8")
	if err != nil {
		t.Fatal(err)
	}
	step := func(options, edit string) loopRun {
		o := reference.Defaults()
		o.Layers, o.Width, o.Heads, o.SequenceLength, o.MaxSteps = 3, 256, 8, 256, 8
		return loopRun{gain: loopPredict(t, sim.Backend{Machine: machine}, o, options, edit).Kinds[0]}
	}
	measured := make(map[string]loopRun)
	for _, l := range loops {
		if _, known := measured[l.right]; !known {
			measured[l.right] = step(l.right, "faster=.:1")
		}
		fault, right := step(l.fault, l.edit), measured[l.right].gain.MedianBefore
		off := fault.gain.MedianAfter - right
		limit := right / 100
		if off < -limit || off > limit {
			t.Errorf("%s: %s leaves %.3f ms, which is off by %d ns", l.fault, l.edit, fault.after(), off)
		}
		t.Logf("| `%s` | `%s` | %.2f | %.2f | %.2f | %+.3f |", l.fault, l.edit, fault.before(), fault.after(),
			float64(right)/1e6, float64(-off)/1e6)
	}
}

// TestClosedLoop plants a fault, predicts from the trace of that run alone what steps take without, runs the
// program without it and compares. With -closedloop N it prints the table of docs/whatif.md, of medians of N
// runs: those that other programs disturb the least. Times of a busy machine are no pass or fail, so what is
// tested is that the edit applies and costs nothing; TestSimulatedLoop holds what it gains.
func TestClosedLoop(t *testing.T) {
	if *closedLoop > 0 {
		fmt.Println("| fault | edit | step with it, ms | predicted without | measured without | " +
			"gain predicted (range) | measured | error | noise |\n|---|---|---|---|---|---|---|---|---|")
	}
	measured := make(map[string][]loopRun)
	for _, l := range loops {
		if *closedLoop == 0 && !l.quick {
			continue
		}
		t.Run(l.fault, func(t *testing.T) {
			fault := loopRuns(t, l.fault, l.edit)
			before, after := middleOf(fault, (*loopRun).before), middleOf(fault, (*loopRun).after)
			if *closedLoop == 0 {
				if after > before {
					t.Errorf("of %.2f ms per step %s leaves %.2f", before, l.edit, after)
				}
				return
			}
			if measured[l.right] == nil {
				measured[l.right] = loopRuns(t, l.right, "faster=.:1")
			}
			right := middleOf(measured[l.right], (*loopRun).before)
			low, high := middleOf(fault, (*loopRun).low), middleOf(fault, (*loopRun).high)
			const row = "| `%s` | `%s` | %.2f | %.2f | %.2f | %.2f (%.2f to %.2f) | %.2f | %+.2f | %.2f |\n"
			fmt.Printf(row, l.fault, l.edit, before, after, right, before-after, low, high, before-right, right-after,
				spreadOf(measured[l.right]))
		})
	}
}

// loopRun is a run of a program and what was predicted of it.
type loopRun struct {
	gain   whatif.Gain
	waited float64 // share of its time for which its threads could have run and had no core
}

// Per step, in ms: the median as it was and as predicted, and the range of the gain.
func (r *loopRun) before() float64 { return float64(r.gain.MedianBefore) / 1e6 }
func (r *loopRun) after() float64  { return float64(r.gain.MedianAfter) / 1e6 }
func (r *loopRun) low() float64    { return float64(r.gain.Low) / 1e6 }
func (r *loopRun) high() float64   { return float64(r.gain.High) / 1e6 }

// loopRuns runs a program as often as is asked for.
func loopRuns(t *testing.T, options, edit string) []loopRun {
	t.Helper()
	if *closedLoop == 0 {
		return []loopRun{{gain: loopStep(t, options, edit).Kinds[0]}}
	}
	var list []loopRun
	quiet := 0
	for len(list) < mostTries**closedLoop && quiet < *closedLoop {
		begin, was := time.Now(), waited()
		p := loopStep(t, options, edit)
		share := float64(waited()-was) / float64(time.Since(begin))
		if share < quietShare {
			quiet++
		}
		list = append(list, loopRun{p.Kinds[0], share})
	}
	slices.SortStableFunc(list, func(a, b loopRun) int { return cmp.Compare(a.waited, b.waited) })
	t.Logf("%q: %d of %d runs were quiet, the share of waiting is %.2f to %.2f", options, quiet, len(list),
		list[0].waited, list[len(list)-1].waited)
	return list[:*closedLoop]
}

// Other programs disturb a run if its threads wait for a core for a longer share of its time than this. If too
// few are undisturbed in so many tries for each, those that waited the least count.
const (
	quietShare = 0.2
	mostTries  = 3
)

// waited is how long the threads of this process could have run and had no core, in ns, where the
// system says so; else 0.
func waited() int64 {
	sum := int64(0)
	files, _ := filepath.Glob("/proc/self/task/*/schedstat") // the pattern is valid
	for _, file := range files {
		text, err := os.ReadFile(file)
		if fields := strings.Fields(string(text)); err == nil && len(fields) == 3 {
			ns, _ := strconv.ParseInt(fields[1], 10, 64) // 0 if it is no number
			sum += ns
		}
	}
	return sum
}

// loopStep trains a small model on the cpu and predicts an edit.
func loopStep(t *testing.T, options, edit string) *whatif.Prediction {
	t.Helper()
	o := reference.Defaults()
	o.Layers, o.Width, o.SequenceLength, o.LocalBatchSize, o.MaxSteps = 2, 48, 64, 4, 12
	return loopPredict(t, cpu.Backend{}, o, options, edit)
}

// loopPredict trains a model with some options, two micro-batches a step, and predicts an edit.
func loopPredict(t *testing.T, on device.Backend, o reference.Options, options, edit string) *whatif.Prediction {
	t.Helper()
	for _, word := range strings.Fields(options) {
		name, value, _ := strings.Cut(word, "=")
		if err := o.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	o.GlobalBatchSize = 2 * o.LocalBatchSize * o.WorldSize
	run, err := (&trainJob{options: o, backend: on, window: kineto.All}).train(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	a := analyze.New(analyze.Options{Graph: true})
	for rank := range o.WorldSize {
		a.Add(rank, analyze.Input{File: fmt.Sprintf("rank%d.json.gz", rank), Trace: run.trace(rank)})
	}
	uses, err := whatif.Parse([]string{edit})
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Result().World.Predict(uses)
	if err != nil || p.Reason != "" {
		t.Fatalf("%s, %s: %v %s", options, edit, err, p.Reason)
	}
	return p
}

func middleOf(list []loopRun, of func(*loopRun) float64) float64 { return quantileOf(list, of, 0.5) }

// spreadOf is between the quartiles of what steps take.
func spreadOf(list []loopRun) float64 {
	return quantileOf(list, (*loopRun).before, 0.75) - quantileOf(list, (*loopRun).before, 0.25)
}

func quantileOf(list []loopRun, of func(*loopRun) float64, q float64) float64 {
	var values []float64
	for i := range list {
		values = append(values, of(&list[i]))
	}
	slices.Sort(values)
	at := q * float64(len(values)-1)
	i := int(at)
	if i+1 == len(values) {
		return values[i]
	}
	return values[i] + (at-float64(i))*(values[i+1]-values[i])
}
