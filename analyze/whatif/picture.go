package whatif

import (
	"cmp"
	"math"
	"slices"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/graph"
)

// pictureParts is how many spans a picture may have side by side: closer ones are joined.
const pictureParts = 4000

// Picture draws one step as recorded and as predicted: of the kind that gains most, on the
// rank that others wait for or the first. numbers are those of the ranks. nil where there is none.
func Picture(w *World, p *Prediction, numbers []int64) *report.PredictedStep {
	if p.Times == nil {
		return nil
	}
	i := pictured(w, p)
	if i < 0 {
		return nil
	}
	s := w.steps[i]
	made := &report.PredictedStep{
		Edit: p.Name(), Title: p.texts("; ", func(e *Edit) string { return e.Title }),
		Rank: numbers[s.rank], Step: w.Ranks[s.rank].Facts.Steps[s.index].Index, Kind: w.Kinds[s.kind].Name,
	}
	before, after := windowOf(w, &s, w.Seen), windowOf(w, &s, p.Times)
	made.Resolution = max(1, max(before.end-before.start, after.end-after.start)/pictureParts)
	touched := touchedBy(w, p, &s)
	for _, side := range []struct {
		to  *report.PredictedSide
		at  *graph.Times
		win extent
	}{{&made.Before, w.Seen, before}, {&made.After, p.Times, after}} {
		d := &painter{World: w, rank: s.rank, device: s.device, at: side.at, win: side.win, joined: made.Resolution,
			touched: touched, spans: make(map[strip][][2]int64)}
		side.to.Duration, side.to.Strips = side.win.end-side.win.start, d.paint()
	}
	return made
}

// pictured is the step to draw: the one that gets shorter by about as much as those of its kind end
// sooner; -1 for none.
func pictured(w *World, p *Prediction) int {
	kind := -1
	for k := range p.Kinds {
		if kind < 0 || p.Kinds[k].Mean > p.Kinds[kind].Mean {
			kind = k
		}
	}
	before, after := w.durations(w.Seen), w.durations(p.Times)
	best, least := -1, int64(math.MaxInt64)
	for i, s := range w.steps {
		if s.kind != kind || s.rank != max(0, w.Late) {
			continue
		}
		if off := before[i] - after[i] - p.Kinds[kind].Mean; max(off, -off) < least {
			best, least = i, max(off, -off)
		}
	}
	return best
}

// windowOf is the device window of a step at some times.
func windowOf(w *World, s *step, t *graph.Times) extent {
	of := w.extents(s.rank, t)[s.device]
	win := of[s.index]
	for _, next := range of[s.index+1:] {
		if next.start != math.MaxInt64 {
			win.end = next.start
			break
		}
	}
	return win
}

// touchedBy are the ops of a step that an edit moves, or takes out, or gives another duration,
// unless that is most of them.
func touchedBy(w *World, p *Prediction, s *step) map[graph.Node]bool {
	c := w.change(AsRecorded)
	for _, apply := range p.applied(-1, 0) {
		apply(c)
	}
	touched, ops := make(map[graph.Node]bool), 0
	for _, n := range c.moved {
		touched[n] = true
	}
	w.Ranks[s.rank].ops(func(op graph.Node) {
		n := w.nodes[s.rank] + op
		ops++
		if len(c.moved) == 0 && c.G.Work[n] != w.Graph.Work[n] {
			touched[n] = true
		}
	})
	if 2*len(touched) > ops {
		return nil
	}
	return touched
}

// strip is a row, what is drawn there, and whether the edit touches it.
type strip struct {
	row, class string
	touched    bool
}

// painter draws one side of a picture.
type painter struct {
	*World
	rank, device int
	at           *graph.Times
	win          extent
	joined       int64 // ns: gaps that are shorter are not drawn
	touched      map[graph.Node]bool
	spans        map[strip][][2]int64
}

// paint draws what runs in the window.
func (d *painter) paint() []report.Strip {
	r, base := d.Ranks[d.rank], d.nodes[d.rank]
	r.ops(func(op graph.Node) {
		if int(r.Device[op]) != d.device {
			return
		}
		n := base + op
		row, class := "compute", timeline.Bucket(r.Bucket[op]).String()
		if i := r.Collective[op]; i >= 0 {
			row, class = "communication", timeline.BucketOf(r.Facts.Collectives[i].Kind).String()
		}
		d.add(strip{row, class, false}, d.at.Start[n], d.at.End[n])
		if d.touched[n] {
			d.add(strip{row, class, true}, d.at.Start[n], d.at.End[n])
		}
	})
	for own, what := range r.What {
		if what != Op {
			d.host(graph.Node(own))
		}
	}
	return d.strips()
}

// host draws a call, or the time that it waits, and the loading of a batch before it.
func (d *painter) host(own graph.Node) {
	r, n := d.Ranks[d.rank], d.nodes[d.rank]+own
	start, end := d.at.Start[n], d.at.End[n]
	e := d.Graph.Before[n]
	if r.What[own] == Return {
		d.add(strip{"host", "wait", false}, d.at.End[n-1], start)
		return
	}
	d.add(strip{"host", "call", false}, start, max(end, start+1))
	if e == graph.None || r.Loading[own] == 0 {
		return
	}
	from := d.Graph.From[e]
	gap, was := start-d.at.End[from], d.Seen.Start[n]-d.Seen.End[from]
	d.add(strip{"host", "data_loading", false}, start-min(gap, max(0, r.Loading[own]-max(0, was-gap))), start)
}

// add adds a span, cut to the window.
func (d *painter) add(to strip, start, end int64) {
	start, end = max(start, d.win.start)-d.win.start, min(end, d.win.end)-d.win.start
	if end > start {
		d.spans[to] = append(d.spans[to], [2]int64{start, end})
	}
}

// strips joins the spans of each strip that are closer than can be seen.
func (d *painter) strips() []report.Strip {
	list := []report.Strip{}
	for key, spans := range d.spans {
		s := report.Strip{Row: key.row, Class: key.class, Exposed: key.touched}
		slices.SortFunc(spans, func(a, b [2]int64) int { return slices.Compare(a[:], b[:]) })
		end := int64(math.MinInt64 / 2)
		for _, span := range spans {
			if n := len(s.Spans); n > 0 && span[0]-end < d.joined {
				end = max(end, span[1])
				s.Spans[n-1][1] = end - s.Spans[n-1][0]
				continue
			}
			s.Spans = append(s.Spans, [2]int64{span[0], span[1] - span[0]})
			end = span[1]
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b report.Strip) int {
		touched := oneIf(a.Exposed) - oneIf(b.Exposed)
		return cmp.Or(cmp.Compare(a.Row, b.Row), touched, cmp.Compare(a.Class, b.Class))
	})
	return list
}
