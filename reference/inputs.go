package reference

import (
	"fmt"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// inputs are the micro-batches of a step in the memory of one rank's device.
type inputs struct {
	plan    *plan
	dev     *device.Rank
	data    Data
	tokens  []*device.Buffer // by micro-batch
	targets []*device.Buffer
	labels  *device.Buffer // before the shift, where those are counted; else nil
	valid   []int64        // targets by micro-batch, as the host has counted them
}

func newInputs(p *plan, dev *device.Rank, data Data) *inputs {
	in := &inputs{plan: p, dev: dev, data: data}
	for range p.accumulation {
		in.tokens = append(in.tokens, dev.Malloc(device.I64, p.LocalBatchSize, p.SequenceLength))
		in.targets = append(in.targets, dev.Malloc(device.I64, p.LocalBatchSize, p.SequenceLength))
	}
	if p.has(preshiftCount) {
		in.labels = dev.Malloc(device.I64, p.LocalBatchSize*p.SequenceLength)
	}
	return in
}

// micros returns how many micro-batches a step has: fewer than the accumulation only in
// the last one, of the plant that steps on a partial window.
func (in *inputs) micros(step int) int {
	a := in.plan.accumulation
	return min(a, in.data.Len(in.dev.Index)-step*a)
}

// load copies the micro-batches of a step to the device and counts their tokens there.
func (in *inputs) load(step, micros int, counts []*device.Buffer) error {
	in.valid = nil // a new one: the step before has not been read back
	for j := range micros {
		b := in.data.Batch(in.dev.Index, step*in.plan.accumulation+j)
		if err := checkBatch(b, in.tokens[j].N, in.plan.Vocabulary); err != nil {
			return fmt.Errorf("rank %d, step %d, micro-batch %d: %w", in.dev.Index, step, j, err)
		}
		in.valid = append(in.valid, int64(b.Valid()))
		in.dev.Upload(in.tokens[j], device.Host{Ints: b.Tokens})
		in.dev.Upload(in.targets[j], device.Host{Ints: b.Targets})
		counted := in.targets[j]
		if in.labels != nil {
			in.dev.Upload(in.labels, device.Host{Ints: b.Labels})
			counted = in.labels
		}
		in.dev.Run(ops.CountTokens{Count: counts[j], Labels: counted})
	}
	return nil
}
