package analyze

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/report"
)

// mostCollectives bounds the collectives of a drawing, over all ranks.
const mostCollectives = 20000

// timelineOf draws the step of a rank that stands for the others, while the whole trace
// is at hand. The step is chosen by structure, so that the ranks of a run show the same:
// of the complete steps with most optimizers the one before the last, whose window ends
// where the next step begins. nil where no step has a device window.
func (o *Options) timelineOf(r *facts.Rank) *report.Timeline {
	step := o.representative(r)
	if !o.Drawing || step == nil {
		return nil
	}
	w := step.Windows[0]
	drawn := r.Timeline(w, r.Launches())
	t := &report.Timeline{Device: strings.Clone(r.Devices[w.Device].PID), Step: step.Index, Start: w.Start, Duration: w.End - w.Start,
		Resolution: drawn.Resolution, Folded: drawn.Folded, Strips: []report.Strip{}}
	for _, s := range drawn.Strips {
		strip := report.Strip{Row: strings.Clone(s.Row), Class: s.Class, Exposed: s.Exposed}
		for _, span := range s.Spans {
			strip.Spans = append(strip.Spans, [2]int64{span.Start - w.Start, span.End - span.Start})
		}
		t.Strips = append(t.Strips, strip)
	}
	return t
}

// representative chooses among the steps that were asked for; incomplete ones only
// where there are no others.
func (o *Options) representative(r *facts.Rank) *facts.Step {
	from, to := 0, len(r.Steps)
	if o.Steps != nil {
		from, to = o.Steps(len(r.Steps))
	}
	var best []*facts.Step
	rank := func(s *facts.Step) int {
		if s.Complete {
			return len(s.Optimizers)
		}
		return -1
	}
	for i := from; i < to; i++ {
		s := &r.Steps[i]
		if len(s.Windows) == 0 {
			continue
		}
		if len(best) > 0 && rank(s) > rank(best[0]) {
			best = nil
		}
		if len(best) == 0 || rank(s) == rank(best[0]) {
			best = append(best, s)
		}
	}
	if len(best) == 0 {
		return nil
	}
	return best[max(0, len(best)-2)]
}

// drawing fills in what was asked to be drawn.
func (a *assembly) drawing() {
	if !a.o.Drawing {
		return
	}
	d := &report.Drawing{Timelines: []report.Timeline{}, Collectives: []report.Collective{}}
	for _, fr := range a.ranks {
		if t := fr.timeline; t != nil {
			t.Rank, t.Kind = fr.rank.ID, fr.rank.Steps[t.Step].Kind
			d.Timelines = append(d.Timelines, *t)
		}
		for i := range fr.rank.Messages {
			if row := collectiveRow(fr.rank, i); row.Step == nil || !fr.rank.Steps[*row.Step].Excluded {
				d.Collectives = append(d.Collectives, row)
			}
		}
	}
	if n := len(d.Collectives); n > mostCollectives {
		slices.SortStableFunc(d.Collectives, func(x, y report.Collective) int { return cmp.Compare(y.Duration, x.Duration) })
		d.Collectives, d.LeftOut = d.Collectives[:mostCollectives], n-mostCollectives
		slices.SortStableFunc(d.Collectives, func(x, y report.Collective) int {
			return cmp.Or(cmp.Compare(x.Rank, y.Rank), cmp.Compare(x.Start, y.Start))
		})
	}
	a.report.Drawing = d
}

func collectiveRow(r *facts.Rank, i int) report.Collective {
	m := &r.Messages[i]
	row := report.Collective{Rank: r.ID, Kind: m.Kind.String(), Site: string(m.Site.Site), Name: m.Site.Name,
		Start: m.Start, Duration: m.End - m.Start, Exposed: r.ExposedAlone(i)}
	if m.Step >= 0 {
		row.Step = &m.Step
	}
	if m.Bytes >= 0 {
		row.Bytes = &m.Bytes
	}
	return row
}
