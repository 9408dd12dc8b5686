package whatif

import (
	"sort"

	"github.com/gaprof/gaprof/analyze/gradients"
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
			b.r.Scales = append(b.r.Scales, Pass{int32(p.Step), computes[from:to]})
		}
	}
}
