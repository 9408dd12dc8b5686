package whatif

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/graph"
)

// PredictedKey is the top-level entry with which a predicted trace says that it is one, and
// by which edits.
const PredictedKey = "gaprofPredicted"

// mover moves the rows of a trace.
type mover struct {
	*World
	t    *trace.Trace
	rank int
	p    *Prediction
	node map[int32]graph.Node // of calls and ops, by row
	host []anchor             // of the training loop, by time as recorded
	on   map[trace.TrackID][]anchor
	to   map[int32]place // rows of calls that moved with their reduce-scatter
}

// anchor is an instant as recorded and as predicted, in ns.
type anchor struct{ was, is int64 }

// place is where a row went.
type place struct {
	track trace.TrackID
	start int64
	dur   int64
}

// times are the start and end of a node as predicted, on the clock of its trace.
func (m *mover) times(own graph.Node) (start, end int64) {
	n := m.nodes[m.rank] + own
	shift := m.Seen.Start[n] - m.Ranks[m.rank].Start[own]
	start, end = m.p.Times.Start[n]-shift, m.p.Times.End[n]-shift
	r := m.Ranks[m.rank]
	if next := int(own) + 1; r.What[own] == Call && next < len(r.What) && r.What[next] == Return {
		end = m.p.Times.End[n+1] - shift
	}
	return start, max(start, end)
}

// hoistCalls moves what launches a hoisted reduce-scatter to the end of the row that accumulates
// its gradient, where a hook of the gradient would be.
func (m *mover) hoistCalls() {
	m.to = make(map[int32]place)
	for _, u := range m.p.Edits {
		if u.Edit.Name != hoistReduceScatter.Name {
			continue
		}
		hoists := m.Ranks[m.rank].Hoists
		for i := range hoists {
			if h := &hoists[i]; u.Arg == "" || u.Arg == h.Optimizer {
				for _, kernel := range h.Moved {
					m.hoistCall(h, kernel)
				}
			}
		}
	}
}

// hookTime is how long a hoisted launch is drawn at most, in ns: it has to fit into the row that
// accumulates the gradient.
const hookTime = 2_000

// hoistCall moves one of them, with what PyTorch records around it.
func (m *mover) hoistCall(h *Hoist, kernel graph.Node) {
	call := m.Ranks[m.rank].Before[kernel]
	into, ok := h.Grads[kernel]
	if call == graph.None || !ok {
		return
	}
	col := m.t.Columns()
	root := m.collectiveAround(m.Ranks[m.rank].Row[call])
	hook := m.row(into)
	from, length := col.Start[root], max(1, col.Dur[root])
	room := min(hookTime, hook.dur/2)
	for row := root; int(row) < m.t.Len() && col.Track[row] == col.Track[root] && col.Start[row] < from+length; row++ {
		at := hook.start + hook.dur - room + (col.Start[row]-from)*room/length
		m.to[row] = place{hook.track, at, col.Dur[row] * room / length}
	}
}

// collectiveAround is the outermost of the rows right around a launch that belong to the
// collective, or the launch itself.
func (m *mover) collectiveAround(row int32) int32 {
	col := m.t.Columns()
	for {
		parent := col.Parent[row]
		if parent == trace.NoParent || !ofCollective(m.t.String(col.Name[parent])) {
			return row
		}
		row = parent
	}
}

// ofCollective reports whether a row of such a name is what PyTorch records of a collective.
func ofCollective(name string) bool {
	return name == timeline.RecordParamComms || strings.HasPrefix(name, "c10d::") || strings.HasPrefix(name, "nccl:")
}

// findAnchors notes when calls and ops begin and end, as recorded and as predicted.
func (m *mover) findAnchors() {
	col := m.t.Columns()
	m.on = make(map[trace.TrackID][]anchor)
	loop := make(map[int32]int) // calls by resource
	r := m.Ranks[m.rank]
	for own, what := range r.What {
		if what == Call {
			loop[r.Graph.Resource[own]]++
		}
	}
	for row, own := range m.node {
		start, end := m.times(own)
		of := []anchor{{col.Start[row], start}, {col.Start[row] + col.Dur[row], end}}
		if r.What[own] == Op {
			m.on[col.Track[row]] = append(m.on[col.Track[row]], of...)
			continue
		}
		m.host = append(m.host, of...)
	}
	byTime := func(a, b anchor) int { return cmp.Or(cmp.Compare(a.was, b.was), cmp.Compare(a.is, b.is)) }
	slices.SortFunc(m.host, byTime)
	for _, list := range m.on {
		slices.SortFunc(list, byTime)
	}
}

// moved is an instant of a list of anchors as predicted: between two anchors in proportion,
// before the first and after the last by as much as those.
func moved(list []anchor, t int64) int64 {
	i := sort.Search(len(list), func(i int) bool { return list[i].was > t })
	switch {
	case len(list) == 0:
		return t
	case i == 0:
		return t + list[0].is - list[0].was
	case i == len(list):
		return t + list[i-1].is - list[i-1].was
	}
	a, b := list[i-1], list[i]
	if b.is <= a.is || b.was == a.was {
		return a.is
	}
	return a.is + int64(float64(t-a.was)*float64(b.is-a.is)/float64(b.was-a.was))
}

// nearest is how much an instant moves with the anchor next to it: what is drawn around one
// op moves with that.
func nearest(list []anchor, t int64) int64 {
	i := sort.Search(len(list), func(i int) bool { return list[i].was >= t })
	switch {
	case len(list) == 0:
		return t
	case i == len(list) || i > 0 && t-list[i-1].was < list[i].was-t:
		i--
	}
	return t + list[i].is - list[i].was
}

// row is where a row goes.
func (m *mover) row(row int32) place {
	col := m.t.Columns()
	if at, ok := m.to[row]; ok {
		return at
	}
	track := col.Track[row]
	start, end := col.Start[row], col.Start[row]+col.Dur[row]
	if own, ok := m.node[row]; ok {
		start, end = m.times(own)
	} else if ops := m.on[track]; len(ops) > 0 {
		start, end = nearest(ops, start), nearest(ops, end)
	} else if m.ofRank(track) {
		start, end = moved(m.host, start), moved(m.host, end)
	}
	return place{track, start, max(0, end-start)}
}

// ofRank reports whether a track is a thread of the rank's process: other tracks, such as
// those of the profiler itself, stay where they are.
func (m *mover) ofRank(track trace.TrackID) bool {
	col := m.t.Columns()
	for _, row := range m.Ranks[m.rank].Row {
		return m.t.Tracks()[col.Track[row]].PID == m.t.Tracks()[track].PID
	}
	return false
}

// build makes the trace.
func (m *mover) build() *trace.Trace {
	b := trace.NewBuilder()
	b.Reserve(m.t.Len())
	intern := func(s string) trace.StringID { return b.Intern([]byte(s)) }
	*b.Meta() = *m.t.Meta()
	b.Meta().Extra = append(slices.Clone(b.Meta().Extra), trace.Extra{
		Key: PredictedKey, JSON: strconv.Quote(m.p.Name()),
	})
	tracks := make([]trace.TrackID, len(m.t.Tracks()))
	for i := range m.t.Tracks() {
		of := &m.t.Tracks()[i]
		pid := intern(of.PID)
		tracks[i] = b.Track(pid, intern(of.TID))
		b.NameProcess(pid, predictedName(of.ProcessName))
		b.TagProcess(pid, of.ProcessTags)
		b.NameThread(tracks[i], of.ThreadName)
	}
	col := m.t.Columns()
	var args []trace.Arg
	for i := range int32(m.t.Len()) {
		e := m.t.Event(int(i))
		at := m.row(i)
		args = e.AppendArgs(args[:0])
		for k := range args {
			a := &args[k]
			if a.Kind != trace.Int {
				a.Str = intern(m.t.String(a.Str))
			}
			a.Key = b.Key([]byte(m.t.KeyName(a.Key)))
		}
		cat := trace.CatNone
		if col.Cat[i] != trace.CatNone {
			cat = b.Cat([]byte(m.t.CatName(col.Cat[i])))
		}
		b.Add(&trace.Row{
			Start: at.start, Dur: at.dur, Name: intern(e.Name()), Cat: cat,
			Phase: e.Phase(), Track: tracks[at.track], Corr: e.Corr(), External: e.External(), Offset: -1, Args: args,
		})
	}
	return b.Build()
}

// predictedName marks a process for people who look at the trace in a viewer.
func predictedName(name string) string {
	if name == "" {
		return "predicted"
	}
	return name + " (predicted)"
}
