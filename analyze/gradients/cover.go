package gradients

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/internal/bounded"
)

// message is a collective that may reduce gradients.
type message struct {
	index int // of the collective
	elems int64
	node  bool // asked for by a hook at an autograd node that accumulates nothing
}

// whole is the gradients that a group of messages may be of.
type whole struct {
	count  int
	numel  int64
	counts []int // by class
	exact  bool  // only messages of just as many elements
}

// The elements that messages may have in excess of the gradients: buffers are padded, to a
// multiple of the ranks and of the alignment. What a hook at a node reduces is more likely an
// activation's gradient, and must fit.
const (
	mostPadded     = 2.0
	mostPaddedNode = 1.1
)

// leastNamed is the least part of the gradients whose messages are recognized one by one.
// It is less than coverage: parameters that each rank has alone, as experts are, are not reduced.
const leastNamed = 0.5

// cover returns the indexes of those messages that together are some gradients, of which
// other collectives reduce covered elements; none if nothing of what they may be fits.
func cover(messages []message, wholes []whole, covered int64, classes []ParamClass) []int {
	for i := range wholes {
		if named := wholes[i].named(messages, classes); named != nil {
			return named
		}
	}
	slices.SortStableFunc(messages, func(a, b message) int { return cmp.Compare(b.elems, a.elems) })
	for i := range wholes {
		if n := wholes[i].largest(messages, covered); n > 0 {
			return indexes(messages[:n])
		}
	}
	return nil
}

// named returns the messages that are one parameter each, if they are most of the parameters.
func (w *whole) named(messages []message, classes []ParamClass) (list []int) {
	left := make(map[int64]int)
	for class, n := range w.counts {
		left[classes[class].Numel] += n
	}
	numel := int64(0)
	for _, m := range messages {
		if left[m.elems] > 0 {
			left[m.elems]--
			numel = bounded.Add(numel, m.elems)
			list = append(list, m.index)
		}
	}
	least := leastNamed
	if w.exact {
		least = 1
	}
	if float64(numel) < least*float64(w.numel) || float64(len(list)) < least*float64(w.count) {
		return nil
	}
	return list
}

// largest returns how many of the messages, the largest first, are the gradients together with
// covered elements; 0 if they are not.
func (w *whole) largest(messages []message, covered int64) int {
	least, most := coverage*float64(w.numel), mostPadded*float64(w.numel)
	sum := covered
	for n, m := range messages {
		sum = bounded.Add(sum, m.elems)
		if m.node {
			most = mostPaddedNode * float64(w.numel)
		}
		more := n+1 < len(messages) && sum < w.numel && bounded.Add(sum, messages[n+1].elems) <= w.numel
		switch {
		case float64(sum) > most || w.exact && sum > w.numel:
			return 0
		case sum >= w.numel, float64(sum) >= least && !w.exact && !more:
			return n + 1
		}
	}
	return 0
}

func indexes(messages []message) []int {
	list := make([]int, len(messages))
	for i, m := range messages {
		list[i] = m.index
	}
	return list
}

// wholeOf returns the parameters of some classes of which so many are accumulated.
func wholeOf(accumulated []int, classes []ParamClass) (w whole) {
	w.counts = make([]int, len(accumulated))
	for i, n := range accumulated {
		n = min(n, classes[i].Count)
		w.counts[i] = n
		w.count += n
		w.numel = bounded.Add(w.numel, bounded.Mul(int64(n), classes[i].Numel))
	}
	return w
}
