package main

import (
	"context"
	"errors"
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

// cleanRow is a model with its default options on simulated H100, its gradients and optimizer kept in a way.
type cleanRow struct {
	model, keeps, options string
	ranks                 []int
	above                 map[int]string // rules that are above a note, by ranks
}

// rootGathers says why OV009 is there: the table of embeddings is in the unit of the whole network, which is gathered
// at the beginning of every micro-batch, as in FSDP2. It waits for the optimizer, and nothing is left to compute beside
// it. Over 64 ranks the gathers take longer; of a large model they are more.
const rootGathers = "OV009"

// lastBucket says why OV008 is there: the last bucket is reduced after backward, whatever one does, and holds the
// gradient of the embedding.
const lastBucket = "OV008"

// cleanRows are the models of the table. Of others nothing else is to be expected, and this takes long enough.
var cleanRows = []cleanRow{
	{"gpt2", "DDP", "", []int{1, 2, 8, 64}, nil},
	{"gpt2", "ZeRO-1", "reduce-scatter=hook", []int{2, 8, 64}, nil},
	{"gpt2", "full", "sharding=full", []int{1, 2, 8, 64}, map[int]string{64: rootGathers}},
	{"gpt2", "HSDP", "sharding=full replicas=2", []int{2, 8, 64}, nil},
	{"gpt2-xl", "DDP", "", []int{1, 8}, nil},
	{"gpt2-xl", "full", "sharding=full", []int{8}, nil},
	{"modded-nanogpt", "DDP", "", []int{1, 2, 8, 64}, map[int]string{64: lastBucket}},
	{"modded-nanogpt", "ZeRO-1", "reduce-scatter=hook", []int{2, 8, 64}, nil},
	{"llama-3.2-1b", "DDP", "", []int{1, 2, 8, 64}, nil},
	{"llama-3.2-1b", "ZeRO-1", "reduce-scatter=hook", []int{2, 8, 64}, nil},
	{"llama-3.2-1b", "full", "sharding=full", []int{1, 2, 8, 64}, nil},
	{"llama-3.2-1b", "HSDP", "sharding=full replicas=2", []int{2, 8, 64}, nil},
	{"llama-3.1-8b", "DDP", "", []int{1, 8}, nil},
	{"llama-3.1-8b", "ZeRO-1", "reduce-scatter=hook", []int{8}, nil},
	{"llama-3.1-8b", "full", "sharding=full", []int{8, 64}, map[int]string{8: rootGathers, 64: rootGathers}},
	{"llama-3.1-8b", "HSDP", "sharding=full replicas=2", []int{8}, map[int]string{8: rootGathers}},
}

// manyParameters is from how many ranks of which models only two ranks are analysed, for time's sake: they are equal.
var manyParameters = []string{"gpt2-xl", "llama-3.1-8b", "llama-3.2-1b"}

// TestCleanDefaults: what `gaprof train --device sim:h100x8` does of itself with every model has nothing above a note,
// but for what is really there, and docs/simulation.md says so.
func TestCleanDefaults(t *testing.T) {
	table := "| model | gradients and optimizer | 1 | 2 | 8 | 64 ranks |\n|---|---|---|---|---|---|\n"
	for _, row := range cleanRows {
		table += fmt.Sprintf("| `%s` | %s |", row.model, row.keeps)
		for _, ranks := range []int{1, 2, 8, 64} {
			if !slices.Contains(row.ranks, ranks) || testing.Short() && (row.model != "gpt2" || ranks > 2) {
				table += " |"
				continue
			}
			found, cell := defaultsOn(t, row, ranks)
			if found != row.above[ranks] {
				t.Errorf("%s %s on %d ranks: %s", row.model, row.options, ranks, cell)
			}
			table += " " + cell + " |"
		}
		table += "\n"
	}
	if !testing.Short() {
		pageHas(t, "../../docs/simulation.md", "clean", table)
	}
}

// defaultsOn runs a row and returns the rules above a note, and what the table says of them.
func defaultsOn(t *testing.T, row cleanRow, ranks int) (found, cell string) {
	t.Helper()
	machine, err := sim.Lookup("h100x8")
	if err != nil {
		t.Fatal(err)
	}
	backend := sim.Backend{Machine: machine}
	o := reference.DefaultsOn(backend.Traits())
	o.Model, o.WorldSize, o.MaxSteps = row.model, ranks, 3
	for _, word := range strings.Fields(row.options) {
		name, value, _ := strings.Cut(word, "=")
		if err := o.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	if o.Replicas > 1 && ranks > 8 {
		o.Replicas = ranks / 8 // a replica on each node
	}
	run, err := (&trainJob{options: o, backend: backend, window: kineto.All}).train(context.Background())
	var refused *reference.OptionError
	if errors.As(err, &refused) && refused.Option == "device" {
		_, need, _ := strings.Cut(refused.Reason, "wants ")
		need, _, _ = strings.Cut(need, " of each")
		return "", "wants " + need
	}
	if err != nil {
		t.Fatal(err)
	}
	a := analyze.New(analyze.Options{Rules: rules.All(), Logs: analyze.Logs{Tokens: run.tokens()}})
	analysed := min(8, ranks)
	if slices.Contains(manyParameters, row.model) {
		analysed = min(2, ranks)
	}
	for rank := range analysed {
		a.Add(rank, analyze.Input{File: fmt.Sprintf("rank%d.json.gz", rank), Trace: run.trace(rank)})
	}
	var list, figures []string
	for _, f := range a.Result().Report.Findings {
		if f.Severity.AtLeast(report.Warn) {
			list = append(list, f.Rule)
			figures = append(figures, fmt.Sprintf("`%s`, %.1f %%", f.Rule, 100**f.Share))
		}
	}
	if len(list) == 0 {
		return "", "clean"
	}
	return strings.Join(list, " "), strings.Join(figures, "; ")
}
