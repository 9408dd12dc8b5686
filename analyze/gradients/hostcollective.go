package gradients

import (
	"sort"
	"strings"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/trace"
)

// HostCollective is a collective as a host thread calls for it, on any backend. On a CPU
// (gloo) it is all there is; with NCCL each launches one device collective, or several.
type HostCollective struct {
	Event     timeline.Event          // its span on the host
	Kind      timeline.CollectiveKind // never NotCommunication
	Elems     int64                   // elements of the larger side of the message, or Unknown
	Dtype     string                  // element type, "" unknown
	Group     string                  // name of the process group, "" unknown
	GroupSize int64                   // ranks in the process group, 0 unknown
	Site      timeline.LaunchSite     // the part of the program that calls for it
	Backward  int                     // index of the last backward pass that begins before it, -1 for none
	Step      int                     // index of the step, -1 after the last update
	Gradient  bool                    // it reduces gradients: see recognizer
	Again     bool                    // the last backward pass of its step reduces as much once more
	Replicas  bool                    // it reduces them between replicas of shards (HSDP)
	NoSync    int                     // index into Gradients.NoSync if no_sync() ought to have prevented it, else -1

	// Waited is for how long, in ns on the host, as many elements had been ready as it and the
	// collectives of gradients before it in its backward pass reduce, when it was called for;
	// Ready is how many elements were. 0 also where that is unknown: see readiness.
	Waited, Ready int64
}

// asked is host collectives, entry by entry.
type asked struct {
	list     []HostCollective
	rows     []int32
	received []int64 // elements that it leaves on this rank, 0 unknown
}

// askedWith is none yet, with capacity for n.
func askedWith(n int) asked {
	return asked{make([]HostCollective, 0, n), make([]int32, 0, n), make([]int64, 0, n)}
}

func (a *asked) add(c HostCollective, row int32, received int64) {
	a.list, a.rows, a.received = append(a.list, c), append(a.rows, row), append(a.received, received)
}

// hostCollectives lists the collectives that the host threads of a rank call for, in order
// of start, and their rows. PyTorch records each up to three times, one inside the other:
// as an operator (c10d::allreduce_), as record_param_comms and as a span of the backend
// (nccl:all_reduce, gloo:all_reduce). One of the three must count, and the whole trace has
// to agree on which: record_param_comms if any says what it is, which it does not in older
// versions, else operators, else the backend.
func hostCollectives(
	x *timeline.Rank, s *steps.Steps, params *Params, optimizers []Optimizer, passes []Backward,
) (list []HostCollective, rows []int32) {
	found := askedFor(x)
	list, rows = found.list, found.rows
	for i := range list {
		c := &list[i]
		c.Event = x.Event(rows[i])
		c.Step = s.At(c.Event.Start)
		c.Backward = sort.Search(len(passes), func(i int) bool { return passes[i].Start > c.Event.Start }) - 1
		c.Site = x.SiteOf(rows[i])
		c.NoSync = -1
	}
	r := recognizer{x: x, steps: s, params: params, optimizers: optimizers, passes: passes}
	r.mark(list, rows, found.received)
	markAgain(list)
	markReplicas(x, list, rows, found.received)
	return list, rows
}

// markAgain notes the reductions of gradients that the last backward pass of their step
// repeats: it has one of the same kind and as many elements. Two models that run backward one
// after the other, as those of a GAN, reduce different gradients.
func markAgain(list []HostCollective) {
	type reduction struct {
		kind  timeline.CollectiveKind
		elems int64
	}
	last := make(map[reduction]bool) // of the last backward pass of a step
	for i := len(list) - 1; i >= 0; {
		step, backward := list[i].Step, list[i].Backward
		clear(last)
		for ; i >= 0 && list[i].Step == step; i-- {
			c := &list[i]
			of := reduction{c.Kind, c.Elems}
			switch {
			case !c.Gradient || step < 0:
			case c.Backward == backward:
				last[of] = true
			default:
				c.Again = last[of]
			}
		}
	}
}

// askedFor lists host collectives with what their spans say of them; the rest of their
// fields is filled in by hostCollectives.
func askedFor(x *timeline.Rank) asked {
	spans := x.Spans(x.Host, timeline.CollectiveSpan)
	var described, operators, backend []int32
	for _, s := range spans {
		name := x.Name(s.Row)
		switch {
		case strings.HasPrefix(name, timeline.RecordParamComms):
			if len(described) > 0 || told(x, s.Row) {
				described = append(described, s.Row)
			}
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

// told reports whether a record_param_comms span says what it is.
func told(x *timeline.Rank, row int32) bool {
	_, ok := x.Trace.Event(int(row)).Arg(trace.KeyCollective)
	return ok
}

// describedCollectives reads the messages of record_param_comms spans. Those that do not
// say what they are, barriers and the like are left out.
func describedCollectives(x *timeline.Rank, rows []int32) asked {
	list := askedWith(len(rows))
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
		c := HostCollective{
			Kind:      kind,
			Elems:     max(m.InElems, m.OutElems),
			Dtype:     m.Dtype,
			Group:     m.Group,
			GroupSize: m.GroupSize,
		}
		if _, ok := e.Arg(trace.KeyInElems); !ok {
			c.Elems = Unknown
		}
		list.add(c, row, m.OutElems)
	}
	return list
}

// operatorCollectives takes the size of each c10d operator from the span in which the
// backend executed it. Only their order links the two, since queues are first in, first
// out. If there are as many spans as operators, they are paired whatever they are called
// (gloo executes a reduce-scatter as an all-reduce), else kind by kind.
func operatorCollectives(x *timeline.Rank, operators, backend []int32) asked {
	in, inOrder := x.Inputs(), len(operators) == len(backend)
	byKind := make(map[timeline.CollectiveKind][]int32)
	for _, row := range backend {
		kind := timeline.KindOf(afterColon(x.Name(row)))
		byKind[kind] = append(byKind[kind], row)
	}
	list := askedWith(len(operators))
	for i, row := range operators {
		kind := timeline.KindOf(afterColon(x.Name(row)))
		if kind == timeline.NotCommunication {
			continue
		}
		c, received := HostCollective{Kind: kind, Elems: Unknown}, int64(0)
		if ops := in.Of(row); len(ops) > 0 {
			received, _ = elements(ops[:1])
		}
		if inOrder {
			c.Elems, c.Dtype = elements(in.Of(backend[i]))
		} else if rows := byKind[kind]; len(rows) > 0 {
			c.Elems, c.Dtype = elements(in.Of(rows[0]))
			byKind[kind] = rows[1:]
		}
		if c.Elems == Unknown {
			c.Elems, c.Dtype = ownElements(in.Of(row))
		}
		list.add(c, row, received)
	}
	return list
}

// ownElements returns the number of elements that an operator was given, of the larger of what it
// sends and receives, and their dtype if it says so. Lists of tensors may be recorded empty.
func ownElements(ops []timeline.Operand) (n int64, dtype string) {
	n = Unknown
	for _, o := range ops[:min(2, len(ops))] {
		if len(o.Shapes) == 0 || o.Scalar() && timeline.DtypeBytes(o.Dtype) == 0 {
			continue
		}
		if m, of := elements([]timeline.Operand{o}); m > n {
			n, dtype = m, of
		}
	}
	if timeline.DtypeBytes(dtype) == 0 {
		dtype = ""
	}
	return n, dtype
}

// afterColon returns the part of a name after its last colon.
func afterColon(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }

// elements returns the number of elements of all tensors of some operands, and the dtype of
// the first; Unknown without operands.
func elements(ops []timeline.Operand) (n int64, dtype string) {
	if len(ops) == 0 {
		return Unknown, ""
	}
	for _, o := range ops {
		n = bounded.Add(n, timeline.NumelOfAll(o.Shapes))
	}
	return n, ops[0].Dtype
}

// reductions returns the starts of the collectives that reduce gradients, ascending.
func reductions(list []HostCollective) []int64 {
	starts := make([]int64, 0, len(list))
	for i := range list {
		if list[i].Gradient {
			starts = append(starts, list[i].Event.Start)
		}
	}
	return starts
}

// byHand returns those of the reductions of gradients that the program itself asks for:
// none where DDP or FSDP reduce, which average as well.
func byHand(x *timeline.Rank, reduced []int64) []int64 {
	if x.AnyName()&timeline.Reducer != 0 {
		return nil
	}
	return reduced
}

// ofNumbers returns the starts of the all-reduces of a single number, ascending.
func ofNumbers(list []HostCollective) []int64 {
	var starts []int64
	for i := range list {
		if list[i].Kind == timeline.AllReduce && list[i].Elems == 1 {
			starts = append(starts, list[i].Event.Start)
		}
	}
	return starts
}

// collectiveTime is when collectives of the host run, on any thread.
func collectiveTime(x *timeline.Rank) *timeline.Set {
	spans := x.Spans(x.Host, timeline.CollectiveSpan)
	set := timeline.NewSet(len(spans))
	for _, s := range spans {
		set.Add(s.Start, s.End)
	}
	return set
}
