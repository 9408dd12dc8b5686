package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/idle"
	"github.com/gaprof/gaprof/internal/units"
)

// ID004 finds steps in which the device waits for one launch after the other.
var ID004 = analyze.Rule{
	ID:    "ID004",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "launch-bound",
		Why: "Kernels take less time than the host needs to launch the next one, so the device is idle between " +
			"them. A faster device would not make a step shorter.",
		Fix: "torch.compile(model), with mode=\"reduce-overhead\" for CUDA graphs; optimizers with foreach=True or " +
			"fused=True; larger batches",
	},
	Needs: idleNeeds,
	Edit:  "cuda-graph",
	Run:   idleRule{idle.LaunchBound, "launch-bound: the device waits for launches", launching, nil}.run,
}

// launching says what the host does in the longest gap.
func launching(s *idle.Shown) string {
	const text = "short gaps in which the host runs operators, the optimizer or Python; " +
		"the longest, %s, ends with %s%s"
	return fmt.Sprintf(text, units.Milliseconds(s.NS), s.Event.Name, inside(s))
}
