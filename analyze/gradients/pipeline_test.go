package gradients

import (
	"fmt"
	"strings"
	"testing"
)

// stage writes a stage of a pipeline: two equal layers whose backward runs on a thread of its
// own, one letter a move: f forward, b backward, m a message of the loop, s the optimizer. loss
// is a node that each backward pass begins with, "" for a stage in the middle.
func stage(moves, loss string, layers int) string {
	var text strings.Builder
	now := 0
	event := func(thread, name, args string) {
		fmt.Fprintf(&text, "1/%s %dus +3us cpu_op %q %s\n", thread, now, name, args)
		now += 4
	}
	for _, m := range moves {
		switch m {
		case 'f':
			event("1", "aten::linear", "")
			event("1", "aten::gelu", "")
		case 'b':
			if loss != "" {
				event("2", "autograd::engine::evaluate_function: "+loss, "")
			}
			for range layers {
				event("2", "autograd::engine::evaluate_function: GeluBackward0", "")
				event("2", "autograd::engine::evaluate_function: AddmmBackward0", "")
				event("2", "torch::autograd::AccumulateGrad", `dims=[[8,8]] type=["float"]`)
				event("2", "torch::autograd::AccumulateGrad", `dims=[[8]] type=["float"]`)
			}
		case 'm':
			event("1", "record_param_comms", "coll=recv in=64 out=64 dtype=Float group=pp gsize=2")
		case 's':
			fmt.Fprintf(&text, "1/1 %dus +3us user_annotation Optimizer.step#AdamW.step\n", now)
			now += 4
		}
	}
	return text.String()
}

// The passes at the end of a step of a pipeline have no forward operators between them, and
// equal layers are no micro-batches.
func TestPipelineStages(t *testing.T) {
	const oneF1B = "ff mfbm mfbm mbm mbm s "
	for _, test := range []struct {
		name, source string
		accumulation int
		micro        int
	}{
		{"a stage in the middle", stage(oneF1B+oneF1B, "", 2), 4, 4},
		{"a stage of three layers", stage(oneF1B+oneF1B, "", 3), 4, 4},
		{"the last stage", stage("mfbm mfbm mfbm s mfbm mfbm mfbm s", "NllLossBackward0", 2), 3, 3},
		{"one pass over two forwards", stage("ffbs ffbs", "NllLossBackward0", 2), 1, 1},
	} {
		r := one(t, test.source)
		s := r.Steps[len(r.Steps)-1]
		if got := s.PerOptimizer[0].Accumulation; got != test.accumulation || s.MicroBatches != test.micro {
			t.Errorf("%s: accumulation %d, %d micro-batches, want %d and %d",
				test.name, got, s.MicroBatches, test.accumulation, test.micro)
		}
	}
}
