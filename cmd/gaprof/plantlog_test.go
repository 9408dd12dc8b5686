package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/internal/ingest"
	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/reference/cpu"
	"github.com/gaprof/gaprof/trace/sidecar"
)

// plantFlags are those of a run that trains in a moment, in the precision of the checks. Its
// weights stay as they are, so that each step has gradients of the same.
const plantFlags = "--layers 1 --width 32 --heads 2 --sequence-length 96 --local-batch-size 2 --global-batch-size 8 " +
	"--max-steps 2 --dtype float64 --lr 0 --weight-decay 0"

// cell is a micro-batch of a step: its tokens, before labels are shifted and after, and the
// gradient and the value of its summed loss.
type cell struct {
	shifted, before float64
	gradient        []float64
	loss            float64
}

// Plants that do something to gradients that are right otherwise, by what a micro-batch counts
// in them: c of rank r and micro-batch j of a of them, of n tokens in all. Nothing of this is
// asked of the trainer. All other plants have right gradients, which are the mean over all
// tokens.
var plantedWeights = map[string]func(cells [][]cell, r, j int) float64{
	"NM001": func(cells [][]cell, r, _ int) float64 { return 1 / (ranksOf(cells) * tally(cells[r:r+1])) },
	"NM002": microMean,
	"NM004": func(cells [][]cell, r, j int) float64 { // of a window that lacks its last micro-batch
		k := float64(len(cells[r]))
		return microMean(cells, r, j) * k / (k + 1)
	},
	"NM003": overRanks, "torchtune_1917_merged": overRanks, "torchtune_2543": overRanks, "tnt_1049_literal": overRanks,
	"GS007": lastOnly, "nathan_az_literal": lastOnly, "zero_grad_each_microbatch": lastOnly,
	"torchtune_2172_preshift_count": func(cells [][]cell, r, j int) float64 {
		before := 0.0
		for _, row := range cells {
			for _, c := range row {
				before += c.before
			}
		}
		return cells[r][j].before / cells[r][j].shifted / before
	},
	"micro_mean_no_rescale": func(cells [][]cell, r, j int) float64 {
		return 1 / (ranksOf(cells) * cells[r][j].shifted)
	},
	"tnt_pre1049": func(cells [][]cell, r, _ int) float64 { return 1 / (ranksOf(cells) * float64(len(cells[r]))) },
	"ddp_sum_hook_sync_every_microbatch": func(cells [][]cell, r, j int) float64 {
		return math.Pow(ranksOf(cells), float64(len(cells[r])-1-j)) / tally(cells)
	},
	"scale_each_microbatch_ema": func(cells [][]cell, r, j int) float64 {
		return math.Pow(float64(len(cells[r])), float64(j-len(cells[r]))) / tally(cells)
	},
	"accum1_skip_naive_distributed": microMean,
	"CL004":                         nil, // what a clipped gradient is a sum of, no weights say
	"OP002":                         nil, // the optimizer steps on parts of it
	"GS008":                         nil, // gradients of other steps are in it
}

func ranksOf(cells [][]cell) float64 { return float64(len(cells)) }

func tally(cells [][]cell) (n float64) {
	for _, row := range cells {
		for _, c := range row {
			n += c.shifted
		}
	}
	return n
}

func microMean(cells [][]cell, r, j int) float64 {
	return 1 / (ranksOf(cells) * float64(len(cells[r])) * cells[r][j].shifted)
}

func overRanks(cells [][]cell, _, _ int) float64 { return 1 / (ranksOf(cells) * tally(cells)) }

func lastOnly(cells [][]cell, r, j int) float64 {
	if j < len(cells[r])-1 {
		return 0
	}
	return 1 / tally(cells)
}

// TestPlantsByTheirGradients: what each plant does to the gradients of its last step, as train
// --gradients writes them, what it logs, and what norm and the gate say of it.
func TestPlantsByTheirGradients(t *testing.T) {
	dir := t.TempDir()
	config := normGate(t, dir)
	for _, plant := range reference.Plants() {
		o := reference.Defaults()
		o.Plant = plant
		if o.Validate() != nil || plant == "TH001" || plant == "TH004" {
			continue // it shows on a GPU only, or of a part of the recording
		}
		run := filepath.Join(dir, plant)
		flags := "train -q --gradients --plant " + plant + " " + plantFlags + " -o " + run
		if code, _, stderr := runWith("", strings.Fields(flags)...); code != exitOK {
			t.Fatalf("%s: %s", plant, stderr)
		}
		cells := cellsOf(t, plant)
		weights, faulty := plantedWeights[plant]
		right := func([][]cell, int, int) float64 { return 1 / tally(cells) }
		if !faulty {
			weights = right
		}
		found := flat(t, filepath.Join(run, gradientsDir, "rank0-step1.safetensors"))
		if off := apart(found, mixed(cells, right)); (off > 1e-9) != (faulty && plant != "OP002") {
			t.Errorf("%s: gradients are off by %.2g", plant, off)
		}
		if weights != nil {
			if off := apart(found, mixed(cells, weights)); off > 1e-9 {
				t.Errorf("%s: gradients are off by %.2g from what it says it does", plant, off)
			}
		}
		checkLoggedLoss(t, plant, run, cells, weights)
		checkVerdicts(t, plant, run, config, faulty)
	}
}

// checkLoggedLoss compares the loss that a run logs to follow with that whose gradient it has.
func checkLoggedLoss(t *testing.T, plant, run string, cells [][]cell, weights func([][]cell, int, int) float64) {
	t.Helper()
	log, err := ingest.ReadLossLog(filepath.Join(run, lossFile), ingest.Limits{})
	must(t, err)
	got, want := log.Steps[1].Optimised, math.NaN()
	if weights != nil {
		want = 0
		for r, row := range cells {
			for j, c := range row {
				want += weights(cells, r, j) * c.loss
			}
		}
	}
	if math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > 1e-9*math.Abs(want) {
		t.Errorf("%s: logs to follow %v, which is %v", plant, got, want)
	}
}

// TestTracesOverruleLogs: a loop whose trace shows that its micro-batches do not add up may log
// that they do, or nothing: nobody says then that all tokens count equally.
func TestTracesOverruleLogs(t *testing.T) {
	dir := t.TempDir()
	for _, plant := range []string{"GS007", "CL004", "OP002"} {
		run := filepath.Join(dir, plant)
		flags := "train -q --plant " + plant + " " + plantFlags + " --max-steps 4 -o " + run
		if code, _, stderr := runWith("", strings.Fields(flags)...); code != exitOK {
			t.Fatalf("%s: %s", plant, stderr)
		}
		file := filepath.Join(run, lossFile)
		log, err := ingest.ReadLossLog(file, ingest.Limits{})
		must(t, err)
		for i := range log.Steps {
			sum, n := 0.0, int64(0)
			for _, m := range log.Micro {
				if m.Step == log.Steps[i].Step {
					sum, n = sum+m.Sum, n+m.Tokens
				}
			}
			log.Steps[i].Optimised = sum / float64(n)
		}
		for _, lies := range []bool{true, false} {
			must(t, os.Remove(file)) // and then there is none
			if lies {
				f, err := os.Create(file)
				must(t, err)
				must(t, sidecar.WriteLosses(f, log))
				must(t, f.Close())
			}
			_, out, stderr := runWith("", "norm", "-q", run)
			code, _, _ := runWith("", "check", "-q", run, "--config", normGate(t, dir))
			alike := strings.Contains(out, "counts equally, as it should")
			if !strings.Contains(out, plant+" ") || alike || code == exitOK {
				t.Errorf("%s, which says all is right: %v: exit %d\n%s%s", plant, lies, code, out, stderr)
			}
		}
	}
}

// normGate writes a configuration that asks for the right weights of tokens.
func normGate(t *testing.T, dir string) string {
	t.Helper()
	file := filepath.Join(dir, "gate.yaml")
	must(t, os.WriteFile(file, []byte("version: 1\nbudgets: {norm.max_weight_error: [error, {max: 1e-3}]}\n"), 0o666))
	return file
}

// checkVerdicts: nobody says of wrong gradients that all tokens count equally.
func checkVerdicts(t *testing.T, plant, run, config string, faulty bool) {
	t.Helper()
	_, out, stderr := runWith("", "norm", "-q", run, "--format", "json")
	var norm struct {
		Verdict struct{ Rule, Severity, Message string }
	}
	if err := json.Unmarshal([]byte(out), &norm); err != nil {
		t.Fatalf("%s: %v %s", plant, err, stderr)
	}
	v := norm.Verdict
	code, _, _ := runWith("", "check", "-q", run, "--config", config)
	switch unknown := plant == "CL004" || plant == "torchtune_2172_preshift_count"; {
	case !faulty:
		if v.Rule != "" || !strings.HasPrefix(v.Message, "every token counts equally, as it should") || code != exitOK {
			t.Errorf("%s: exit %d, norm says %v", plant, code, v)
		}
	case strings.HasPrefix(v.Message, "every token"), !unknown && (v.Severity != "error" || code != exitGate),
		unknown && code != exitInconclusive:
		t.Errorf("%s: exit %d, norm says %v", plant, code, v)
	}
}

// cellsOf are the micro-batches of the second step of a plant's run, each by itself: one rank, one
// micro-batch, the sum of its losses, divided by nothing.
func cellsOf(t *testing.T, plant string) [][]cell {
	t.Helper()
	o := reference.Defaults()
	flags := strings.Fields(plantFlags)
	for i := 0; i < len(flags); i += 2 {
		must(t, o.Set(strings.TrimPrefix(flags[i], "--"), flags[i+1]))
	}
	o.Plant = plant
	text, err := reference.NewText(o)
	must(t, err)
	effective, err := o.Effective()
	must(t, err)
	micros, err := o.Accumulation()
	must(t, err)
	left := 0
	if plant == "NM004" {
		left = 1 // the data ends before the last micro-batch
	}
	cells := make([][]cell, effective.WorldSize)
	for r := range cells {
		rows := 1 // times as many as others have
		if factor, ok := strings.CutPrefix(effective.MoreRows, fmt.Sprint(r)+"="); ok {
			rows, err = strconv.Atoi(factor)
			must(t, err)
		}
		for j := micros; j < 2*micros-left; j++ {
			var b reference.Batch
			for k := range rows {
				part := text.Batch(r, j*rows+k)
				b.Tokens, b.Labels = append(b.Tokens, part.Tokens...), append(b.Labels, part.Labels...)
				b.Targets = append(b.Targets, part.Targets...)
			}
			cells[r] = append(cells[r], alone(t, effective, text.Vocabulary(), b, nil))
		}
	}
	return cells
}

// alone trains on one micro-batch, from weights where there are any.
func alone(t *testing.T, like reference.Options, words int, b reference.Batch, weights map[string][]float64) cell {
	t.Helper()
	o := reference.Defaults()
	o.Shape, o.Seed, o.DType, o.Weights = like.Shape, like.Seed, like.DType, weights
	o.WorldSize, o.GlobalBatchSize, o.MaxSteps, o.Straggler = 1, -1, 1, ""
	o.LocalBatchSize = len(b.Tokens) / o.SequenceLength
	o.Normalization, o.LossReduction = "sum", "sum"
	var c cell
	for i := range b.Labels {
		c.shifted, c.before = c.shifted+oneIf(b.Targets[i] >= 0), c.before+oneIf(b.Labels[i] >= 0)
	}
	data := reference.Batches{Words: words, Ranks: [][]reference.Batch{{b}}}
	_, err := reference.Run(context.Background(), o, cpu.Backend{Cores: 1}, data, reference.Callbacks{
		Gradients: func(_, _ int, list []reference.Tensor) {
			for _, g := range list {
				c.gradient = append(c.gradient, g.Values...)
			}
		},
		Step: func(s reference.StepResult) { c.loss = s.Ranks[0].LossSums[0] },
	})
	must(t, err)
	return c
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// mixed is the sum of the gradients of all cells, each times its weight.
func mixed(cells [][]cell, weights func([][]cell, int, int) float64) []float64 {
	sum := make([]float64, len(cells[0][0].gradient))
	for r, row := range cells {
		for j, c := range row {
			for i, v := range c.gradient {
				sum[i] += weights(cells, r, j) * v
			}
		}
	}
	return sum
}

// apart is |a-b| / |b|.
func apart(a, b []float64) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	var dd, bb float64
	for i := range a {
		dd, bb = dd+(a[i]-b[i])*(a[i]-b[i]), bb+b[i]*b[i]
	}
	return math.Sqrt(dd / bb)
}

// flat is all gradients of a file, in the order of the model.
func flat(t *testing.T, path string) (values []float64) {
	t.Helper()
	file, err := sidecar.OpenSafetensors(path)
	must(t, err)
	defer file.Close()
	for i := range file.Tensors {
		v, err := file.Values(&file.Tensors[i], nil)
		must(t, err)
		values = append(values, v...)
	}
	return values
}

// TestGradientsAreDerivatives: the gradients that all of the above rests on are how the loss
// changes with the weights, by differences.
func TestGradientsAreDerivatives(t *testing.T) {
	o := reference.Defaults()
	o.Layers, o.Width, o.Heads, o.SequenceLength, o.LocalBatchSize, o.DType = 1, 8, 1, 16, 2, "float64"
	text, err := reference.NewText(o)
	must(t, err)
	initial := make(map[string][]float64)
	var names []string
	first := o
	first.WorldSize, first.GlobalBatchSize, first.MaxSteps, first.LearningRate, first.WeightDecay = 1, -1, 1, 0, 0
	_, err = reference.Run(context.Background(), first, cpu.Backend{Cores: 1}, text, reference.Callbacks{
		Weights: func(_ int, list []reference.Tensor) {
			for _, w := range list {
				names, initial[w.Name] = append(names, w.Name), w.Values
			}
		},
	})
	must(t, err)
	batch := text.Batch(0, 0)
	c := alone(t, o, text.Vocabulary(), batch, initial)
	moved := func(by float64) (map[string][]float64, float64) {
		weights, slope, at := make(map[string][]float64), 0.0, 0
		for _, name := range names {
			for i, v := range initial[name] {
				direction := math.Sin(float64(7*at + i + 1))
				weights[name] = append(weights[name], v+by*direction)
				slope += direction * c.gradient[at+i]
			}
			at += len(initial[name])
		}
		return weights, slope
	}
	const by = 1e-5
	up, slope := moved(by)
	down, _ := moved(-by)
	more, less := alone(t, o, text.Vocabulary(), batch, up), alone(t, o, text.Vocabulary(), batch, down)
	got := (more.loss - less.loss) / (2 * by)
	if math.Abs(got-slope) > 1e-6*math.Abs(slope) || slope == 0 {
		t.Errorf("the loss changes by %v, its gradient says %v", got, slope)
	}
}
