package timeline

import (
	"cmp"
	"sync/atomic"

	"github.com/gaprof/gaprof/internal/runs"
	"github.com/gaprof/gaprof/trace"
)

// Rows is a trace with its names classified. It answers questions about single rows and
// about the spans around them. It is read-only but for two things that any number of
// goroutines may do at the same time: filling the cache of operands, and noting that a
// stack was too deep.
type Rows struct {
	Trace *trace.Trace
	Col   trace.Columns // those of Trace, but for the durations of overlong device events; see Device

	names    *names
	marked   [][]mark     // by track: see markTracks
	classes  []Class      // by track: all classes of the names on it
	autograd []bool       // by track: see findAutograd
	texts    *parsedTexts // shared by all readers of operands
	tooDeep  atomic.Bool  // see TooDeep
}

// Span is a complete event with its time.
type Span struct {
	Row        int32
	Start, End int64 // ns
}

// mark is a row and the classes of its name.
type mark struct {
	row   int32
	class Class
}

func newRows(t *trace.Trace, declared []Declaration) *Rows {
	x := &Rows{Trace: t, Col: t.Columns(), names: classifyNames(t), texts: newParsedTexts()}
	x.names.classifyKernels(t, declared)
	x.markTracks()
	x.findAutograd()
	return x
}

// markTracks goes over all host rows once and keeps, by track, those whose names say more
// than that they are operators, along with all classes that occur on the track. They are
// few, so a search for any class but the operators need not look at the other rows, and a
// track without the class is skipped as a whole. Rows of devices are left out: names mean
// nothing there but for kernels, which build classifies.
func (x *Rows) markTracks() {
	tracks := x.Trace.Tracks()
	x.marked, x.classes = make([][]mark, len(tracks)), make([]Class, len(tracks))
	for id, track := range tracks {
		if !track.Activity {
			x.marked[id], x.classes[id] = x.markTrack(track)
		}
	}
}

// markTrack counts before it collects: marks stay for as long as the index does, and
// growing them as they come would leave up to half of their memory unused.
func (x *Rows) markTrack(track trace.Track) (rows []mark, all Class) {
	class, n := x.names.class, 0
	names := x.Col.Name[track.First : track.First+track.N]
	for _, name := range names {
		all |= class[name]
		if class[name]&^operator != 0 {
			n++
		}
	}
	rows = make([]mark, 0, n)
	for i, name := range names {
		if class[name]&^operator != 0 && x.Col.Phase[track.First+i] == trace.Complete {
			rows = append(rows, mark{int32(track.First + i), class[name]})
		}
	}
	return rows, all
}

// findAutograd notes the tracks that carry backward spans and no optimizer step. They are
// threads of the autograd engine, and whatever is launched there is launched in backward.
// On a CPU, backward runs on the thread that called it, which steps the optimizer, too.
func (x *Rows) findAutograd() {
	x.autograd = make([]bool, len(x.classes))
	for id, class := range x.classes {
		x.autograd[id] = class&(AccumulateGrad|EvaluateFunction) != 0 && class&OptimizerStep == 0
	}
}

// Class returns the classes of a row's name.
func (x *Rows) Class(row int32) Class { return x.names.class[x.Col.Name[row]] }

// NameClass returns the classes of a name.
func (x *Rows) NameClass(id trace.StringID) Class { return x.names.class[id] }

// AnyName returns the classes of all names of the trace together, which says at once that
// a trace has no span of some class.
func (x *Rows) AnyName() Class { return x.names.all }

// Is reports whether the name of a row is of one of the classes.
func (x *Rows) Is(row int32, class Class) bool { return x.names.class[x.Col.Name[row]]&class != 0 }

// Track returns all classes of the names on a host track, 0 for one of a device.
func (x *Rows) Track(id trace.TrackID) Class { return x.classes[id] }

// Autograd reports whether a track is a thread of the autograd engine alone: it
// carries backward spans and no optimizer step.
func (x *Rows) Autograd(id trace.TrackID) bool { return x.autograd[id] }

// Name returns the name of a row, a piece of the trace's memory.
func (x *Rows) Name(row int32) string { return x.Trace.String(x.Col.Name[row]) }

// End returns when a row ends, in ns.
func (x *Rows) End(row int32) int64 { return x.Col.Start[row] + x.Col.Dur[row] }

// TrackEnd returns the number of the row after the last one of a row's track. As rows are
// sorted by track and start, the rows inside a span are those that follow it, up to the
// first that starts after its end, but not beyond TrackEnd.
func (x *Rows) TrackEnd(row int32) int32 {
	track := x.Trace.Tracks()[x.Col.Track[row]]
	return int32(track.First + track.N)
}

// Inputs returns a new reader of the operands of rows; each goroutine needs its own.
func (x *Rows) Inputs() *Operands { return &Operands{t: x.Trace, texts: x.texts} }

// Each calls do for the complete events of any of some classes on some host tracks, by
// track and then by start. It goes over all rows of a track only for AtenOp and AddInPlace.
func (x *Rows) Each(tracks []trace.TrackID, class Class, do func(row int32)) {
	for _, id := range tracks {
		switch {
		case x.classes[id]&class == 0:
		case class&operator != 0:
			track := x.Trace.Tracks()[id]
			for i := int32(track.First); i < int32(track.First+track.N); i++ {
				if x.Is(i, class) && x.Col.Phase[i] == trace.Complete {
					do(i)
				}
			}
		default:
			for _, m := range x.marked[id] {
				if m.class&class != 0 {
					do(m.row)
				}
			}
		}
	}
}

// Spans lists the spans of any of some classes on some host tracks, in order of start. The
// caller owns the slice.
func (x *Rows) Spans(tracks []trace.TrackID, class Class) []Span {
	n := 0
	x.Each(tracks, class, func(int32) { n++ })
	list := make([]Span, 0, n)
	x.Each(tracks, class, func(row int32) { list = append(list, x.Span(row)) })
	SortSpans(list)
	return list
}

// Span returns a row with its time.
func (x *Rows) Span(row int32) Span {
	start := x.Col.Start[row]
	return Span{row, start, start + x.Col.Dur[row]}
}

// SortSpans sorts spans by start; those that start together stay in their order. It merges
// sorted runs, of which spans of several threads have one a thread.
func SortSpans(list []Span) {
	runs.Sort(list, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) }, nil)
}

// SortByStart sorts rows by start; those that start together stay in their order.
func (x *Rows) SortByStart(rows []int32) {
	runs.Sort(rows, func(a, b int32) int { return cmp.Compare(x.Col.Start[a], x.Col.Start[b]) }, nil)
}

// Deepest is how many spans around an event are looked at. Python's own limit is a depth of
// a thousand calls, so no real program reaches it, but a hostile file of n nested spans
// would take time in the square of n without a limit.
const Deepest = 2048

// Stack calls visit for the spans that contain row's start on its thread, from the
// innermost outwards, until visit returns false. Parents that ended before that are
// skipped: rounded timestamps let a child outlast its parent. Beyond Deepest spans it
// stops, and TooDeep reports true from then on.
func (x *Rows) Stack(row int32, visit func(span int32) bool) {
	now, depth := x.Col.Start[row], 0
	for p := x.Col.Parent[row]; p != trace.NoParent; p = x.Col.Parent[p] {
		if depth++; depth > Deepest {
			x.tooDeep.Store(true)
			return
		}
		if x.Col.Start[p]+x.Col.Dur[p] > now && !visit(p) {
			return
		}
	}
}

// TooDeep reports whether any Stack has been cut off at Deepest so far.
func (x *Rows) TooDeep() bool { return x.tooDeep.Load() }

// Inside reports whether any span around a row is of one of the classes.
func (x *Rows) Inside(row int32, class Class) bool {
	found := false
	x.Stack(row, func(span int32) bool {
		found = x.Is(span, class)
		return !found
	})
	return found
}

// InBackward reports whether a row is inside a backward pass.
func (x *Rows) InBackward(row int32) bool { return x.Inside(row, AccumulateGrad|EvaluateFunction) }

// Event is a copy of one row: what a person needs to find it in a viewer. It holds no
// reference into the trace once its texts are cloned; see Texts.
type Event struct {
	Name            string // as in the trace
	Process, Thread string // of its track: the process or device, and the thread or stream
	Start, Duration int64  // ns
	Code            string // the line of the program that does it, or launches it; "" unknown, see Rows.Code
}

// Event copies a row. What launched it is not looked for, so that a row of a device has no
// Code yet. Its texts are pieces of the trace's memory.
func (x *Rows) Event(row int32) Event {
	track := &x.Trace.Tracks()[x.Col.Track[row]]
	return Event{
		Name:     x.Name(row),
		Process:  track.PID,
		Thread:   track.TID,
		Start:    x.Col.Start[row],
		Duration: x.Col.Dur[row],
		Code:     x.Code(row),
	}
}

// Texts calls visit for every text of an event, so that it can be replaced by a copy.
func (e *Event) Texts(visit func(*string)) {
	visit(&e.Name)
	visit(&e.Process)
	visit(&e.Thread)
	visit(&e.Code)
}

// Suspect returns what the name of a kernel speaks of, although the kernel is in no family
// of communication and the user declared nothing of it: all-reduce, all-to-all (also
// dispatch and combine), or waiting (notify, signal); NotCommunication for other names, and
// for those that are compute for certain.
func (x *Rows) Suspect(id trace.StringID) CollectiveKind { return x.names.kernel[id].suspect }

// OnDevice reports whether a text is the name of an event on a device.
func (x *Rows) OnDevice(id trace.StringID) bool { return x.names.kernel[id].seen }

// AnySuspect reports whether the trace has such a name at all.
func (x *Rows) AnySuspect() bool { return x.names.suspects }
