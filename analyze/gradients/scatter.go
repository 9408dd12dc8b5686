package gradients

import (
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/trace"
)

// markScattered notes the products over whole gradients that are reduce-scattered next on
// the same thread: a division for the mean, made where every rank still has all of it.
// FSDP1 and Megatron's distributed optimizer divide so, and fully_shard does in float16.
// All-reduces of one buffer, divided by a number, are the same.
//
// The message must have the elements of the product, those that pad it to a multiple of
// the ranks aside. collectives are in order of start, and rows theirs.
func markScattered(x *timeline.Rank, collectives []HostCollective, rows []int32, list []operation) {
	last := make(map[trace.TrackID]*operation) // by thread: the product since its last collective
	i := 0
	for k := range collectives {
		c := &collectives[k]
		for ; i < len(list) && list[i].start < c.Event.Start; i++ {
			if list[i].family == multiply {
				last[x.Col.Track[list[i].row]] = &list[i]
			}
		}
		track := x.Col.Track[rows[k]]
		if t := last[track]; t != nil && t.end <= c.Event.Start && c.Gradient {
			t.scattered = (c.Kind == timeline.ReduceScatter || t.flat() && !t.tensor) && t.fills(c)
		}
		delete(last, track)
	}
}

// flat reports whether an operation is on one buffer without shape, in which gradients lie one
// after the other. ZeRO divides such a buffer by the number of ranks before it is all-reduced.
func (t *operation) flat() bool {
	shapes := t.shapes()
	return len(shapes) == 1 && len(shapes[0]) == 1
}

// fills reports whether the tensors of an operation are the message of a collective.
func (t *operation) fills(c *HostCollective) bool {
	n, padded := t.local, int64(0)
	if n == 0 {
		n = timeline.NumelOfAll(t.shapes())
	}
	if shapes := t.shapes(); len(shapes) == 1 && len(shapes[0]) > 0 && shapes[0][0] > 0 && c.GroupSize > 0 {
		rows := shapes[0][0]
		padded = bounded.Mul(n/rows, (rows+c.GroupSize-1)/c.GroupSize*c.GroupSize)
	}
	return n > 0 && (c.Elems == n || c.Elems == padded)
}

// parts splits a run whose operations before reduce-scatters are a gradient pass of their
// own into that pass and the rest, such as the division of shards. Where they are not, as
// when a scale pass ends right before the first reduce-scatter, the run stays whole.
func (m *matcher) parts(g run) []run {
	before, rest := g, g
	before.operations, rest.operations = nil, nil
	for _, t := range g.operations {
		if t.scattered {
			before.operations = append(before.operations, t)
		} else {
			rest.operations = append(rest.operations, t)
		}
	}
	if len(before.operations) == 0 {
		return []run{g}
	}
	before.scattered = true
	if _, ok := m.pass(before); !ok {
		return []run{g}
	}
	if len(rest.operations) == 0 {
		return []run{before}
	}
	return []run{before, rest}
}
