package rules

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/ranks"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/units"
)

// ST001 finds one rank that the others wait for.
var ST001 = analyze.Rule{
	ID:    "ST001",
	Scope: analyze.AllRanks,
	Doc: analyze.Doc{
		Title: "straggler",
		Why: "A collective moves data only once its last rank has entered it; until then its kernel just waits on " +
			"all the others. A rank that comes late again and again makes every rank pay for its delay. The rank " +
			"that comes last most often need not cost the most: what counts is how much later it is than the next to " +
			"last. Why it is late shows in the time before these collectives: what it does there beyond the median " +
			"of the others is broken down by cause, and if it waits for a rank of another group, that rank is looked " +
			"at in turn.",
		Fix: "look at what the late rank does before these collectives that the others do not: data loading, " +
			"logging, checkpoints and garbage collection on its host, longer samples, a device that is throttled or " +
			"shared",
	},
	Needs: []analyze.Need{
		analyze.NeedRanks, analyze.NeedDevice, analyze.NeedCollectives, analyze.NeedOneRank, analyze.NeedStreams,
		analyze.NeedSteps, analyze.NeedWaits,
	},
	Edit: "no-straggler",
	Run:  runST001,
}

// standsOut is how many times more waiting than any other rank a straggler causes: in
// every run some rank is last.
const standsOut = 2

func runST001(p *analyze.Pass) {
	m := p.Matched()
	if m.Straggler < 0 {
		return
	}
	same := sameChain(m)
	if m.Figures[m.Straggler].Caused < standsOut*secondMost(m, same) {
		return
	}
	if led, steps := leads(m, same); !steady(led, steps, len(m.Sources)) {
		reportUnsteady(p, m, led, steps)
		return
	}
	var cost analyze.Cost
	late := latenesses(m)
	for _, r := range p.Ranks {
		claimLate(p, r, late[r], &cost)
	}
	straggler := m.Ranks[m.Straggler]
	f := report.Finding{Why: howOften(m), Evidence: worstLate(m), Caveats: append(p.Notes(),
		"the saving ends where the others would wait for the next-to-last rank; "+
			"it is assumed that the late rank would then not be late elsewhere")}
	f.Change = &report.Change{} // what to change depends on why it is late
	explainLate(&f, m)
	if hiddenShare(m) >= leastLate {
		tellOfOwn(p, m)
	}
	p.ReportWait(&cost, hiddenShare(m), f, func(mean, step int64) string {
		if mean == 0 {
			return fmt.Sprintf("the others wait for rank %d, beside compute that hides it", straggler.ID)
		}
		return fmt.Sprintf("the others wait for rank %d, exposed %s", straggler.ID, perStep(mean, step))
	})
}

// leastLate is the share of the time compared from which an unsteady straggler is worth
// a note.
const leastLate = 0.01

// reportUnsteady notes a rank that causes most of the waiting, but not in step after step:
// because of other work on its machine, or by chance.
func reportUnsteady(p *analyze.Pass, m *analyze.Matched, led, steps int) {
	if share := hiddenShare(m); share >= leastLate {
		f := report.Finding{
			Message: fmt.Sprintf(
				"the others wait for rank %d for %.1f %% of the time, but "+
					"it is the latest in only %d of %d steps: no steady straggler",
				m.Ranks[m.Straggler].ID, 100*share, led, steps),
			Why: howOften(m), Evidence: worstLate(m), Caveats: p.Notes(),
		}
		explainLate(&f, m)
		f.Fix = "record more steps; look at what else runs on that machine"
		f.Change = &report.Change{}
		p.Report(report.Note, f)
	}
}

// secondMost is the most wait that any rank but the straggler and those of its chain causes,
// in ns.
func secondMost(m *analyze.Matched, same []bool) int64 {
	second := int64(0)
	for i, f := range m.Figures {
		if i != m.Straggler && !same[i] {
			second = max(second, f.Caused)
		}
	}
	return second
}

// lateWait is a stretch in which a rank waits for the straggler alone, on its own clock.
type lateWait struct {
	device   int
	kind     timeline.CollectiveKind
	from, to int64 // ns
}

// eachLate calls do for the collectives that the straggler enters last.
func eachLate(m *analyze.Matched, do func(g *ranks.Group, c *ranks.Collective)) {
	for _, g := range m.Groups {
		if g.NoFigures != "" {
			continue
		}
		for i := range g.Collectives {
			if c := &g.Collectives[i]; !c.Impossible && g.Ranks[c.Latest] == m.Straggler && c.LatestAt > c.NextAt {
				do(g, c)
			}
		}
	}
}

// latenesses lists by rank when it waits for the straggler alone.
func latenesses(m *analyze.Matched) map[*analyze.Rank][]lateWait {
	late := make(map[*analyze.Rank][]lateWait)
	eachLate(m, func(g *ranks.Group, c *ranks.Collective) {
		for k, source := range g.Ranks {
			if k == c.Latest {
				continue
			}
			r := m.Ranks[source]
			own := &r.Collectives[c.OfRank[k]]
			from, to := g.Late(m.Sources, c, k)
			late[r] = append(late[r], lateWait{own.Device, own.Kind, from, to})
		}
	})
	return late
}

// claimLate claims, step by step, the time in which a rank does nothing but wait for
// the straggler.
func claimLate(p *analyze.Pass, r *analyze.Rank, late []lateWait, cost *analyze.Cost) {
	late = disjointLate(late)
	for _, kind := range timeline.CollectiveKinds() {
		bucket := timeline.BucketOf(kind)
		var exposed []*timeline.Set
		if slices.ContainsFunc(late, func(l lateWait) bool { return l.kind == kind }) {
			exposed = r.Exposed(r.Select(func(c *facts.Collective) bool { return c.Kind == kind }), bucket)
		}
		for i := range r.Steps {
			for w, window := range r.Steps[i].Windows {
				want := int64(0)
				for _, l := range late {
					if l.kind == kind && l.device == window.Device && r.Selected(i) {
						want += exposed[l.device].Within(max(l.from, window.Start), min(l.to, window.End))
					}
				}
				if want == 0 {
					continue
				}
				got, others := p.Claim(r, i, w, bucket, want)
				cost.Add(r, i, got)
				p.Remark(others)
			}
		}
	}
}

// disjointLate cuts stretches of one device and kind that overlap, on several streams,
// so that no moment counts twice.
func disjointLate(late []lateWait) []lateWait {
	slices.SortFunc(late, func(a, b lateWait) int {
		return cmp.Or(
			cmp.Compare(a.device, b.device), cmp.Compare(a.kind, b.kind),
			cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to),
		)
	})
	for i := 1; i < len(late); i++ {
		before, l := &late[i-1], &late[i]
		if before.device == l.device && before.kind == l.kind && l.from < before.to {
			l.from = before.to
			l.to = max(l.to, before.to)
		}
	}
	return late
}

// hiddenShare is how long the straggler kept all others waiting, as a share of the
// time that was compared.
func hiddenShare(m *analyze.Matched) float64 {
	var late, window int64
	eachLate(m, func(_ *ranks.Group, c *ranks.Collective) { late += c.LatestAt - c.NextAt })
	for _, g := range m.Groups {
		if start, end, ok := g.Window(); ok {
			window = max(window, end-start)
		}
	}
	if window == 0 {
		return 0
	}
	return float64(late) / float64(window)
}

// howOften says how often and by how much the straggler is late.
func howOften(m *analyze.Matched) string {
	f := m.Figures[m.Straggler]
	total := int64(0)
	for _, other := range m.Figures {
		total += other.Caused
	}
	return fmt.Sprintf(
		"it enters %d of %d matched collectives last and causes %s of the %s that ranks wait for the last one",
		f.Last, f.Matched, units.Milliseconds(f.Caused), units.Milliseconds(total))
}

// worstLate shows the straggler's kernels of the collectives in which it is latest.
func worstLate(m *analyze.Matched) []report.Evidence {
	type entry struct {
		event timeline.Event
		late  int64
	}
	var list []entry
	r := m.Ranks[m.Straggler]
	eachLate(m, func(g *ranks.Group, c *ranks.Collective) {
		list = append(list, entry{r.Event(int(c.OfRank[c.Latest])), (c.LatestAt - c.NextAt) * int64(len(g.Ranks)-1)})
	})
	slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(b.late, a.late) })
	var evidence []report.Evidence
	for _, e := range list[:min(maxEvidence, len(list))] {
		evidence = append(evidence, analyze.EvidenceOf(r, e.event))
	}
	return evidence
}
