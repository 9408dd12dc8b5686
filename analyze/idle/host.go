package idle

import (
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// host is what the threads of a rank do when. Each is looked at when the first gap asks
// for it: most recordings have none in which the host is late.
type host struct {
	x        *timeline.Rank
	updates  []int64         // ends of updates, ascending
	driving  []trace.TrackID // threads that count as one, see drives; ascending
	means    *meanings       // nil until somebody asks
	pageable []int32
	anywhere *doing // on any thread of the process
	together *doing // on the driving threads
	alone    map[trace.TrackID]*doing
}

func newHost(x *timeline.Rank, s *steps.Steps) *host {
	h := &host{x: x}
	for _, id := range x.Host {
		if drives(x, id) {
			h.driving = append(h.driving, id)
		}
	}
	slices.Sort(h.driving)
	for i := range s.List {
		h.updates = append(h.updates, s.List[i].HostEnd)
	}
	return h
}

// drives reports whether a thread is one of the training loop: it carries a span of the
// classes of driving, or a ProfilerStep# with its number. Older profilers also name
// operators ProfilerStep*, on whatever thread they are.
func drives(x *timeline.Rank, id trace.TrackID) bool {
	class := x.Track(id)
	if class&driving != 0 || class&timeline.ProfilerStep == 0 {
		return class&driving != 0
	}
	return slices.ContainsFunc(x.Spans([]trace.TrackID{id}, timeline.ProfilerStep), func(s timeline.Span) bool {
		return strings.HasPrefix(x.Name(s.Row), "ProfilerStep#")
	})
}

// doing is what the threads do that count where a gap ends with a launch on a thread: all
// driving ones if it is one of them, any other alone. One that prefetches is not blamed
// for the loop, nor the loop for it.
func (h *host) doing(thread trace.TrackID) *doing {
	h.read()
	if h.anywhere == nil {
		h.anywhere = anywhere(h.x, h.means)
	}
	if h.drives(thread) {
		if h.together == nil {
			h.together = threads(h.x, h.means, h.driving, h.pageable)
		}
		return h.together
	}
	of := h.alone[thread]
	if of == nil {
		if h.alone == nil {
			h.alone = make(map[trace.TrackID]*doing)
		}
		of = threads(h.x, h.means, []trace.TrackID{thread}, h.pageable)
		h.alone[thread] = of
	}
	return of
}

// read prepares to tell what names mean.
func (h *host) read() {
	if h.means == nil {
		h.means, h.pageable = newMeanings(h.x.Trace), pageableCopies(h.x)
	}
}

// counting are the threads that count where a gap ends with a launch on a thread.
func (h *host) counting(thread trace.TrackID) []trace.TrackID {
	if h.drives(thread) {
		return h.driving
	}
	return []trace.TrackID{thread}
}

// drives reports whether a thread is one of those of the training loop.
func (h *host) drives(thread trace.TrackID) bool {
	_, found := slices.BinarySearch(h.driving, thread)
	return found
}

// blocks reports whether a row launches a copy that blocks the host.
func (h *host) blocks(row int32) bool {
	_, found := slices.BinarySearch(h.pageable, row)
	return found
}

// pageableCopies are the launches of copies from or to memory that may be swapped out,
// ascending: such a copy blocks the host although its call says Async.
func pageableCopies(x *timeline.Rank) []int32 {
	var rows []int32
	for _, d := range x.Devices {
		for i, row := range d.Rows {
			if d.Launch[i] >= 0 && x.Col.Cat[row] == trace.CatGPUMemcpy && strings.Contains(x.Name(row), "Pageable") {
				rows = append(rows, d.Launch[i])
			}
		}
	}
	slices.Sort(rows)
	return rows
}
