package reference

import (
	"fmt"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// inputs holds the micro-batches of a step in the device memory of one rank. Buffers are
// reused by every step: the compute stream orders the copies after the last use.
type inputs struct {
	plan    *plan
	dev     *device.Rank
	data    Data
	tokens  []*device.Buffer // by micro-batch
	targets []*device.Buffer
	labels  *device.Buffer // unshifted, for the plant that counts those; else nil
	valid   []int64        // targets by micro-batch, as counted by the host
}

func newInputs(p *plan, dev *device.Rank, data Data) *inputs {
	in := &inputs{plan: p, dev: dev, data: data}
	rows := rowsOf(p, dev.Index)
	for range p.accumulation {
		in.tokens = append(in.tokens, dev.Malloc(device.I64, rows, p.SequenceLength))
		in.targets = append(in.targets, dev.Malloc(device.I64, rows, p.SequenceLength))
	}
	if p.has(preshiftCount) {
		in.labels = dev.Malloc(device.I64, rows*p.SequenceLength)
	}
	return in
}

// micros returns the number of micro-batches of a step. It is less than the accumulation
// only in the last step of the plant that takes a partial one.
func (in *inputs) micros(step int) int {
	a := in.plan.accumulation
	return min(a, in.data.Len(in.dev.Index)-step*a)
}

// fetch loads a micro-batch, in the thread that dispatches. The span is that of PyTorch's
// loader without workers. Where tensors have no contents, only its targets are counted.
func (in *inputs) fetch(micro int) (Batch, error) {
	defer in.dev.Range("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__")()
	in.dev.Sleep(in.plan.loading.of(in.dev.Index))
	if in.plan.Target.Shapes {
		in.valid = append(in.valid, int64(validOf(in.data, in.dev.Index, micro)))
		return Batch{}, nil
	}
	b := in.data.Batch(in.dev.Index, micro)
	if err := checkBatch(b, in.tokens[0].N, in.plan.Vocabulary); err != nil {
		return b, err
	}
	in.valid = append(in.valid, int64(b.Valid()))
	return b, nil
}

// load copies the micro-batches of a step to the device and counts their tokens there.
func (in *inputs) load(step, micros int, counts []*device.Buffer) error {
	in.valid = nil // do not reuse: the previous step still refers to its own
	for j := range micros {
		b, err := in.fetch(step*in.plan.accumulation + j)
		if err != nil {
			return fmt.Errorf("rank %d, step %d, micro-batch %d: %w", in.dev.Index, step, j, err)
		}
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
