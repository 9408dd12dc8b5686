package whatif

import (
	"math"
	"strings"

	"github.com/gaprof/gaprof/trace/graph"
)

// Fit is how well the graph of what was recorded explains it: the error of the replay, not of
// a prediction.
type Fit struct {
	Nodes, Edges int
	Span         int64 // ns from the first start to the last end, as recorded
	Replayed     int64 // ns: the same in the replay
	Worst        int64 // ns by which a start differs at most
	Gaps         int   // device operations that start more than 10 us later than their edges explain
	ComputeGaps  int   // those of Gaps on streams of compute
	WorstGap     int64 // ns: the longest of Gaps
	Usual        int64 // ns of span if each edge took its usual time, and no delay of its own
	Inferred     [graph.NumKinds]int
	Waits        Waits
}

// Fit replays what was recorded.
func (w *World) Fit() (Fit, error) {
	c := w.change(AsRecorded)
	f := Fit{Nodes: c.G.Len(), Edges: c.G.Edges(), Span: w.Seen.Span()}
	t, err := c.Replay()
	if err != nil {
		return f, err
	}
	f.Replayed = t.Span()
	for n := range t.Start {
		f.Worst = max(f.Worst, t.Start[n]-w.Seen.Start[n], w.Seen.Start[n]-t.Start[n])
	}
	for _, r := range w.Ranks {
		f.add(r)
	}
	if t, err = w.usual().Replay(); err == nil {
		f.Usual = t.Span()
	}
	return f, err
}

// add adds what the graph of a rank does not explain.
func (f *Fit) add(r *Rank) {
	r.ops(func(op graph.Node) {
		if late := r.Late[op]; late > unexplained {
			f.Gaps++
			f.ComputeGaps += oneIf(r.Collective[op] < 0)
			f.WorstGap = max(f.WorstGap, late)
		}
	})
	for k, n := range r.Inferred {
		f.Inferred[k] += n
	}
	f.Waits.Recorded += r.Waits.Recorded
	f.Waits.Inferred += r.Waits.Inferred
	f.Waits.Unknown += r.Waits.Unknown
}

// usual is the graph in which each edge into a device operation takes its usual time.
func (w *World) usual() *Change {
	c := w.change(AsRecorded)
	for rank, r := range w.Ranks {
		for e := range int32(r.Graph.Edges()) {
			if to := r.Graph.To[e]; to != graph.None && r.What[to] == Op {
				c.G.Lag[w.edges[rank]+e] = r.usually(e, &r.Usual)
			}
		}
	}
	return c
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// step is one complete step of a rank on a device.
type step struct {
	rank, index int
	device      int
	kind        int // index into World.Kinds
}

// Kind is steps with the same optimizers and accumulation, on all ranks.
type Kind struct {
	Name       string   // "A", "B", ... by first appearance
	Optimizers []string // sorted
	Steps      int      // complete ones with a device window, on all ranks and devices
	Duration   int64    // ns, mean as recorded
}

// findSteps lists the complete steps of all ranks.
func (w *World) findSteps() {
	kinds := make(map[string]int)
	for rank, r := range w.Ranks {
		for i := range r.Facts.Steps {
			s := &r.Facts.Steps[i]
			if !s.Complete {
				continue
			}
			for _, win := range s.Windows {
				key := strings.Join(s.Optimizers, "\x00")
				if len(w.Ranks) == 1 {
					key = s.Kind
				}
				k, seen := kinds[key]
				if !seen {
					k = len(w.Kinds)
					kinds[key] = k
					w.Kinds = append(w.Kinds, Kind{Name: string(rune('A' + k%26)), Optimizers: s.Optimizers})
				}
				w.steps = append(w.steps, step{rank, i, win.Device, k})
			}
		}
	}
	for i, d := range w.durations(w.Seen) {
		k := &w.Kinds[w.steps[i].kind]
		k.Duration = (k.Duration*int64(k.Steps) + d) / int64(k.Steps+1)
		k.Steps++
	}
}

// extent is when the ops of one step of a rank run on a device.
type extent struct{ start, end int64 }

// durations are how long the complete steps take on their devices at some times: from the first
// start of an op of the step to that of the next, for the last step to its last end.
func (w *World) durations(t *graph.Times) []int64 {
	list := make([]int64, len(w.steps))
	var of [][]extent // by device, of the rank at hand
	rank := -1
	for i, s := range w.steps {
		if s.rank != rank {
			rank, of = s.rank, w.extents(s.rank, t)
		}
		e := of[s.device]
		end := e[s.index].end
		for next := s.index + 1; next < len(e); next++ {
			if e[next].start != math.MaxInt64 {
				end = e[next].start
				break
			}
		}
		list[i] = max(0, end-e[s.index].start)
	}
	return list
}

// periods are by how much later the last op of each complete step ends than that of the step before
// on its device; of a step that nothing precedes, than its own first op starts.
func (w *World) periods(t *graph.Times) []int64 {
	list := make([]int64, len(w.steps))
	var of [][]extent // by device, of the rank at hand
	rank := -1
	for i, s := range w.steps {
		if s.rank != rank {
			rank, of = s.rank, w.extents(s.rank, t)
		}
		e := of[s.device]
		from := e[s.index].start
		for last := s.index - 1; last >= 0; last-- {
			if e[last].start != math.MaxInt64 {
				from = e[last].end
				break
			}
		}
		list[i] = e[s.index].end - from
	}
	return list
}

// extents are those of all steps of a rank, by device. A step without ops there starts never.
func (w *World) extents(rank int, t *graph.Times) [][]extent {
	r := w.Ranks[rank]
	of := make([][]extent, len(r.Facts.Devices))
	for d := range of {
		of[d] = make([]extent, len(r.Facts.Steps))
		for i := range of[d] {
			of[d][i] = extent{math.MaxInt64, math.MinInt64}
		}
	}
	r.ops(func(op graph.Node) {
		if s := r.Step[op]; s >= 0 {
			e := &of[r.Device[op]][s]
			n := w.nodes[rank] + op
			e.start, e.end = min(e.start, t.Start[n]), max(e.end, t.End[n])
		}
	})
	return of
}
