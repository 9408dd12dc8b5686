package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/internal/units"
)

// OV007 finds gradient reductions that are launched in another order than that in which
// gradients become ready.
var OV007 = analyze.Rule{
	ID:    "OV007",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "gradients are reduced in another order than that in which they become ready",
		Why: "DDP launches its buckets in a fixed order. A bucket whose turn it is waits for its last gradient, and " +
			"all later ones wait with it, though as many elements have long been ready: in another order they could " +
			"have been reduced beside backward. DDP rebuilds its buckets in the right order after the first step, " +
			"unless find_unused_parameters=True.",
		Fix: "DistributedDataParallel(..., find_unused_parameters=False), with static_graph=True where parameters " +
			"are unused, so that buckets are rebuilt in the order in which gradients become ready; or register the " +
			"modules in the order in which forward uses them; in hooks of your own, reduce each gradient once it is " +
			"ready",
	},
	Needs: []analyze.Need{
		analyze.NeedDevice, analyze.NeedCollectives, analyze.NeedOneRank, analyze.NeedStreams, needOptimizerSteps,
		analyze.NeedLaunches, needBackward,
	},
	Run: runOV007,
}

// A reduction is late in its order if it waits for this share of what backward takes from
// its first gradient to its last, and for this long, and if this share of the elements is ready beyond
// those that it and the ones before it reduce: where all that is ready is reduced, the host was late,
// not the order.
const (
	lateShare  = 0.10
	lateLeast  = 20_000 // ns
	readyShare = 0.10
)

// disorder is what the reductions of a step lose by their order.
type disorder struct {
	share float64                   // of backward that the one which waits longest waits
	worst *gradients.HostCollective // that one
	sum   int64                     // elements that it and those before it reduce
	total int64                     // elements that all of them reduce
	kind  timeline.CollectiveKind
}

func runOV007(p *analyze.Pass) {
	var cost analyze.Cost
	var worst disorder
	selected := make(map[*analyze.Rank][]int)
	for _, r := range p.Ranks {
		steps := disorders(r)
		if !oftenLate(r, steps) {
			continue
		}
		for _, kind := range reducingKinds {
			selected[r] = append(selected[r], claimDisorder(p, r, steps, kind, &cost)...)
		}
		for _, d := range steps {
			if d.share > worst.share {
				worst = d
			}
		}
	}
	p.ReportCost(&cost, func(mean, step int64) report.Finding {
		noun := map[timeline.CollectiveKind]string{timeline.ReduceScatter: "reduce-scatter"}[worst.kind]
		if noun == "" {
			noun = "all-reduce"
		}
		return report.Finding{
			Message: fmt.Sprintf("%ss out of gradient order exposed %s", noun, perStep(mean, step)),
			Why: fmt.Sprintf("%s that completes the first %.1f %% of the elements is launched when %.1f %% are ready, "+
				"%s too late: %.0f %% of backward", withArticle(noun), percentage(worst.sum, worst.total),
				percentage(worst.worst.Ready, worst.total), units.Milliseconds(worst.worst.Waited), 100*worst.share),
			Saving:   &report.Range{Low: 0, High: mean},
			Evidence: mostExposed(p.Ranks, selected),
			Caveats:  []string{waitCaveat(p), "the saving is an upper bound: what is reduced last stays exposed"},
		}
	})
}

func withArticle(noun string) string {
	if noun == "all-reduce" {
		return "an " + noun
	}
	return "a " + noun
}

func percentage(part, whole int64) float64 { return 100 * float64(part) / float64(max(1, whole)) }

// disorders looks at the last backward pass of every step.
func disorders(r *analyze.Rank) []disorder {
	list := make([]disorder, len(r.Steps))
	hooked(r, func(c *gradients.HostCollective) {
		d := &list[c.Step]
		d.total, d.kind = bounded.Add(d.total, c.Elems), c.Kind
	})
	sums := make([]int64, len(r.Steps))
	hooked(r, func(c *gradients.HostCollective) {
		d, sum := &list[c.Step], bounded.Add(sums[c.Step], c.Elems)
		sums[c.Step] = sum
		if share := lateBy(r, c, float64(c.Ready-sum)/float64(max(1, d.total))); share > d.share {
			d.share, d.worst, d.sum = min(1, share), c, sum
		}
	})
	return list
}

// hooked calls use for the reductions that hooks of the last backward pass of a step launch, in order.
func hooked(r *analyze.Rank, use func(*gradients.HostCollective)) {
	for i := range r.HostCollectives {
		c := &r.HostCollectives[i]
		if c.Gradient && c.Step >= 0 && c.Site.Site == timeline.SiteBackwardHook && inLastPass(r, c) {
			use(c)
		}
	}
}

// lateBy is the share of the last backward pass that a reduction waits for its turn, 0 if it does not.
// More is the share of the elements that are ready beyond those reduced.
func lateBy(r *analyze.Rank, c *gradients.HostCollective, more float64) float64 {
	passes := r.Steps[c.Step].Backwards
	last := &passes[len(passes)-1]
	share := float64(c.Waited) / float64(max(1, last.Last-last.First))
	if c.Waited < lateLeast || share < lateShare || more < readyShare {
		return 0
	}
	return share
}

// inLastPass reports whether a collective belongs to the last backward pass of its step.
func inLastPass(r *analyze.Rank, c *gradients.HostCollective) bool {
	b := r.Steps[c.Step].Backwards
	return len(b) > 0 && c.Event.Start >= b[len(b)-1].Start
}

// oftenLate reports whether several complete steps have a disorder: DDP puts its buckets in
// order after the first.
func oftenLate(r *analyze.Rank, steps []disorder) bool {
	complete, late := 0, 0
	for i := range r.Steps {
		if !r.Steps[i].Complete || !r.Selected(i) {
			continue
		}
		complete++
		if steps[i].worst != nil {
			late++
		}
	}
	return complete > 1 && late >= min(idleSteps, complete)
}

// claimDisorder claims what is exposed of the reductions of a kind in steps with disorder, up
// to what the order delays them by: the share of backward on the host, of backward on the
// device.
func claimDisorder(
	p *analyze.Pass, r *analyze.Rank, steps []disorder, kind timeline.CollectiveKind, cost *analyze.Cost,
) []int {
	which := r.Select(func(c *facts.Collective) bool {
		return c.Kind == kind && c.Step >= 0 && steps[c.Step].worst != nil && steps[c.Step].kind == kind &&
			c.Asked >= 0 && r.HostCollectives[c.Asked].Gradient
	})
	if len(which) == 0 {
		return nil
	}
	exposed := r.ExposedOf(which, kind)
	eachWindow(r, func(step, w int) {
		if steps[step].worst == nil || steps[step].kind != kind {
			return
		}
		window, b := &r.Steps[step].Windows[w], r.Steps[step].LastBackward[w]
		most := int64(steps[step].share * float64(b.End-b.Start))
		want := min(most, exposed[window.Device].Within(window.Start, window.End))
		if want <= 0 {
			return
		}
		got, others := p.Claim(r, step, w, timeline.BucketOf(kind), want)
		cost.Add(r, step, got)
		p.Remark(others)
	})
	return which
}
