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

// Run trains. It ends when MaxSteps are done, when the data has no further step for
// every rank, or when ctx is cancelled: then after the step that is under way on some
// rank, and that is no error. Options that cannot be are an *OptionError.
func Run(ctx context.Context, o Options, b device.Backend, d Data, c Callbacks) (Result, error) {
	if o.Vocabulary == 0 {
		o.Vocabulary = d.Vocabulary()
	}
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
	if p.has(partialWindow) {
		d = limited{d, p.MaxSteps*p.accumulation - 1}
	}
	g, err := newGate(&p, d)
	if err != nil {
		return Result{}, err
	}
	members, err := b.Open(deviceConfig(&p, c))
	if err != nil {
		return Result{}, err
	}
	r := run{plan: &p, data: d, gate: g, callbacks: &c, collector: newCollector(&p, &c)}
	return r.train(ctx, members)
}

func deviceConfig(p *plan, c Callbacks) device.Config {
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

// run is what the ranks of one run share.
type run struct {
	plan      *plan
	data      Data
	gate      *gate
	callbacks *Callbacks
	collector *collector
}

// train runs the ranks, each on a goroutine of its own, and waits for all of them.
func (r *run) train(ctx context.Context, members []device.Member) (Result, error) {
	r.open(members)
	begin := time.Now()
	errs := make([]error, len(members))
	var all sync.WaitGroup
	for i, m := range members {
		all.Go(func() { errs[i] = r.dispatch(ctx, m) })
	}
	all.Wait()
	c := r.collector
	result := Result{Steps: c.steps, Tokens: c.tokens, End: r.gate.end(), Duration: time.Since(begin)}
	if result.End == EndData && r.gate.partial && r.callbacks.Message != nil {
		r.callbacks.Message(fmt.Sprintf("Ran out of data inside an accumulation of %d micro-batches; "+
			"last step was canceled. %d steps are done.", r.plan.accumulation, result.Steps))
	}
	return result, errors.Join(distinct(errs)...)
}

func (r *run) open(members []device.Member) {
	if r.callbacks.Open == nil {
		return
	}
	var properties []device.Properties
	for _, m := range members {
		properties = append(properties, m.Device.Properties())
	}
	r.callbacks.Open(r.plan.Options, r.plan.accumulation, properties)
}

// distinct sorts errors by their texts and drops repetitions: ranks that wait for one
// that has failed return its error.
func distinct(errs []error) []error {
	text := func(err error) string { return fmt.Sprint(err) }
	slices.SortStableFunc(errs, func(a, b error) int { return strings.Compare(text(a), text(b)) })
	return slices.CompactFunc(errs, func(a, b error) bool { return text(a) == text(b) })
}

// dispatch is the dispatch thread of one rank. It is a thread of its own because traces
// show it as one.
func (r *run) dispatch(ctx context.Context, m device.Member) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer m.Device.Close()
	one := newRank(r, m)
	if err := one.train(ctx, r.gate); err != nil {
		m.Device.Fail(err)
		return err
	}
	one.exportWeights()
	return nil
}
