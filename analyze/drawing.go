package analyze

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/drawing"
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// mostCollectives bounds the collectives of a drawing, over all ranks.
const mostCollectives = 20000

// timelineOf draws the step of a rank that stands for the others, while the whole trace
// is at hand. The step is chosen by structure, so that the ranks of a run show the same:
// of the complete steps with most optimizers the one before the last, whose window ends
// where the next step begins. nil where no step has a device window.
func timelineOf(x *timeline.Rank, r *facts.Rank, asked func(n int) (from, to int)) *report.Timeline {
	step := representative(r, asked, hasWindow)
	if step == nil {
		return nil
	}
	t := timelineIn(x, r, step, drawing.Draw)
	for _, other := range otherSteps(r, asked, step) {
		o := timelineIn(x, r, other, drawing.Sketch)
		t.Others = append(t.Others, report.TimelineStep{Device: o.Device, Step: o.Step, Start: o.Start,
			Duration: o.Duration, Resolution: o.Resolution, Folded: o.Folded, Strips: o.Strips, Names: o.Names})
	}
	return t
}

// mostOthers is how many further steps of a rank are drawn.
const mostOthers = 7

// otherSteps are the first complete steps that were asked for, without the one given.
func otherSteps(r *facts.Rank, asked func(n int) (from, to int), but *facts.Step) (list []*facts.Step) {
	from, to := 0, len(r.Steps)
	if asked != nil {
		from, to = asked(len(r.Steps))
	}
	for i := from; i < to && len(list) < mostOthers; i++ {
		if s := &r.Steps[i]; s != but && s.Complete && hasWindow(s) {
			list = append(list, s)
		}
	}
	return list
}

// timelineIn draws a step that has a device window.
func timelineIn(x *timeline.Rank, r *facts.Rank, step *facts.Step,
	draw func(*timeline.Rank, *facts.Rank, steps.Window) drawing.Timeline) *report.Timeline {
	w := step.Windows[0]
	drawn := draw(x, r, w)
	t := &report.Timeline{Device: r.Devices[w.Device].PID, Step: step.Index, Start: w.Start, Duration: w.End - w.Start,
		Resolution: drawn.Resolution, Folded: drawn.Folded, Strips: []report.Strip{}, Names: drawn.Names}
	for _, s := range drawn.Strips {
		strip := report.Strip{Row: strings.Clone(s.Row), Class: s.Class, Exposed: s.Exposed, Names: s.Names}
		for _, span := range s.Spans {
			strip.Spans = append(strip.Spans, [2]int64{span.Start - w.Start, span.End - span.Start})
		}
		t.Strips = append(t.Strips, strip)
	}
	return t
}

// hasWindow reports whether a step ran anything on a device.
func hasWindow(s *facts.Step) bool { return len(s.Windows) > 0 }

// representative chooses among the steps that were asked for and will do; incomplete ones
// only where there are no others.
func representative(r *facts.Rank, asked func(n int) (from, to int), willDo func(*facts.Step) bool) *facts.Step {
	from, to := 0, len(r.Steps)
	if asked != nil {
		from, to = asked(len(r.Steps))
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
		if !willDo(s) {
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

// drawingOf is what figures need of the ranks that were asked for.
func drawingOf(list []*Rank) *report.Drawing {
	d := &report.Drawing{Timelines: []report.Timeline{}, Collectives: []report.Collective{}}
	d.Memory, d.MemoryLeftOut = memoryDrawn(list)
	for _, r := range list {
		if t := r.reduced.Timeline; t != nil {
			one := *t
			one.Rank, one.Kind = r.ID, r.Steps[t.Step].Kind
			one.Others = slices.Clone(t.Others)
			for i := range one.Others {
				one.Others[i].Kind = r.Steps[one.Others[i].Step].Kind
			}
			d.Timelines = append(d.Timelines, one)
		}
		for i := range r.Collectives {
			if row := collectiveRow(r, i); row.Step == nil || r.Selected(*row.Step) {
				d.Collectives = append(d.Collectives, row)
			}
		}
	}
	if n := len(d.Collectives); n > mostCollectives {
		slices.SortStableFunc(d.Collectives, func(x, y report.Collective) int {
			return cmp.Compare(y.Duration, x.Duration)
		})
		d.Collectives, d.LeftOut = d.Collectives[:mostCollectives], n-mostCollectives
		slices.SortStableFunc(d.Collectives, func(x, y report.Collective) int {
			return cmp.Or(cmp.Compare(x.Rank, y.Rank), cmp.Compare(x.Start, y.Start))
		})
	}
	return d
}

func collectiveRow(r *Rank, i int) report.Collective {
	m := &r.Collectives[i]
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
