package calibration

import (
	"strings"

	"github.com/gaprof/gaprof/analyze/timeline"
)

// The times that are measured.
const (
	eager = iota
	launch
	memcpy
	memset
	record
	wait
	collective
	start
	gap
	event
	numTimes
)

// times are their names, as presets have them, and what a trace without them lacks. call is what the name of the call
// begins with after cuda, cu or hip.
var times = [numTimes]struct{ name, call, lacks string }{
	eager:      {"eager", "", "no operators that follow each other and launch a kernel each"},
	launch:     {"launch", "LaunchKernel", "no calls that launch a kernel"},
	memcpy:     {"memcpy", "MemcpyAsync", "no calls of it"},
	memset:     {"memset", "MemsetAsync", "no calls of it"},
	record:     {"record", "EventRecord", "no calls of it"},
	wait:       {"wait", "StreamWaitEvent", "no calls of it"},
	collective: {"collective", "", "no collectives with their spans on the host"},
	start:      {"start", "", "no kernels that find the device idle"},
	gap:        {"gap", "", "no kernels that wait for the one before on their stream alone"},
	event:      {"event", "", "no collectives that wait for compute alone"},
}

// Samples are what is taken of one rank: a value that refers to no trace. Times are ns.
type Samples struct {
	Times    [numTimes][]int64
	Products map[product][]int64
	Moves    map[move][]int64
	Small    []int64 // durations of kernels that move next to nothing
	Compute  int64   // of kernels that do not communicate, together
	Idle     float64 // share of the time between its first and last event in which a device does nothing
	Shapes   bool    // operators were recorded with shapes
}

// product is the size of a matrix product: rows x inner by inner x columns.
type product struct {
	Dtype                string
	Rows, Columns, Inner int64
}

// move is what a kernel of an operator reads and writes.
type move struct {
	Op    string
	Bytes int64
}

// Of takes the samples of a rank.
func Of(r *timeline.Rank) *Samples {
	s := newSamples()
	s.host(r)
	for _, d := range r.Devices {
		s.device(r, d)
		s.operators(r, d)
	}
	s.own()
	return s
}

func newSamples() *Samples {
	return &Samples{Products: make(map[product][]int64), Moves: make(map[move][]int64)}
}

// own copies what would keep the trace in memory.
func (s *Samples) own() {
	products, moves := make(map[product][]int64, len(s.Products)), make(map[move][]int64, len(s.Moves))
	for p, list := range s.Products {
		p.Dtype = strings.Clone(p.Dtype)
		products[p] = list
	}
	for m, list := range s.Moves {
		m.Op = strings.Clone(m.Op)
		moves[m] = list
	}
	s.Products, s.Moves = products, moves
}
