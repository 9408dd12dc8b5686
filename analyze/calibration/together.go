package calibration

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gaprof/gaprof/analyze/ranks"
)

// Stat is the middle of samples.
type Stat struct {
	Samples int   // how many; 0 where nothing is known
	Lower   int64 // first quartile, ns
	NS      int64 // median, ns
	Upper   int64 // third quartile, ns
	P90     int64 // ninth decile of the distance from the median, ns
	Middle  int64 // median of the distance from the median, ns
}

// Time is one measured time.
type Time struct {
	Name string // as a preset calls it
	Stat
	Why string // why it is unknown, "" where it is known
}

// Product is what matrix products of a size take.
type Product struct {
	Dtype                string // as the trace calls it
	Rows, Columns, Inner int64
	Stat
}

// Move is what kernels of an operator take that move so many bytes.
type Move struct {
	Op    string // the operator; copy or pcie for copies
	Bytes int64  // read and written
	Stat
}

// Measured is what the traces of a run show of their machine.
type Measured struct {
	Device    string // "" unknown
	Ranks     int    // recorded
	World     int64  // 0 unknown
	Shapes    bool   // operators were recorded with the shapes of their inputs
	Times     []Time
	Products  []Product  // by dtype and size
	Moves     []Move     // by operator and bytes
	Transfers []Transfer // by kind, ranks and bytes
	Lines     []Line     // through those, by kind and ranks
	Uneven    Uneven
}

// fewest is how many samples a time needs.
const fewest = 5

// Together puts the samples of all ranks of a run together, which matched names in the same order.
func Together(list []*Samples, matched *ranks.Result) *Measured {
	m := &Measured{Ranks: len(list)}
	all := newSamples()
	for i, s := range list {
		rank := matched.Sources[i].Rank
		m.Device, m.World = cmp.Or(m.Device, rank.DeviceName), max(m.World, rank.WorldSize)
		all.take(s)
	}
	m.Shapes = all.Shapes
	for t := range all.Times {
		m.Times = append(m.Times, timeOf(times[t].name, times[t].lacks, all.Times[t]))
	}
	m.Times = append(m.Times, timeOf("kernel", "no kernels of operators that move next to nothing", all.Small))
	for p, samples := range all.Products {
		m.Products = append(m.Products, Product{p.Dtype, p.Rows, p.Columns, p.Inner, statOf(samples)})
	}
	for v, samples := range all.Moves {
		m.Moves = append(m.Moves, Move{v.Op, v.Bytes, statOf(samples)})
	}
	m.sort()
	m.Transfers = transfersOf(matched)
	m.Lines = linesOf(m.Transfers)
	m.Uneven = unevenOf(list, matched, m.Transfers)
	return m
}

// sort puts what stood in maps into an order.
func (m *Measured) sort() {
	slices.SortFunc(m.Products, func(a, b Product) int {
		return cmp.Or(cmp.Compare(a.Dtype, b.Dtype), cmp.Compare(a.Rows, b.Rows), cmp.Compare(a.Columns, b.Columns),
			cmp.Compare(a.Inner, b.Inner))
	})
	slices.SortFunc(m.Moves, func(a, b Move) int {
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Bytes, b.Bytes))
	})
}

// take adds the samples of a rank.
func (s *Samples) take(of *Samples) {
	for t := range s.Times {
		s.Times[t] = append(s.Times[t], of.Times[t]...)
	}
	for p, list := range of.Products {
		s.Products[p] = append(s.Products[p], list...)
	}
	for m, list := range of.Moves {
		s.Moves[m] = append(s.Moves[m], list...)
	}
	s.Small, s.Shapes = append(s.Small, of.Small...), s.Shapes || of.Shapes
}

// timeOf is a time, unknown with too few samples.
func timeOf(name, lacks string, samples []int64) Time {
	if len(samples) < fewest {
		return Time{Name: name, Stat: Stat{Samples: len(samples)}, Why: lacks}
	}
	return Time{Name: name, Stat: statOf(samples)}
}

// statOf sorts samples, of which there are some.
func statOf(samples []int64) Stat {
	slices.Sort(samples)
	n := len(samples)
	s := Stat{Samples: n, Lower: samples[n/4], NS: samples[n/2], Upper: samples[n*3/4]}
	off := make([]int64, n)
	for i, v := range samples {
		off[i] = max(v-s.NS, s.NS-v)
	}
	slices.Sort(off)
	s.Middle, s.P90 = off[n/2], off[n*9/10]
	return s
}

// sortedKeys are the keys of a map in an order.
func sortedKeys[K comparable, V any](m map[K]V, order func(a, b K) int) []K {
	return slices.SortedFunc(maps.Keys(m), order)
}
