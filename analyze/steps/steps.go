package steps

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// Source says which spans the steps of a rank were cut at.
type Source string

// The sources of steps. FromProfiler is a fallback, which reports state as a problem:
// programs call profiler.step() once per micro-batch, per step or per epoch.
const (
	FromOptimizer Source = "optimizer"     // Optimizer.step spans
	FromProfiler  Source = "profiler_step" // ProfilerStep# spans of the host
	None          Source = "none"          // neither was recorded: there are no steps
)

// Step is one optimizer step of a rank. Its host window is half-open and runs from the end
// of the previous update to the end of its own, since whatever happens in between (data
// loading, forward, backward) serves the update to come.
type Step struct {
	Index         int      // position in Steps.List
	Kind          string   // "A", "B", ...: steps with the same optimizers, by first appearance
	Optimizers    []string // names, sorted; none in steps of the profiler
	HostStart     int64    // ns; of the first step: the start of the recording
	HostEnd       int64    // ns
	Update        Interval // from the start of its first to the end of its last optimizer span, without a closure
	Accumulations int      // gradient accumulations in the host window, each parameter by itself
	Complete      bool     // recorded from its beginning to its end
	LinkedEvents  int      // device events launched in the host window
	Windows       []Window // one for each device that it launches on, by device
}

// Interval is a half-open stretch of time in ns.
type Interval struct{ Start, End int64 }

// Window is a step as one device sees it: from the first start of activity launched in the
// step to the first start of activity launched in a later one. Of the last step it ends
// with the last activity of its own.
type Window struct {
	Device     int             // index into the devices of the rank
	Start, End int64           // ns
	Ledger     timeline.Ledger // sums to End - Start
}

// HostDuration returns the length of the host window in ns.
func (s *Step) HostDuration() int64 { return s.HostEnd - s.HostStart }

// Steps is the steps of a rank.
type Steps struct {
	List   []Step // in order of time
	Source Source // what they were cut at

	ends []int64 // of their host windows, ascending: see At
}

// Find cuts the recording of a rank into steps. Where no optimizer was recorded, it falls
// back to the steps of the profiler, and Source says so.
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

// cut reports whether the file lost its end. Events are not in the order of time in a file,
// so the part that is missing may be of any step, and none can be called complete.
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

// optimizers is the key that makes steps with the same optimizers one kind.
func (s *Steps) optimizers(i int) string { return strings.Join(s.List[i].Optimizers, "\x00") }

// kindName returns the n-th name: A to Z, then A1 to Z1, A2 and so on.
func kindName(n int) string {
	name := string(rune('A' + n%26))
	if n >= 26 {
		name += strconv.Itoa(n / 26)
	}
	return name
}

// markComplete decides which steps were recorded as a whole. All but the first lie between
// two updates. The first began before the recording did, unless it holds as many gradient
// accumulations as another step of its kind: then nothing of its backward passes is missing.
func markComplete(steps []Step) {
	for i := range steps {
		steps[i].Complete = i > 0
		if i > 0 && steps[i].Kind == steps[0].Kind && steps[i].Accumulations == steps[0].Accumulations {
			steps[0].Complete = steps[i].Accumulations > 0 || steps[0].Complete
		}
	}
}

// At returns the index of the step whose host window holds instant t (ns on the host's
// clock), -1 after the last update. Whatever precedes the first update belongs to the first
// step. It is a binary search.
func (s *Steps) At(t int64) int {
	i := sort.Search(len(s.ends), func(i int) bool { return s.ends[i] > t })
	if i == len(s.ends) {
		return -1
	}
	return i
}

// holds reports whether the host window of a step holds instant t. Step -1 holds none.
func (s *Steps) holds(step int, t int64) bool {
	return step >= 0 && t < s.ends[step] && (step == 0 || t >= s.ends[step-1])
}
