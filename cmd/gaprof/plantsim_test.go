package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/reference/kineto"
	"github.com/gaprof/gaprof/reference/sim"
)

// busy is a model that keeps a simulated GPU busy, four micro-batches a step.
func busy(ranks int) reference.Options {
	o := reference.Defaults()
	o.Layers, o.Width, o.Heads, o.SequenceLength, o.Vocabulary = 4, 1024, 16, 1024, 10240
	o.DType, o.BucketBytes, o.MaxSteps = "bfloat16", 25e6, 4
	o.LocalBatchSize, o.WorldSize, o.GlobalBatchSize = 16, ranks, 4*16*ranks
	return o
}

// findingsOnSim trains on simulated H100 and returns what is found of the traces and the token log, and the
// number of ranks.
func findingsOnSim(t *testing.T, o reference.Options) ([]report.Finding, int) {
	t.Helper()
	m, err := sim.Lookup("h100x8")
	if err != nil {
		t.Fatal(err)
	}
	job := &trainJob{options: o, window: kineto.All, backend: sim.Backend{Machine: m}}
	run, err := job.train(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	a := analyze.New(analyze.Options{Rules: rules.All(), Logs: analyze.Logs{Tokens: run.tokens()}})
	for rank := range run.options.WorldSize {
		a.Add(rank, analyze.Input{File: fmt.Sprintf("rank%d.json.gz", rank), Trace: run.trace(rank)})
	}
	r := a.Result().Report
	if len(r.Health.Problems) > 0 && !strings.HasPrefix(o.Plant, "TH") {
		t.Errorf("%+v: trace health: %v", o, r.Health.Problems)
	}
	return r.Findings, run.options.WorldSize
}

// exposedAnyway are notes on what every loop of several ranks leaves exposed at an end of a pass.
var exposedAnyway = []string{"OV001", "OV003", "OV008", "OV009"}

// foundOnSim are the rules of findings but for notes of exposedAnyway, unless they are planted.
func foundOnSim(findings []report.Finding, planted string) string {
	var list []string
	for _, f := range findings {
		note := !f.Severity.AtLeast(report.Warn) && f.Rule != planted
		if !note || !slices.Contains(exposedAnyway, f.Rule) && besides[planted] != f.Rule {
			list = append(list, f.Rule)
		}
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), " ")
}

// besides are rules that a plant breaks as well, which is a note.
var besides = map[string]string{
	"AC003": "AC004", // what replicas reduce in every micro-batch, the ranks of a replica have reduced before
}

// notAlone are the plants of which a simulation shows something else than their rule alone.
var notAlone = map[string]string{
	"NM003": "", // the factor that is missing shows in losses and norms, and those are unknown
	"TH001": "", // a file is cut: see TestPlantsInFiles
}

// plantedOn are models with the options of a loop, on which a plant is found alone.
var plantedOn = []struct {
	name   string
	ranks  []int
	plants string // "" for all
	of     func(ranks int) reference.Options
}{
	{"busy", []int{2, 8}, "", busy},
	{"default", []int{2}, "", defaultOnGPUs},
	{"full sharding", []int{2, 8}, "GS004 GS008",
		func(ranks int) reference.Options { o := defaultOnGPUs(ranks); o.Sharding = "full"; return o }},
	// A shard of the embedding has the shape of another weight as a whole.
	{"vocabulary 8192", []int{2, 8}, "CL002",
		func(ranks int) reference.Options { o := busy(ranks); o.Vocabulary = 8192; return o }},
}

// defaultOnGPUs is what gaprof train does of itself, in few steps.
func defaultOnGPUs(ranks int) reference.Options {
	o := reference.DefaultsOn(sim.Backend{}.Traits())
	o.WorldSize, o.MaxSteps = ranks, 4
	return o
}

// TestPlantsOnSim does what TestPlants does on simulated GPUs, where nothing disturbs: on 2 ranks and on 8
// just the planted rule is found. Plants of one rank run on one.
func TestPlantsOnSim(t *testing.T) {
	for _, loop := range plantedOn {
		if testing.Short() && loop.name != "busy" {
			continue
		}
		t.Run(loop.name, func(t *testing.T) {
			for _, plant := range reference.Plants() {
				if len(plant) == len("GS001") && (loop.plants == "" || strings.Contains(loop.plants, plant)) {
					t.Run(plant, func(t *testing.T) { plantedAlone(t, plant, loop.ranks, loop.of) })
				}
			}
		})
	}
}

// plantedAlone trains with a plant on some numbers of ranks and wants to find it alone.
func plantedAlone(t *testing.T, plant string, numbers []int, of func(ranks int) reference.Options) {
	want, known := notAlone[plant]
	if !known {
		want = plant
	}
	for _, ranks := range numbers {
		o := of(ranks)
		o.Plant = plant
		findings, world := findingsOnSim(t, o)
		if got := foundOnSim(findings, plant); got != want {
			t.Errorf("%d ranks: found %q, want %q%s", world, got, want, messages(&report.Report{Findings: findings}))
		}
		if world == 1 {
			break
		}
	}
}

// TestCleanOnSim: right loops have nothing above a note.
func TestCleanOnSim(t *testing.T) {
	for _, options := range []string{"", "reduce-scatter=hook clip-grad-norm=1", "sharding=full",
		"sharding=full replicas=2"} {
		for _, ranks := range []int{2, 8} {
			for _, accumulation := range []int{1, 4} {
				o := busy(ranks)
				o.LocalBatchSize = 64
				for _, word := range strings.Fields(options) {
					name, value, _ := strings.Cut(word, "=")
					if err := o.Set(name, value); err != nil {
						t.Fatal(err)
					}
				}
				o.GlobalBatchSize = accumulation * o.LocalBatchSize * ranks
				findings, _ := findingsOnSim(t, o)
				if got := foundOnSim(findings, ""); got != "" {
					t.Errorf("%s on %d ranks, %d micro-batches: found %s", options, ranks, accumulation, got)
				}
			}
		}
	}
}
