package main

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
	"github.com/gaprof/gaprof/internal/ingest"
	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/reference/cpu"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/kineto"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/sidecar"
)

// trainJob is a run of the reference trainer with its observers.
type trainJob struct {
	options reference.Options
	backend device.Backend // nil is the cpu
	window  kineto.Window
	dataset int // micro-batches in total, over all ranks; 0: endless

	opened    func(o reference.Options, accumulation int)          // the plan, before the first step
	recorded  func(t *trained, rank int)                           // a rank is simulated; nothing is kept of it then
	stepped   func(s reference.StepResult)                         // after each step
	gradients func(rank, step int, tensors []reference.Tensor)     // nil: none are handed out
	keep      func(reference.Checkpoint)                           // nil: no checkpoints
	keepEvery int                                                  // steps
	message   func(text string)                                    // what the user should know
	span      func(rank int, name string, number int) (end func()) // parts of the program
	failed    atomic.Pointer[error]                                // of a callback
	ranks     []*kineto.Rank
	run       kineto.Run
}

// trained is the outcome of a run.
type trained struct {
	result  reference.Result
	options reference.Options // with defaults and plants filled in
	steps   []reference.StepResult
	job     *trainJob
}

// train runs the job until data or MaxSteps run out or ctx is cancelled.
func (j *trainJob) train(ctx context.Context) (*trained, error) {
	if j.backend == nil {
		j.backend = cpu.Backend{}
	}
	j.options.Target = j.backend.Traits()
	if j.options.Target.Shapes {
		ingest.CollectSeldom()
	}
	effective, err := j.options.Effective()
	if err != nil {
		return nil, err
	}
	text, err := reference.NewText(j.options)
	if err != nil {
		return nil, err
	}
	data := reference.Data(text)
	if j.dataset > 0 {
		data = finite{text, j.dataset, effective.WorldSize}
	}
	if effective.Plant == "TH004" {
		j.window.From, j.window.Behind = max(1, j.window.From), true
	}
	for rank := range effective.WorldSize {
		if j.options.Target.Epoch != 0 { // nothing in a simulation depends on this process
			j.ranks = append(j.ranks, kineto.NewIn(1, rank, j.window))
			continue
		}
		j.ranks = append(j.ranks, kineto.New(rank, j.window))
	}
	out := &trained{options: effective, job: j}
	out.result, err = reference.Run(ctx, j.options, j.backend, data, j.callbacks(out))
	if err == nil && j.failed.Load() != nil {
		err = *j.failed.Load()
	}
	return out, err
}

func (j *trainJob) callbacks(out *trained) reference.Callbacks {
	return reference.Callbacks{
		Recorder: j.recorder(),
		Recorded: func(rank int) {
			if j.recorded != nil {
				j.recorded(out, rank)
				j.ranks[rank].Forget()
			}
		},
		Open: func(o reference.Options, accumulation int, devices []device.Properties) {
			j.run = kineto.Run{World: o.WorldSize, Groups: o.Groups(o.WorldSize), Devices: devices,
				BaseTime: epoch(o.Target), Options: runHeader(o, accumulation), Unnumbered: o.Plant == "TH003"}
			if j.opened != nil {
				j.opened(o, accumulation)
			}
		},
		Step: func(s reference.StepResult) {
			out.steps = append(out.steps, s)
			if j.stepped != nil {
				j.stepped(s)
			}
		},
		Gradients: j.gradients, Checkpoint: j.keep, CheckpointEvery: j.keepEvery,
		Message: j.message,
		Span:    j.span,
	}
}

// epoch is what the times of traces are relative to, in ns since the Unix epoch.
func epoch(t device.Traits) int64 {
	if t.Epoch != 0 {
		return t.Epoch
	}
	return time.Now().Truncate(time.Second).UnixNano()
}

// noSteps is the window in which nothing is recorded.
var noSteps = kineto.Window{From: math.MaxInt, To: math.MaxInt}

// recorder is what records the ranks, nil if nothing is to be recorded.
func (j *trainJob) recorder() func(rank int) device.Recorder {
	if j.window == noSteps {
		return nil
	}
	return func(rank int) device.Recorder { return j.ranks[rank] }
}

// fail keeps the first error of a callback. The run continues.
func (j *trainJob) fail(err error) {
	if err != nil {
		j.failed.CompareAndSwap(nil, &err)
	}
}

// runHeader is the value of the key "gaprof" in a trace: the options of the run, by the
// names of their flags.
func runHeader(o reference.Options, accumulation int) map[string]any {
	header := map[string]any{"version": version, "backend": o.Target.Name, "accumulation_steps": accumulation}
	options := make(map[string]any)
	for _, f := range o.Fields() {
		switch p := f.Value.(type) {
		case *string:
			options[f.Name] = *p
		case *int:
			options[f.Name] = *p
		case *float64:
			options[f.Name] = *p
		case *bool:
			options[f.Name] = *p
		}
	}
	header["options"], header["seed"] = options, o.Seed
	return header
}

// trace returns the trace of a rank.
func (t *trained) trace(rank int) *trace.Trace {
	if rank < t.result.Ranks {
		return t.job.ranks[rank].Trace(t.job.run)
	}
	return t.job.ranks[0].TraceAs(rank, t.job.run)
}

// tokens returns the token log: every micro-batch of every rank, as counted by the loop.
func (t *trained) tokens() []sidecar.TokenCount {
	var list []sidecar.TokenCount
	for _, s := range t.steps {
		for _, r := range s.Ranks {
			all := int64(-1) // a loop that does not reduce its counts does not know
			if r.GlobalTokens > 0 {
				all = r.GlobalTokens
			}
			for j, n := range r.Tokens {
				list = append(list, sidecar.TokenCount{Rank: int64(r.Rank), Step: int64(s.Step), MicroBatch: int64(j),
					Tokens: n, Global: all})
			}
		}
	}
	return list
}

// losses returns the loss log.
func (t *trained) losses() *sidecar.LossLog {
	log := new(sidecar.LossLog)
	for _, s := range t.steps {
		for _, r := range s.Ranks {
			for j, sum := range r.LossSums {
				log.Micro = append(log.Micro, sidecar.MicroLoss{Rank: int64(r.Rank), Step: int64(s.Step),
					MicroBatch: int64(j), Sum: sum, Tokens: r.Tokens[j]})
				if what := notFinite(sum); what != "" && r.Tokens[j] > 0 && !t.options.Target.Shapes {
					log.Bad = append(log.Bad, sidecar.BadLoss{Rank: int64(r.Rank), Step: int64(s.Step),
						MicroBatch: int64(j), What: what})
				}
			}
		}
		log.Steps = append(log.Steps, sidecar.StepLoss{Step: int64(s.Step), Logged: s.Logged, Optimised: s.Optimized})
	}
	return log
}

// asSafetensors converts tensors, in the precision of the run.
func asSafetensors(tensors []reference.Tensor, dtype string) []sidecar.Tensor {
	list := make([]sidecar.Tensor, len(tensors))
	for i, from := range tensors {
		to := sidecar.Tensor{Name: from.Name, Dtype: sidecar.F32, Values: from.Values}
		if dtype == "float64" {
			to.Dtype = sidecar.F64
		}
		for _, n := range from.Shape {
			to.Shape = append(to.Shape, int64(n))
		}
		list[i] = to
	}
	return list
}

// finite is data that ends after n micro-batches, dealt to the ranks in turn.
type finite struct {
	reference.Data
	n, world int
}

// Len returns how many of them a rank gets.
func (d finite) Len(rank int) int { return (d.n + d.world - 1 - rank) / d.world }

// report analyzes the run as gaprof analyze would analyze its files.
func (t *trained) report() *report.Report {
	a := analyze.New(analyze.Options{
		Version: version,
		Rules:   rules.All(),
		Logs:    analyze.Logs{Losses: t.losses()},
		Choices: flagNames,
	})
	for rank := range t.options.WorldSize {
		a.Add(rank, analyze.Input{File: fmt.Sprintf("rank%d.json.gz", rank), Trace: t.trace(rank)})
	}
	return a.Result().Report
}
