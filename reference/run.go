package reference

import (
	"cmp"
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

// Run trains until data or MaxSteps run out or ctx is cancelled. Cancellation is not an
// error: every rank completes the step that any rank has begun, and Result.End says so.
// Options that cannot be run are reported as an *OptionError before a device is opened.
func Run(ctx context.Context, o Options, b device.Backend, d Data, c Callbacks) (Result, error) {
	if o.Shape.Filled().Vocabulary == 0 {
		o.Vocabulary = d.Vocabulary()
	}
	o.Target = b.Traits()
	p, err := o.plan()
	if err != nil {
		return Result{}, err
	}
	if words := d.Vocabulary(); words > p.Vocabulary {
		reason := fmt.Sprintf("%d is less than the %d tokens of the data", p.Vocabulary, words)
		return Result{}, &OptionError{"vocabulary", reason, "leave it out"}
	}
	if err := p.checkWeights(); err != nil {
		return Result{}, err
	}
	if err := checkResume(&p, &c); err != nil {
		return Result{}, err
	}
	if p.times != nil {
		d = heavier{d, p.times}
	}
	if p.has(partialWindow) {
		d = limited{d, p.MaxSteps*p.accumulation - 1}
	}
	g, err := newGate(&p, d)
	if err != nil {
		return Result{}, err
	}
	members, err := b.Open(deviceConfig(&p, c))
	if err != nil {
		return Result{}, p.refusedBy(err)
	}
	r := run{plan: &p, data: d, gate: g, callbacks: &c, collector: newCollector(&p, d, &c)}
	if p.Target.Shapes {
		r.turns = make(chan struct{}, runtime.GOMAXPROCS(0))
	}
	return r.train(ctx, members)
}

func deviceConfig(p *plan, c Callbacks) device.Config {
	config := device.Config{World: p.WorldSize, Slowdown: p.slow, Equal: p.equal(),
		Groups: p.Groups(p.WorldSize), Recorded: c.Recorded}
	if c.Recorder != nil {
		for rank := range p.WorldSize {
			config.Record = append(config.Record, p.recording(rank, c.Recorder(rank)))
		}
	}
	return config
}

// refusedBy makes the refusal of a backend that of an option, and adds which options would take less memory where that
// is what it lacks.
func (p *plan) refusedBy(err error) error {
	var r *device.Refusal
	if !errors.As(err, &r) {
		return err
	}
	ways := r.WayOut
	if less := p.lessMemory(); r.Option == "device" && less != "" {
		ways += "; less is taken by " + less
	}
	return &OptionError{r.Option, r.Reason, ways}
}

// lessMemory names the options that take less memory than those of the plan, by what they save.
func (p *plan) lessMemory() string {
	var list []string
	for _, way := range []struct {
		when bool
		text string
	}{
		{p.WorldSize > 1 && !p.Full() && p.Family() != "nanogpt" && p.Model != "mlp",
			"`sharding` full (weights, gradients and optimizer state are those of a shard)"},
		{p.Full() && p.accumulation > 1 && p.Sync == "last",
			"`sync` every-micro-batch (gradients are not kept whole)"},
		{p.Full() && p.Replicas > 1, "fewer `replicas`"},
		{p.Backward == "step" && p.accumulation > 1, "`backward` micro-batch (one micro-batch of activations)"},
		{p.Checkpoint == "" && p.Family() != "nanogpt" && p.Model != "mlp",
			"`activation-checkpoint` full or selective (blocks keep their inputs only)"},
		{p.Full() && p.WorldSize < 1024, "more ranks"},
	} {
		if way.when {
			list = append(list, way.text)
		}
	}
	return strings.Join(list, ", ")
}

// equal reports whether all ranks enqueue the same operations after the same delays. Their
// data may differ: no operation depends on it.
func (p *plan) equal() bool {
	return !p.has(ownRecording) && p.slow == nil && p.times == nil && p.loading.equal() && p.launching.equal() &&
		p.pausing.equal()
}

// checkWeights rejects initial weights that do not match the parameters of the model.
func (p *plan) checkWeights() error {
	if p.Weights == nil {
		return nil
	}
	specs := p.Specs()
	for _, s := range specs {
		if got, want := p.Weights[s.Name], device.Elements(s.Shape); len(got) != want {
			return fmt.Errorf("weights: %s has %d elements, %d are wanted", s.Name, len(got), want)
		}
	}
	if len(p.Weights) != len(specs) {
		return fmt.Errorf("weights: %d parameters, the model has %d", len(p.Weights), len(specs))
	}
	return nil
}

// run is the state shared by the ranks of a run.
type run struct {
	plan      *plan
	data      Data
	gate      *gate
	callbacks *Callbacks
	collector *collector
	turns     chan struct{} // of ranks that only write down what they do, as many as there are cores; nil: all at once
}

// turn waits until a rank may go on with a step; done lets another one. Very many ranks that take turns keep what they
// work on in the caches, and all of them are at about the same step when a run is cancelled.
func (r *run) turn() (done func()) {
	if r.turns == nil {
		return func() {}
	}
	r.turns <- struct{}{}
	return func() { <-r.turns }
}

// train runs every rank on its own goroutine and waits for all of them.
func (r *run) train(ctx context.Context, members []device.Member) (Result, error) {
	r.open(members)
	c, begin := r.collector, members[0].Device.Now()
	c.begin(len(members), begin)
	errs, ends := make([]error, len(members)), make([]func() int64, len(members))
	var all sync.WaitGroup
	for i, m := range members {
		all.Go(func() { ends[i], errs[i] = r.dispatch(ctx, m) })
	}
	all.Wait()
	for i, m := range members {
		errs[i] = r.plan.refusedBy(cmp.Or(errs[i], m.Device.Err()))
	}
	if err := errors.Join(distinct(errs)...); err != nil {
		return Result{End: r.gate.end()}, err
	}
	c.release(begin)
	result := Result{Steps: r.plan.Resume.first() + c.steps, Tokens: c.tokens, Ranks: len(members), End: r.gate.end(),
		Duration: lasted(begin, ends)}
	if result.End == EndData && r.gate.partial && r.callbacks.Message != nil {
		r.callbacks.Message(fmt.Sprintf("Ran out of data inside an accumulation of %d micro-batches; "+
			"last step was canceled. %d steps are done.", r.plan.accumulation, result.Steps))
	}
	return result, nil
}

// lasted is from the beginning to the last of the ends.
func lasted(begin func() int64, ends []func() int64) time.Duration {
	last := begin()
	for _, at := range ends {
		last = max(last, at())
	}
	return time.Duration(last - begin())
}

func (r *run) open(members []device.Member) {
	if r.callbacks.Open == nil {
		return
	}
	var properties []device.Properties
	for rank := range r.plan.WorldSize {
		properties = append(properties, members[min(rank, len(members)-1)].Device.Properties())
	}
	r.callbacks.Open(r.plan.Options, r.plan.accumulation, properties)
}

// distinct sorts errors by text and drops duplicates: ranks that wait for a failed rank
// return the error of that rank.
func distinct(errs []error) []error {
	text := func(err error) string { return fmt.Sprint(err) }
	slices.SortStableFunc(errs, func(a, b error) int { return strings.Compare(text(a), text(b)) })
	return slices.CompactFunc(errs, func(a, b error) bool { return text(a) == text(b) })
}

// dispatch runs one rank. It keeps its goroutine on one thread, because traces show the
// dispatch thread of a rank as one; a simulation has no threads.
func (r *run) dispatch(ctx context.Context, m device.Member) (end func() int64, err error) {
	if !r.plan.Target.Shapes {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	defer m.Device.Close()
	one := newRank(r, m)
	if err := one.train(ctx, r); err != nil {
		m.Device.Fail(err)
		return nil, err
	}
	one.exportWeights()
	return m.Device.Now(), nil
}
