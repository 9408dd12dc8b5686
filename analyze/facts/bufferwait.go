package facts

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// BufferWait is a time in which the compute of a backward pass waits until a reduce-scatter
// is over because FSDP uses the memory of its input again: so many inputs are in flight, by
// default one (PyTorch pull request 186000).
type BufferWait struct {
	Collective int32 // index of the reduce-scatter
	From       int64 // ns: it runs, and the kernel that waits has been launched
	Until      int64 // ns: its end
}

// bufferWait begins the name of the span in which FSDP makes compute wait for the
// reduce-scatter before.
const bufferWait = "FSDP::post_backward_rs_wait"

// settles is how long after the end of what it waited for a kernel starts at the latest, and
// how long before its start it must have been launched to have waited, in ns: the distance of
// kernels that follow each other is a few us (docs/definitions.md, queued_wait).
const settles = 20_000

// bufferWaits finds the waits for buffers: a kernel launched next after such a span starts
// when a reduce-scatter ends, though it was launched long before.
func bufferWaits(x *timeline.Rank, collectives []Collective) []BufferWait {
	found := make(map[int32]BufferWait)
	for _, k := range kernelsAfter(x, waitingSpans(x)) {
		i, ok := endingBefore(x, collectives, k)
		if !ok {
			continue
		}
		from := max(collectives[i].Start, x.End(k.launch))
		if w, again := found[i]; again {
			from = min(from, w.From)
		}
		found[i] = BufferWait{i, from, collectives[i].End}
	}
	list := make([]BufferWait, 0, len(found))
	for _, w := range found {
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b BufferWait) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Collective, b.Collective))
	})
	return list
}

// waitingSpans are the rows of the spans in which a stream is told to wait for an event, by
// track and then by start.
func waitingSpans(x *timeline.Rank) []int32 {
	var rows []int32
	x.Each(x.Host, timeline.FSDP2, func(row int32) {
		if !strings.HasPrefix(x.Name(row), bufferWait) {
			return
		}
		end, last := x.End(row), x.TrackEnd(row)
		for i := row + 1; i < last && x.Col.Start[i] < end; i++ {
			if x.Col.Cat[i].IsRuntime() && strings.Contains(x.Name(i), "StreamWaitEvent") {
				rows = append(rows, row)
				return
			}
		}
	})
	return rows
}

// launchedKernel is a device event that is no collective, with its launch call.
type launchedKernel struct {
	device      int
	row, launch int32
}

// kernelsAfter are, for each of some spans, the first kernel that its thread launches
// afterwards, if any.
func kernelsAfter(x *timeline.Rank, spans []int32) []launchedKernel {
	if len(spans) == 0 {
		return nil
	}
	first := make([]launchedKernel, len(spans))
	for dev, d := range x.Devices {
		for i, row := range d.Rows {
			launch := d.Launch[i]
			if launch < 0 || d.Kind[i] != timeline.NotCommunication {
				continue
			}
			at := spanBefore(x, spans, launch)
			if at >= 0 && (first[at].launch == 0 || launch < first[at].launch) {
				first[at] = launchedKernel{dev, row, launch}
			}
		}
	}
	return slices.DeleteFunc(first, func(k launchedKernel) bool { return k.launch == 0 })
}

// spanBefore is the index of the last span of a launch call's thread that has ended before
// it, -1 without one. Rows ascend by track and then by start, so a row tells both.
func spanBefore(x *timeline.Rank, spans []int32, launch int32) int {
	at := sort.Search(len(spans), func(i int) bool { return spans[i] > launch }) - 1
	if at < 0 || track(x, spans[at]) != track(x, launch) || x.End(spans[at]) > x.Col.Start[launch] {
		return -1
	}
	return at
}

func track(x *timeline.Rank, row int32) trace.TrackID { return x.Col.Track[row] }

// endingBefore finds the reduce-scatter whose end lets a kernel start that had been launched
// before.
func endingBefore(x *timeline.Rank, collectives []Collective, k launchedKernel) (index int32, ok bool) {
	start := x.Col.Start[k.row]
	if start-x.End(k.launch) < settles {
		return 0, false
	}
	from := sort.Search(len(collectives), func(i int) bool {
		c := &collectives[i]
		return c.Device > k.device || c.Device == k.device && c.Start >= start
	})
	const nearby = 16 // collectives that may start between one and its end
	for i := from - 1; i >= max(0, from-nearby); i-- {
		c := &collectives[i]
		if c.Device == k.device && c.Kind == timeline.ReduceScatter && c.End <= start && start-c.End < settles {
			return int32(i), true
		}
	}
	return 0, false
}
