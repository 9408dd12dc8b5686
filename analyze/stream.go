package analyze

import (
	"cmp"
	"slices"
	"sync"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/report"
)

// Analysis takes traces in one by one, in any order and from several goroutines at
// once, and keeps of each only its facts: what is held at a time are the traces at
// hand and, of every trace before, a few rows.
type Analysis struct {
	o     Options
	mu    sync.Mutex
	files []reduced
}

// reduced is what is kept of a trace.
type reduced struct {
	place  int
	file   string
	format string
	bytes  int64
	events int64
	ranks  []fileRank
}

// New returns an Analysis without traces.
func New(o Options) *Analysis { return &Analysis{o: o} }

// Add computes the facts of a trace and lets go of it. The report is made as if
// traces had come in the order of their places; those of one file share a place and
// are added by one goroutine, in their order.
func (a *Analysis) Add(place int, in Input) {
	r := reduced{place: place, file: in.File, format: in.Trace.Meta().Format, bytes: in.Bytes, events: int64(in.Trace.Len())}
	ranks := facts.Compute(in.Trace)
	for _, rank := range ranks {
		if !rank.Empty() {
			r.ranks = append(r.ranks, fileRank{in.File, rank, topKernels(rank, cmp.Or(a.o.Top, 10)), a.o.timelineOf(rank)})
		}
	}
	if !a.o.KeepTraces {
		facts.Compact(ranks)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.files = append(a.files, r)
}

// Result is what an analysis comes to.
type Result struct {
	Report     *report.Report
	Normalized []NormalizedStep // each complete step with token counts, in order; nil without counts
}

// Result finishes the report. Nothing can be added afterwards.
func (a *Analysis) Result() *Result {
	a.mu.Lock()
	defer a.mu.Unlock()
	slices.SortStableFunc(a.files, func(x, y reduced) int { return cmp.Compare(x.place, y.place) })
	s := &assembly{o: a.o, report: newReport(a.o), files: a.files, told: make(map[problemPlace]bool)}
	a.files = nil
	return s.finish()
}
