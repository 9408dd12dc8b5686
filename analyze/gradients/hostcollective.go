package gradients

import (
	"slices"
	"sort"
	"strings"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// HostCollective is a collective as the host asked for it, on any backend.
type HostCollective struct {
	Event     timeline.Event
	Kind      timeline.CollectiveKind
	Elems     int64 // elements of the larger side of the message, Unknown
	Dtype     string
	GroupSize int64 // ranks in the group, 0 unknown
	Site      timeline.LaunchSite
	Backward  int  // index of the last backward pass begun before it, -1 before the first
	Step      int  // index of the step, -1 after the last update
	Gradient  bool // it reduces gradients
}

// asked is a host collective and its row.
type asked struct {
	HostCollective
	row int32
}

// hostCollectives lists the collectives that the host threads of a rank ask for, by
// start: one per record_param_comms, else one per c10d operator, else one per span of
// the backend. Their rows stand beside.
func hostCollectives(x *timeline.Rank, s *steps.Steps, params *Params, passes []Backward) (list []HostCollective, rows []int32) {
	found := askedFor(x)
	list, rows = make([]HostCollective, len(found)), make([]int32, len(found))
	for i := range found {
		c := &found[i]
		c.Event = x.Event(c.row)
		c.Step = s.At(c.Event.Start)
		c.Backward = sort.Search(len(passes), func(i int) bool { return passes[i].Start > c.Event.Start }) - 1
		c.Site = x.SiteOf(c.row)
		c.Gradient = params.Reduces(c.Kind, c.Elems, c.Site)
		list[i], rows[i] = c.HostCollective, c.row
	}
	return list, rows
}

func askedFor(x *timeline.Rank) []asked {
	spans := x.Spans(x.Host, timeline.CollectiveSpan)
	var described, operators, backend []int32
	for _, s := range spans {
		name := x.Name(s.Row)
		switch {
		case strings.HasPrefix(name, timeline.RecordParamComms):
			described = append(described, s.Row)
		case strings.HasPrefix(name, "c10d::"):
			operators = append(operators, s.Row)
		default:
			backend = append(backend, s.Row)
		}
	}
	switch {
	case len(described) > 0:
		return describedCollectives(x, described)
	case len(operators) > 0:
		return operatorCollectives(x, operators, backend)
	}
	return operatorCollectives(x, backend, backend)
}

// describedCollectives reads the messages of record_param_comms spans.
func describedCollectives(x *timeline.Rank, rows []int32) []asked {
	list := make([]asked, 0, len(rows))
	kinds := make(map[trace.Arg]timeline.CollectiveKind)
	for _, row := range rows {
		e := x.Trace.Event(int(row))
		name, _ := e.Arg(trace.KeyCollective)
		kind, known := kinds[name]
		if !known {
			kind = timeline.KindOf(e.ArgText(trace.KeyCollective))
			kinds[name] = kind
		}
		if kind == timeline.NotCommunication {
			continue
		}
		m := x.MessageAt(row)
		c := asked{row: row}
		c.Kind, c.Elems, c.Dtype, c.GroupSize = kind, max(m.InElems, m.OutElems), m.Dtype, m.GroupSize
		if _, ok := e.Arg(trace.KeyInElems); !ok {
			c.Elems = Unknown
		}
		list = append(list, c)
	}
	return list
}

// operatorCollectives takes the size of each c10d operator from the backend's span that
// did it. Nothing links the two but their order: queues are first in, first out. Where
// there are as many spans as operators they pair off whatever they are called (gloo
// does a reduce-scatter as an all-reduce), else kind by kind.
func operatorCollectives(x *timeline.Rank, operators, backend []int32) []asked {
	in, inOrder := x.Inputs(), len(operators) == len(backend)
	byKind := make(map[timeline.CollectiveKind][]int32)
	for _, row := range backend {
		kind := timeline.KindOf(afterColon(x.Name(row)))
		byKind[kind] = append(byKind[kind], row)
	}
	var list []asked
	for i, row := range operators {
		kind := timeline.KindOf(afterColon(x.Name(row)))
		if kind == timeline.NotCommunication {
			continue
		}
		c := asked{row: row}
		c.Kind, c.Elems = kind, Unknown
		if inOrder {
			c.Elems, c.Dtype = elements(in.Of(backend[i]))
		} else if rows := byKind[kind]; len(rows) > 0 {
			c.Elems, c.Dtype = elements(in.Of(rows[0]))
			byKind[kind] = rows[1:]
		}
		list = append(list, c)
	}
	return list
}

// afterColon is what stands behind the last colon of a name.
func afterColon(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }

// elements is the number of elements of all tensors of some operands.
func elements(ops []timeline.Operand) (n int64, dtype string) {
	if len(ops) == 0 {
		return Unknown, ""
	}
	for _, o := range ops {
		for _, s := range o.Shapes {
			n += timeline.Numel(s)
		}
	}
	return n, ops[0].Dtype
}

// reductions are the starts of the collectives that reduce gradients, ascending.
func reductions(list []HostCollective) []int64 {
	var starts []int64
	for i := range list {
		if list[i].Gradient {
			starts = append(starts, list[i].Event.Start)
		}
	}
	return starts
}

// Reduces reports whether a collective of so many elements (Unknown) can be one that
// reduces gradients: a reduction of more elements than norms and counters have.
func (p *Params) Reduces(kind timeline.CollectiveKind, elems int64, site timeline.LaunchSite) bool {
	if kind != timeline.AllReduce && kind != timeline.ReduceScatter {
		return false
	}
	return elems > maxCounter || elems > 1 && p.has(elems) ||
		elems == Unknown && (kind == timeline.ReduceScatter || site.Site == timeline.SiteBackwardHook)
}

// maxCounter is the greatest number of elements of a message that is taken for norms,
// counts and losses unless a parameter has just as many.
const maxCounter = 16

func (p *Params) has(numel int64) bool {
	return slices.ContainsFunc(p.Classes, func(c ParamClass) bool { return c.Numel == numel })
}
