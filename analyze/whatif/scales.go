package whatif

import (
	"sort"

	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/trace/graph"
)

// findScales lists the ops of passes that scale gradients.
func findScales(b *builder) {
	var computes []graph.Node
	for i := range b.f.Passes {
		p := &b.f.Passes[i]
		if p.Kind != gradients.ScalePass || !p.OnDevice {
			continue
		}
		if computes == nil {
			computes = b.computes()
		}
		from := sort.Search(len(computes), func(i int) bool { return b.calledAt(computes[i]) >= p.HostStart })
		to := sort.Search(len(computes), func(i int) bool { return b.calledAt(computes[i]) >= p.HostEnd })
		if from < to {
			b.r.Scales = append(b.r.Scales, scalePass(b, p, computes[from:to]))
		}
	}
}

// scalePass is a pass with what is known of its ops.
func scalePass(b *builder, p *gradients.Pass, ops []graph.Node) Pass {
	in := b.x.Inputs()
	pass := Pass{
		Step: int32(p.Step), Ops: ops, Bytes: make([]int64, len(ops)), Calls: p.Launches,
		Mixed: p.Kernels != len(ops), Hooks: p.Place == gradients.InBackward || p.BeforeScatter,
	}
	for i, op := range ops {
		b.x.Stack(b.r.Row[b.r.Before[op]], func(span int32) bool {
			operands := in.Of(span)
			if len(operands) == 0 {
				return true
			}
			if i == 0 {
				pass.Lead = b.calledAt(op) - b.x.Col.Start[span]
			}
			if first := operands[0]; !first.List && len(first.Shapes) == 1 {
				pass.Bytes[i] = bounded.Mul(timeline.Numel(first.Shapes[0]), 2*timeline.DtypeBytes(first.Dtype))
			}
			return false
		})
	}
	return pass
}
