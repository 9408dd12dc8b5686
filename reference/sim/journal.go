package sim

import (
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/trace/graph"
)

// journal is what is told of a rank. It is empty where nobody wants to know.
type journal struct {
	lines  pile[told]
	calls  pile[madeCall]
	spans  pile[madeSpan] // by when they begin; told of when they end
	memory pile[madeMemory]
	waits  pile[madeWait]
	ops    pile[madeOp]
}

// told is a line of the journal: what a Recorder is to be told, in the order of the program.
type told struct {
	kind  toldKind
	index int32 // into the list of its kind; of a step its number
}

type toldKind uint8

const (
	toldStep toldKind = iota
	toldCall
	toldSpan
	toldMemory
	toldWait
)

// madeCall is a call of the runtime.
type madeCall struct {
	name        string
	node        graph.Node
	correlation int64
	external    int64
}

// madeSpan is a span of the program.
type madeSpan struct {
	kind     *spanKind
	message  *device.Message // of a record_param_comms, else nil
	external int64
	from, to place
}

// madeMemory is an allocation or a release.
type madeMemory struct {
	device.MemoryEvent
	at place
}

// madeWait is a wait of a stream or of the host.
type madeWait struct {
	device.SyncEvent
	call  graph.Node
	after graph.Node // the last operation of a waiting stream
	on    graph.Node // what a stream waits for
}

// madeOp is an operation on a stream.
type madeOp struct {
	node        graph.Node
	kind        string
	name        string
	stream      int
	correlation int64
	external    int64
	flops       int64
	bytes       int64
	message     *device.Message
}

// tells adds an item to its list, and a line of it.
func tells[T any](j *journal, kind toldKind, list *pile[T], item T) {
	j.lines.add(told{kind, int32(list.len())})
	list.add(item)
}

// pile is a list that grows without being copied: of very many ranks, copies would be most of what is allocated.
type pile[T any] struct{ parts [][]T }

// partLen is how many items a part of a pile has.
const partLen = 128

// add puts an item on a pile and returns its place there, which does not move.
func (p *pile[T]) add(item T) *T {
	last := len(p.parts) - 1
	if last < 0 || len(p.parts[last]) == partLen {
		p.parts = append(p.parts, make([]T, 0, partLen))
		last++
	}
	part := append(p.parts[last], item)
	p.parts[last] = part
	return &part[len(part)-1]
}

func (p *pile[T]) len() int {
	last := len(p.parts) - 1
	if last < 0 {
		return 0
	}
	return last*partLen + len(p.parts[last])
}

func (p *pile[T]) at(i int32) *T { return &p.parts[i/partLen][i%partLen] }

// all yields the places of all items.
func (p *pile[T]) all(yield func(*T) bool) {
	for _, part := range p.parts {
		for i := range part {
			if !yield(&part[i]) {
				return
			}
		}
	}
}
