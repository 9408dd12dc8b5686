package analyze

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/facts"
)

// Drawing is what figures need beyond the figures of a report. It is there only where
// Options.Drawing asks for it; a report without it has no timeline.
type Drawing struct {
	Timelines   []Timeline      `json:"timelines"`
	Collectives []CollectiveRow `json:"collectives"`
	LeftOut     int             `json:"collectives_left_out"` // the shortest, of more than can be shown
}

// Timeline is one representative step of a rank on one device, on the clock of the
// trace's ts in ns. Spans closer than Resolution are joined.
type Timeline struct {
	Rank       int64           `json:"rank"`
	Device     string          `json:"device"`
	Step       int             `json:"step"`
	Kind       string          `json:"kind"`
	Start      int64           `json:"start_ns"`
	Duration   int64           `json:"duration_ns"`
	Resolution int64           `json:"resolution_ns"`
	Folded     int             `json:"folded_streams"` // streams that share the row "other streams"
	Strips     []TimelineStrip `json:"strips"`
}

// TimelineStrip is the spans of one class on one row: "phase" (by the launch of compute
// kernels), a stream, or "ledger". Exposed strips are the part of communication that the
// ledger counts.
type TimelineStrip struct {
	Row     string     `json:"row"`
	Class   string     `json:"class"`
	Exposed bool       `json:"exposed"`
	Spans   [][2]int64 `json:"spans_ns"` // start, from that of the window, and length
}

// CollectiveRow is one collective. Exposed is its time that no compute kernel covers.
type CollectiveRow struct {
	Rank     int64  `json:"rank"`
	Step     *int   `json:"step"` // null unlinked
	Kind     string `json:"kind"`
	Site     string `json:"site"`
	Name     string `json:"name"`
	Bytes    *int64 `json:"bytes"` // null unknown
	Start    int64  `json:"start_ns"`
	Duration int64  `json:"duration_ns"`
	Exposed  int64  `json:"exposed_ns"`
}

// mostCollectives bounds the collectives of a drawing, over all ranks.
const mostCollectives = 20000

// timelineOf draws the step of a rank that stands for the others, while the whole trace
// is at hand. The step is chosen by structure, so that the ranks of a run show the same:
// of the complete steps with most optimizers the one before the last, whose window ends
// where the next step begins. nil where no step has a device window.
func (o *Options) timelineOf(r *facts.Rank) *Timeline {
	step := o.representative(r)
	if !o.Drawing || step == nil {
		return nil
	}
	w := step.Windows[0]
	drawn := r.Timeline(w, r.Launches())
	t := &Timeline{Device: strings.Clone(r.Devices[w.Device].PID), Step: step.Index, Start: w.Start, Duration: w.End - w.Start,
		Resolution: drawn.Resolution, Folded: drawn.Folded, Strips: []TimelineStrip{}}
	for _, s := range drawn.Strips {
		strip := TimelineStrip{Row: strings.Clone(s.Row), Class: s.Class, Exposed: s.Exposed}
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
	d := &Drawing{Timelines: []Timeline{}, Collectives: []CollectiveRow{}}
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
		slices.SortStableFunc(d.Collectives, func(x, y CollectiveRow) int { return cmp.Compare(y.Duration, x.Duration) })
		d.Collectives, d.LeftOut = d.Collectives[:mostCollectives], n-mostCollectives
		slices.SortStableFunc(d.Collectives, func(x, y CollectiveRow) int {
			return cmp.Or(cmp.Compare(x.Rank, y.Rank), cmp.Compare(x.Start, y.Start))
		})
	}
	a.report.Drawing = d
}

func collectiveRow(r *facts.Rank, i int) CollectiveRow {
	m := &r.Messages[i]
	row := CollectiveRow{Rank: r.ID, Kind: m.Kind.String(), Site: string(m.Site.Site), Name: m.Site.Name,
		Start: m.Start, Duration: m.End - m.Start, Exposed: r.ExposedAlone(i)}
	if m.Step >= 0 {
		row.Step = &m.Step
	}
	if m.Bytes >= 0 {
		row.Bytes = &m.Bytes
	}
	return row
}
