package steps

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// Source says what the steps of a rank were made of.
type Source string

// Where steps come from.
const (
	FromOptimizer Source = "optimizer"
	FromProfiler  Source = "profiler_step" // a stated fallback
	None          Source = "none"
)

// Step is one optimizer step of a rank. Its host window is half-open and runs
// from the end of the previous update to the end of its own.
type Step struct {
	Index         int
	Kind          string   // "A", "B", ...: steps with the same optimizers, by first appearance
	Optimizers    []string // sorted; none in steps of the profiler
	HostStart     int64    // ns; of the first step: the start of the recording
	HostEnd       int64    // ns
	Update        Interval // from the first to the last optimizer span
	Accumulations int      // gradient accumulations of single parameters in the window
	Complete      bool     // recorded as a whole
	LinkedEvents  int      // device events launched in the step
	Windows       []Window // one for each device that it launches on
}

// Interval is a half-open stretch of time in ns.
type Interval struct{ Start, End int64 }

// Window is a step as one device sees it: from the first start of activity
// launched in the step to the first start launched in the next.
type Window struct {
	Device     int   // index into the devices of the rank
	Start, End int64 // ns
	Ledger     timeline.Ledger
}

// HostDuration is the length of the host window in ns.
func (s *Step) HostDuration() int64 { return s.HostEnd - s.HostStart }

// Steps is the steps of a rank, in order.
type Steps struct {
	List   []Step
	Source Source

	ends []int64 // of their host windows
}

// Find cuts the recording of a rank into steps. Where no optimizer was recorded, those
// of the profiler stand in, and Source says so.
func Find(x *timeline.Rank) *Steps {
	h := newHost(x)
	s := &Steps{Source: FromOptimizer}
	updates := h.updates()
	if len(updates) == 0 {
		if updates = h.profilerSteps(); len(updates) > 0 {
			s.Source = FromProfiler
		} else {
			s.Source = None
		}
	}
	start := h.first
	for i, u := range updates {
		s.List = append(s.List, Step{Index: i, Optimizers: u.optimizers, HostStart: start, HostEnd: u.end,
			Update: Interval{u.start, u.end}, Accumulations: CountIn(h.accumulations, start, u.end)})
		s.ends = append(s.ends, u.end)
		start = u.end
	}
	for i, kind := range Kinds(len(s.List), s.optimizers) {
		s.List[i].Kind = kind
	}
	if !cut(x) {
		markComplete(s.List)
	}
	s.cutDevices(x)
	return s
}

// cut tells whether the file lost its end. Files are not in the order of time, so
// no step of a cut file can be called complete.
func cut(x *timeline.Rank) bool {
	return slices.ContainsFunc(x.Trace.Problems(), func(p trace.Problem) bool {
		return p.Code == trace.Truncated || p.Code == trace.CompressionDamage
	})
}

// Kinds names the kinds of n steps: those for which key is the same get the same
// letter, by first appearance.
func Kinds(n int, key func(i int) string) []string {
	letters, kinds := make(map[string]string), make([]string, n)
	for i := range kinds {
		k := key(i)
		if letters[k] == "" {
			letters[k] = kindName(len(letters))
		}
		kinds[i] = letters[k]
	}
	return kinds
}

// optimizers is the key of kinds that goes by the optimizers of a step.
func (s *Steps) optimizers(i int) string { return strings.Join(s.List[i].Optimizers, "\x00") }

// kindName counts A to Z, then A1 to Z1, A2, ...
func kindName(n int) string {
	name := string(rune('A' + n%26))
	if n >= 26 {
		name += strconv.Itoa(n / 26)
	}
	return name
}

// markComplete decides which steps were recorded as a whole. All but the first
// lie between two updates; the first is complete if it holds as many gradient
// accumulations as another of its kind.
func markComplete(steps []Step) {
	for i := range steps {
		steps[i].Complete = i > 0
		if i > 0 && steps[i].Kind == steps[0].Kind && steps[i].Accumulations == steps[0].Accumulations {
			steps[0].Complete = steps[i].Accumulations > 0 || steps[0].Complete
		}
	}
}

// At is the index of the step whose host window holds instant t, or -1 after the
// last update. What happens before the first update belongs to the first step.
func (s *Steps) At(t int64) int {
	i := sort.Search(len(s.ends), func(i int) bool { return s.ends[i] > t })
	if i == len(s.ends) {
		return -1
	}
	return i
}

// holds reports whether the host window of a step holds instant t.
func (s *Steps) holds(step int, t int64) bool {
	return step >= 0 && t < s.ends[step] && (step == 0 || t >= s.ends[step-1])
}
