package facts

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/gaprof/gaprof/trace"
)

// Call is a collective as the host asked for it, on any backend.
type Call struct {
	Row      int32
	Start    int64 // ns, host time
	Kind     Collective
	Elems    int64 // the larger side of the message, Unknown
	Dtype    string
	Size     int64 // ranks in the group, 0 unknown
	Site     LaunchSite
	Pass     int  // index of the last backward pass begun before it, -1 before the first
	Step     int  // index of the step, -1 after the last update
	Gradient bool // it reduces gradients
}

// calls lists the collectives that the host threads of a rank ask for, by start:
// one per record_param_comms, else one per c10d operator, else one per span of the
// backend.
func (c *computer) calls(r *Rank) {
	spans := c.spansOf(r.host, collectiveSpan)
	var described, operators, backend []hostOp
	for _, s := range spans {
		name := c.t.String(c.col.Name[s.row])
		switch {
		case strings.HasPrefix(name, "record_param_comms"):
			described = append(described, s)
		case strings.HasPrefix(name, "c10d::"):
			operators = append(operators, s)
		default:
			backend = append(backend, s)
		}
	}
	switch {
	case len(described) > 0:
		r.Calls = c.describedCalls(described)
	case len(operators) > 0:
		r.Calls = c.operatorCalls(operators, backend)
	default:
		r.Calls = c.operatorCalls(backend, backend)
	}
	for i := range r.Calls {
		c.place(r, &r.Calls[i])
	}
}

// describedCalls reads the messages of record_param_comms spans.
func (c *computer) describedCalls(spans []hostOp) []Call {
	calls := make([]Call, 0, len(spans))
	kinds := make(map[trace.Arg]Collective)
	for _, s := range spans {
		e := c.t.Event(int(s.row))
		name, _ := e.Arg(trace.KeyCollective)
		kind, known := kinds[name]
		if !known {
			kind = kindOf(e.ArgText(trace.KeyCollective))
			kinds[name] = kind
		}
		if kind == NotCommunication {
			continue
		}
		var m Message
		m.describe(e)
		call := Call{Row: s.row, Start: s.start, Kind: kind, Elems: max(m.InElems, m.OutElems), Dtype: m.Dtype, Size: m.Size}
		if _, ok := e.Arg(trace.KeyInElems); !ok {
			call.Elems = Unknown
		}
		calls = append(calls, call)
	}
	return calls
}

// operatorCalls takes the size of each c10d operator from the backend's span that did
// it. Nothing links the two but their order: queues are first in, first out. Where
// there are as many spans as operators they pair off whatever they are called (gloo
// does a reduce-scatter as an all-reduce), else kind by kind.
func (c *computer) operatorCalls(operators, backend []hostOp) []Call {
	inOrder := len(operators) == len(backend)
	sizes := make(map[Collective][]int32)
	for _, s := range backend {
		kind := kindOf(afterColon(c.t.String(c.col.Name[s.row])))
		sizes[kind] = append(sizes[kind], s.row)
	}
	var calls []Call
	for i, s := range operators {
		kind := kindOf(afterColon(c.t.String(c.col.Name[s.row])))
		if kind == NotCommunication {
			continue
		}
		call := Call{Row: s.row, Start: s.start, Kind: kind, Elems: Unknown}
		if inOrder {
			call.Elems, call.Dtype = c.elements(backend[i].row)
		} else if rows := sizes[kind]; len(rows) > 0 {
			call.Elems, call.Dtype = c.elements(rows[0])
			sizes[kind] = rows[1:]
		}
		calls = append(calls, call)
	}
	return calls
}

// afterColon is what stands behind the last colon of a name.
func afterColon(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }

// elements is the number of elements of all tensors that a row takes.
func (c *computer) elements(row int32) (n int64, dtype string) {
	ops := c.shapes.inputs(row)
	if len(ops) == 0 {
		return Unknown, ""
	}
	for _, o := range ops {
		for _, s := range o.shapes {
			n += numel(s)
		}
	}
	return n, ops[0].dtype
}

// place finds step, backward pass and site of a call and whether it can be one that
// reduces gradients.
func (c *computer) place(r *Rank, call *Call) {
	call.Step = r.StepAt(call.Start)
	call.Pass = sort.Search(len(r.Backwards), func(i int) bool { return r.Backwards[i].Start > call.Start }) - 1
	call.Site = c.siteOf(call.Row)
	call.Gradient = r.reducesGradients(call.Kind, call.Elems, call.Site)
}

// reducesGradients tells whether a collective can be one that reduces gradients: a
// reduction of more elements than norms and counters have.
func (r *Rank) reducesGradients(kind Collective, elems int64, site LaunchSite) bool {
	if kind != AllReduce && kind != ReduceScatter {
		return false
	}
	return elems > maxCounter || elems > 1 && r.Params.has(elems) ||
		elems == Unknown && (kind == ReduceScatter || site.Site == SiteBackwardHook)
}

// maxCounter is the greatest number of elements of a message that is taken for norms,
// counts and losses unless a parameter has just as many.
const maxCounter = 16

func (p *Params) has(numel int64) bool {
	return slices.ContainsFunc(p.Classes, func(c ParamClass) bool { return c.Numel == numel })
}

// SyncPattern says in which micro-batches of a step gradients are reduced.
type SyncPattern string

// The patterns of gradient synchronisation. With one micro-batch it is every one.
const (
	SyncEvery   SyncPattern = "every_micro_batch"
	SyncLast    SyncPattern = "last_micro_batch"
	SyncNone    SyncPattern = "none"
	SyncUnknown SyncPattern = "unknown"
)

// Sync is the gradient synchronisation of a rank.
type Sync struct {
	Pattern  SyncPattern
	PerPass  []int // gradient collectives by backward pass of a step, as most steps have them
	Kind     Collective
	Site     LaunchSite
	Ranks    int64 // ranks that reduce gradients together, 0 unknown: of shards times replicas (HSDP)
	Shards   int64 // ranks over which gradients are reduce-scattered, 0 unknown or none
	Elements int64 // of one step's gradient collectives, Unknown
}

// sync derives the pattern from the complete steps.
func (r *Rank) sync() Sync {
	perStep := make([][]int, len(r.Steps))
	for i := range r.Steps {
		perStep[i] = make([]int, len(r.Steps[i].Backwards))
	}
	s := Sync{Pattern: SyncUnknown}
	sites := make(map[LaunchSite]int)
	kinds := make(map[Collective]int)
	sizes := make(map[Collective]int64)
	for i := range r.Calls {
		call := &r.Calls[i]
		if !call.Gradient || call.Step < 0 {
			continue
		}
		if at := call.Pass - r.firstPass(call.Step); at >= 0 && at < len(perStep[call.Step]) {
			perStep[call.Step][at]++
		}
		sites[call.Site]++
		kinds[call.Kind]++
		sizes[call.Kind] = max(sizes[call.Kind], call.Size)
	}
	s.Site, s.Kind = mostFrequent(sites, unknownSite), mostFrequent(kinds, NotCommunication)
	s.Shards, s.Ranks = sizes[ReduceScatter], max(sizes[ReduceScatter], sizes[AllReduce])
	if kinds[ReduceScatter] > 0 {
		s.Kind = ReduceScatter // the all-reduces are of replicas of the shards, in a group of their own
		if product := s.Shards * max(1, sizes[AllReduce]); r.WorldSize == 0 || product <= r.WorldSize {
			s.Ranks = product
		}
	}
	s.PerPass = typical(perStep, r.Steps)
	s.Pattern = pattern(s.PerPass, r)
	return s
}

// firstPass is the index of the first backward pass of a step.
func (r *Rank) firstPass(step int) int {
	start := r.Steps[step].HostStart
	return sort.Search(len(r.Backwards), func(i int) bool { return r.Backwards[i].Start >= start })
}

// typical is the list that most complete steps have; the first wins a draw.
func typical(lists [][]int, steps []Step) []int {
	count, keys := make(map[string]int), make([]string, len(lists))
	for i, l := range lists {
		keys[i] = fmt.Sprint(l)
		if steps[i].Complete || len(steps) == 1 {
			count[keys[i]]++
		}
	}
	best, most := []int(nil), 0
	for i, l := range lists {
		if n := count[keys[i]]; n > most {
			best, most = l, n
		}
	}
	return best
}

func pattern(perPass []int, r *Rank) SyncPattern {
	if len(perPass) == 0 {
		return SyncUnknown
	}
	total := 0
	for _, n := range perPass {
		total += n
	}
	last := perPass[len(perPass)-1]
	switch {
	case total == 0:
		return SyncNone
	case len(perPass) == 1 || !slices.Contains(perPass, 0):
		return SyncEvery
	case total == last:
		return SyncLast
	}
	return SyncUnknown
}

// mostFrequent is the key with the greatest count; ties go to the one that prints first.
func mostFrequent[K comparable](count map[K]int, none K) K {
	best, most := none, 0
	for k, n := range count {
		if n > most || n == most && fmt.Sprint(k) < fmt.Sprint(best) {
			best, most = k, n
		}
	}
	return best
}
