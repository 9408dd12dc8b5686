package rules

import (
	"fmt"
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/units"
)

// AC002 finds gradients that are reduced inside no_sync().
var AC002 = analyze.Rule{
	ID:    "AC002",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "no_sync() has no effect",
		Why: "The program runs micro-batches inside no_sync(), and hooks reduce their gradients all the " +
			"same. DDP decides in the forward pass whether the next backward reduces, so the " +
			"context must enclose both; FSDP1 decides in backward. Another cause is calling no_sync() on a " +
			"module that is not the outermost wrapper.",
		Fix: "with model.no_sync(): loss = loss_fn(model(x), y); loss.backward(), with the forward pass " +
			"inside, where model is the DistributedDataParallel object itself",
	},
	Needs: []analyze.Need{needOptimizerSteps, needBackward, needNoSync},
	Run:   runAC002,
}

// needNoSync is met as well where nothing is reduced too often, which needs no explanation, and
// where stacks show that the program never enters it.
var needNoSync = analyze.Need{
	Name: "spans of no_sync()",
	Missing: "nothing shows where no_sync() is entered: record with_stack=True, or annotate the " +
		"micro-batches with record_function(\"no_sync\")",
	Met: func(r *analyze.Rank) bool {
		once := r.Sync.Pattern != gradients.SyncEvery || len(r.Sync.PerPass) < 2
		return once || len(r.NoSync) > 0 || r.Stacks
	},
}

func runAC002(p *analyze.Pass) {
	for _, kind := range []timeline.CollectiveKind{timeline.AllReduce, timeline.ReduceScatter} {
		e := early{p: p, kind: kind}
		outside := 0
		for _, r := range p.Ranks {
			e.take(r, func(c *gradients.HostCollective) bool {
				if c.NoSync >= 0 && r.NoSync[c.NoSync].ForwardBefore {
					outside++
				}
				return c.NoSync >= 0
			})
		}
		if e.calls > 0 {
			p.ReportHidden(&e.cost, noEffect(&e, outside))
		}
	}
}

// noEffect describes calls inside no_sync(), so many of them after a forward pass outside.
func noEffect(e *early, outside int) report.Finding {
	f := report.Finding{
		Message:  fmt.Sprintf("no_sync() has no effect: %s", e.message(strings.ReplaceAll(e.kind.String(), "_", "-"))),
		Why:      "hooks launch them inside no_sync(), and the last micro-batch reduces the same gradients again",
		Evidence: e.evidence,
		Caveats: []string{
			fmt.Sprintf("deferring keeps unsharded gradients: %.1f MB on every rank", units.MB(e.price)),
		},
	}
	if outside == e.calls {
		f.Why += "; the forward pass ran before no_sync() was entered, and DDP decides there"
	}
	return f
}
