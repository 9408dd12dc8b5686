package reference

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gaprof/gaprof/reference/device"
)

// Callbacks are told about a run; those that are nil are not called. Spans are told by
// each rank's own goroutine, the others by one goroutine at a time.
type Callbacks struct {
	// Recorder returns what records a rank; nil, or a nil Recorder, records nothing.
	Recorder func(rank int) device.Recorder
	// Open is told the plan before the first step: options with defaults and plants
	// filled in, accumulation steps, and the device of each rank.
	Open func(o Options, accumulation int, devices []device.Properties)
	// Step is called when all ranks have finished a step, in order. A step is read
	// back while the next one runs.
	Step func(StepResult)
	// Gradients makes every rank hand out its whole gradients just before clipping and
	// optimizer, already multiplied by what clipping or optimizer would still multiply
	// them by, in the order of parameters; parameters whose optimizer does not step are
	// missing. Shards are gathered for it, which adds collectives to the run.
	Gradients func(rank, step int, gradients []Tensor)
	// Weights is called at the end with the parameters of a rank.
	Weights func(rank int, weights []Tensor)
	// Message is told what a user should know: that data ended inside a window.
	Message func(text string)
	// Span brackets train.step, micro_batch, forward, backward, reduce_scatter and
	// optimizer on the dispatch thread of a rank; number is the step, or the
	// micro-batch of micro_batch and forward. The function returned ends it.
	Span func(rank int, name string, number int) (end func())
}

// Tensor is a parameter, or the gradient of one, on the host.
type Tensor struct {
	Name   string
	Shape  []int
	Values []float64
}

// RankStep is what one rank knows of a step when it is over.
type RankStep struct {
	Rank         int
	LossSums     []float64 // by micro-batch: the sum over valid targets
	Tokens       []int64   // by micro-batch, as the loop counts them
	LocalTokens  int64
	GlobalTokens int64   // as all-reduced by the loop; 0 where it does not
	GradNorm     float64 // before clipping; NaN without clipping
	ClipCoef     float64 // NaN without clipping
	Factor       float64 // that losses or gradients are multiplied by; NaN where there is none
	ReducedLoss  float64 // the sum over all ranks as all-reduced by the loop; NaN where it is not
}

// StepResult is a step of all ranks.
type StepResult struct {
	Step         int
	MicroBatches int
	Ranks        []RankStep
	Tokens       int64   // valid targets of all ranks and micro-batches
	Loss         float64 // the mean over Tokens; 0 without any
	Logged       float64 // what a loop of these options logs as its loss, on rank 0
}

// Why a run ended.
const (
	EndSteps  = "steps"  // all steps are done
	EndData   = "data"   // the data is used up
	EndCancel = "cancel" // the context was
)

// Result is what a run has done.
type Result struct {
	Steps    int // finished
	Tokens   int64
	End      string
	Duration time.Duration
}

// Run trains. A context that is cancelled ends the run after the step that is under
// way on some rank; that is no error. Options that cannot be are an *OptionError.
func Run(ctx context.Context, o Options, b device.Backend, d Data, c Callbacks) (Result, error) {
	if o.Vocabulary == 0 {
		o.Vocabulary = d.Vocabulary()
	}
	p, err := o.plan()
	if err != nil {
		return Result{}, err
	}
	if d.Vocabulary() > p.Vocabulary {
		return Result{}, &OptionError{"vocabulary", fmt.Sprintf("%d is less than the %d tokens of the data", p.Vocabulary, d.Vocabulary()), "leave it out"}
	}
	if err := p.checkWeights(); err != nil {
		return Result{}, err
	}
	if p.bug&partialWindow != 0 {
		d = limited{d, p.MaxSteps*p.accumulation - 1}
	}
	g, err := p.newGate(d)
	if err != nil {
		return Result{}, err
	}
	members, err := b.Open(p.config(c))
	if err != nil {
		return Result{}, err
	}
	return p.run(ctx, g, members, d, &c)
}

func (p *plan) config(c Callbacks) device.Config {
	config := device.Config{World: p.WorldSize, Slowdown: p.slow}
	if c.Recorder != nil {
		for rank := range p.WorldSize {
			config.Record = append(config.Record, c.Recorder(rank))
		}
	}
	return config
}

// checkWeights refuses weights of other parameters or other sizes.
func (p *plan) checkWeights() error {
	if p.Weights == nil {
		return nil
	}
	specs := models[p.Model].specs(p)
	for _, s := range specs {
		if got, ok := p.Weights[s.name]; !ok || len(got) != device.Elements(s.shape) {
			return fmt.Errorf("weights: %s has %d elements, %d are wanted", s.name, len(got), device.Elements(s.shape))
		}
	}
	if len(p.Weights) != len(specs) {
		return fmt.Errorf("weights: %d parameters, the model has %d", len(p.Weights), len(specs))
	}
	return nil
}

func (p *plan) run(ctx context.Context, g *gate, members []device.Member, d Data, c *Callbacks) (Result, error) {
	if c.Open != nil {
		var properties []device.Properties
		for _, m := range members {
			properties = append(properties, m.Device.Properties())
		}
		c.Open(p.Options, p.accumulation, properties)
	}
	begin := time.Now()
	collector := &collector{plan: p, callbacks: c, open: make(map[int]*StepResult)}
	errs := make([]error, len(members))
	var all sync.WaitGroup
	for i, m := range members {
		all.Go(func() { errs[i] = p.runRank(ctx, g, m, d, collector) })
	}
	all.Wait()
	result := Result{Steps: collector.steps, Tokens: collector.tokens, End: g.end(ctx), Duration: time.Since(begin)}
	if result.End == EndData && g.partial && c.Message != nil {
		c.Message(fmt.Sprintf("Ran out of data inside an accumulation of %d micro-batches; last step was canceled. %d steps are done.", p.accumulation, result.Steps))
	}
	slices.SortStableFunc(errs, func(a, b error) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return result, errors.Join(slices.CompactFunc(errs, func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) })...)
}

// runRank is the dispatch thread of one rank.
func (p *plan) runRank(ctx context.Context, g *gate, m device.Member, d Data, c *collector) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer m.Device.Close()
	r := newRank(p, m, d, c.callbacks)
	r.collector = c
	if err := r.train(ctx, g); err != nil {
		m.Device.Fail(err)
		return err
	}
	r.handWeights()
	return nil
}
