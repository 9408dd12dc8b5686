package facts

import (
	"slices"
	"sort"
	"strings"

	"github.com/gaprof/gaprof/trace"
)

// Step is one optimizer step of a rank. Its host window is half-open and runs
// from the end of the previous update to the end of its own.
type Step struct {
	Index         int
	Kind          string // "A", "B", ...: steps with the same optimizers, by first appearance
	Optimizers    []string
	HostStart     int64 // ns; of the first step: the start of the recording
	HostEnd       int64
	PerOptimizer  []OptimizerStep // in the order of Optimizers
	MicroBatches  int             // forward passes, Unknown
	Backwards     []Backward
	Update        Span // from the first to the last optimizer span
	Accumulations int  // gradient accumulations of single parameters in the window
	Complete      bool
	Excluded      bool // the caller asked for other steps; set before rules run
	LinkedEvents  int  // device events launched in the step
	Windows       []Window
}

// Span is a half-open stretch of host time in ns.
type Span struct{ Start, End int64 }

// Window is a step as one device sees it: from the first start of activity
// launched in the step to the first start launched in the next.
type Window struct {
	Device     int // index into Rank.Devices
	Start, End int64
	Ledger     Ledger
}

// HostDuration is the length of the host window in ns.
func (s *Step) HostDuration() int64 { return s.HostEnd - s.HostStart }

// steps finds the updates of a rank and the windows between them.
func (c *computer) steps(r *Rank, ev *hostEvents) {
	r.optimizer = ev.optimizer
	updates := ev.updates(c)
	if len(updates) == 0 {
		if updates = ev.profilerSteps(c); len(updates) > 0 {
			r.StepSource = StepsFromProfiler
			r.problem(trace.StepFallback, int64(len(updates)), "")
		}
	} else {
		r.StepSource = StepsFromOptimizer
	}
	start := ev.first
	for i, u := range updates {
		s := Step{Index: i, Optimizers: u.optimizers, HostStart: start, HostEnd: u.end, Update: Span{u.start, u.end}}
		s.Accumulations = ev.accumulationsIn(start, u.end)
		r.Steps, r.ends = append(r.Steps, s), append(r.ends, u.end)
		start = u.end
	}
	nameKinds(r.Steps, byOptimizers)
	markComplete(r.Steps)
	c.deviceWindows(r)
	if c.cut() {
		for i := range r.Steps {
			r.Steps[i].Complete = false
		}
	}
}

// cut tells whether the file lost its end. Files are not in the order of time, so
// no step of a cut file can be called complete.
func (c *computer) cut() bool {
	return slices.ContainsFunc(c.t.Problems(), func(p trace.Problem) bool {
		return p.Code == trace.Truncated || p.Code == trace.CompressionDamage
	})
}

// hostEvents are the moments of a rank's host threads that steps are made of.
type hostEvents struct {
	first      int64   // start of the recording, ns
	optimizer  []int32 // outermost optimizer spans by start
	profiler   []int32
	accumulate []int64 // starts of gradient accumulations, ascending
	evaluate   []int64 // starts of backward nodes, ascending
	forward    []int64 // starts of forward operators, only where the optimizer runs in backward
}

func (c *computer) hostEvents(r *Rank) *hostEvents {
	ev := &hostEvents{first: c.firstStart(r.host)}
	ev.accumulate, ev.evaluate = c.startsOfNodes(r)
	c.eachOf(r.host, optimizerStep|profilerStep, func(row int32) {
		switch {
		case c.names.is(c.col.Name[row], profilerStep):
			ev.profiler = append(ev.profiler, row)
		case !c.inside(row, optimizerStep):
			ev.optimizer = append(ev.optimizer, row)
		}
	})
	c.sortByStart(ev.optimizer)
	c.sortByStart(ev.profiler)
	if slices.ContainsFunc(ev.optimizer, c.inBackward) {
		ev.forward = c.forwardOps(r)
	}
	return ev
}

// startsOfNodes are the starts of gradient accumulations and of the other nodes of
// backward, ascending. Where the one or the other are not recorded themselves, the spans
// that PyTorch puts around them, or those of older versions, take their place.
func (c *computer) startsOfNodes(r *Rank) (accumulations, others []int64) {
	accumulations, others = make([]int64, 0, len(r.nodes)), make([]int64, 0, len(r.nodes))
	exact := c.exactNodes(r)
	for _, n := range r.nodes {
		switch class := c.names.class[c.col.Name[n.row]]; {
		case class == accumulate, class&accumulate != 0 && !exact:
			accumulations = append(accumulations, n.start)
		case class&accumulate == 0:
			others = append(others, n.start)
		}
	}
	if len(others) == 0 {
		c.eachOf(r.host, backwardNode, func(row int32) { others = append(others, c.col.Start[row]) })
		slices.Sort(others)
	}
	return accumulations, others
}

// exactNodes tells whether accumulations are recorded themselves, not only the spans
// around them.
func (c *computer) exactNodes(r *Rank) bool {
	return slices.ContainsFunc(r.nodes, func(n hostOp) bool { return c.names.class[c.col.Name[n.row]] == accumulate })
}

// firstStart is the start of the first complete event on some tracks, 0 without any;
// the rows of a track are in order.
func (c *computer) firstStart(tracks []trace.TrackID) int64 {
	first, seen := int64(0), false
	for _, id := range tracks {
		track := c.t.Tracks()[id]
		for i := track.First; i < track.First+track.N; i++ {
			if c.col.Phase[i] == trace.Complete {
				if !seen || c.col.Start[i] < first {
					first, seen = c.col.Start[i], true
				}
				break
			}
		}
	}
	return first
}

// inBackward tells whether an optimizer span stands inside the backward pass.
func (c *computer) inBackward(row int32) bool { return c.inside(row, accumulate|evaluate) }

// forwardOps are the starts of operators outside backward and optimizer, ascending.
func (c *computer) forwardOps(r *Rank) []int64 {
	var starts []int64
	c.eachOf(r.host, atenOp, func(row int32) {
		if !c.inside(row, optimizerStep|evaluate|accumulate) {
			starts = append(starts, c.col.Start[row])
		}
	})
	slices.Sort(starts)
	return starts
}

func firstNonEmpty(lists ...[]int64) []int64 {
	for _, l := range lists {
		if len(l) > 0 {
			return l
		}
	}
	return nil
}

// inside tells whether any span around row is of one of the classes.
func (c *computer) inside(row int32, class nameClass) bool {
	found := false
	c.stack(row, func(span int32) bool {
		found = c.names.is(c.col.Name[span], class)
		return !found
	})
	return found
}

// update is a maximal run of optimizer spans without accumulation between them.
type update struct {
	optimizers []string
	start, end int64
	named      map[string]bool // optimizers, as a set
}

// updates groups the optimizer spans.
//
//  1. Spans under AccumulateGrad (optimizer in backward) form one update per
//     backward pass: a new one begins after forward operators.
//  2. Other spans form one update until a gradient is accumulated between them.
//  3. Without records of accumulation, backward nodes take their place; without
//     those, an optimizer that steps again begins a new update.
func (ev *hostEvents) updates(c *computer) []update {
	between := firstNonEmpty(ev.accumulate, ev.evaluate)
	var list []update
	for _, row := range ev.optimizer {
		name := optimizerName(c.t.String(c.col.Name[row]))
		start, end := c.col.Start[row], c.col.Start[row]+c.col.Dur[row]
		if n := len(list); n > 0 {
			last := &list[n-1]
			if !ev.separated(c, row, name, last, between) {
				last.end = max(last.end, end)
				if !last.named[name] {
					last.named[name] = true
					last.optimizers = append(last.optimizers, name)
				}
				continue
			}
		}
		list = append(list, update{[]string{name}, start, end, map[string]bool{name: true}})
	}
	for i := range list {
		slices.Sort(list[i].optimizers)
	}
	return list
}

func (ev *hostEvents) separated(c *computer, row int32, name string, last *update, between []int64) bool {
	start := c.col.Start[row]
	switch {
	case c.inBackward(row):
		return anyIn(ev.forward, last.end, start)
	case between != nil:
		return anyIn(between, last.end, start)
	}
	return last.named[name]
}

// profilerSteps takes the host's ProfilerStep# spans as updates. They may be one
// per micro-batch and their names repeat, so they are only a stated fallback.
func (ev *hostEvents) profilerSteps(c *computer) []update {
	var list []update
	for _, row := range ev.profiler {
		start := c.col.Start[row]
		list = append(list, update{start: start, end: start + c.col.Dur[row]})
	}
	return list
}

func (ev *hostEvents) accumulationsIn(start, end int64) int {
	return countIn(ev.accumulate, start, end)
}

// countIn counts the values of ascending list in [start, end).
func countIn(list []int64, start, end int64) int {
	from, _ := slices.BinarySearch(list, start)
	to, _ := slices.BinarySearch(list, end)
	return max(0, to-from)
}

// anyIn tells whether a value of ascending list lies in [start, end).
func anyIn(list []int64, start, end int64) bool {
	if start >= end {
		return false
	}
	i, _ := slices.BinarySearch(list, start)
	return i < len(list) && list[i] < end
}

// nameKinds gives steps for which key is the same the same letter.
func nameKinds(steps []Step, key func(*Step) string) {
	letters := make(map[string]string)
	for i := range steps {
		k := key(&steps[i])
		if letters[k] == "" {
			letters[k] = kindName(len(letters))
		}
		steps[i].Kind = letters[k]
	}
}

func byOptimizers(s *Step) string { return strings.Join(s.Optimizers, "\x00") }

// kindName counts A to Z, then A1, B1, ...
func kindName(n int) string {
	name := string(rune('A' + n%26))
	if n >= 26 {
		name += strings.Repeat("'", n/26)
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

// deviceWindows cuts the time of each device at the first activity of each step.
func (c *computer) deviceWindows(r *Rank) {
	for dev, d := range r.Devices {
		firsts := c.firstStarts(r, d)
		for i := range r.Steps {
			if firsts[i].row < 0 {
				continue
			}
			w := Window{Device: dev, Start: c.col.Start[firsts[i].row], End: firsts[i].lastEnd}
			for j := i + 1; j < len(firsts); j++ {
				if firsts[j].row >= 0 {
					w.End = c.col.Start[firsts[j].row]
					break
				}
			}
			w.Ledger = d.ledger(w.Start, w.End)
			r.Steps[i].Windows = append(r.Steps[i].Windows, w)
		}
	}
}

// extent is what one step launched on one device.
type extent struct {
	row     int32 // the first to start, -1 where there is none
	lastEnd int64
}

func (c *computer) firstStarts(r *Rank, d *Device) []extent {
	list := make([]extent, len(r.Steps))
	for i := range list {
		list[i].row = -1
	}
	s := -1 // the step of the event before: the next is seldom another's
	for i, row := range d.Rows {
		if d.Launch[i] < 0 {
			continue
		}
		if start := c.col.Start[d.Launch[i]]; !r.inStep(start, s) {
			s = r.StepAt(start)
		}
		if s < 0 {
			continue
		}
		r.Steps[s].LinkedEvents++
		e := &list[s]
		if e.row < 0 || c.col.Start[row] < c.col.Start[e.row] {
			e.row = row
		}
		e.lastEnd = max(e.lastEnd, c.col.Start[row]+c.col.Dur[row])
	}
	return list
}

// inStep tells whether the host window of a step holds instant t.
func (r *Rank) inStep(t int64, step int) bool {
	return step >= 0 && t < r.ends[step] && (step == 0 || t >= r.ends[step-1])
}

// StepAt is the index of the step whose host window holds instant t, or -1 after
// the last update. What happens before the first update belongs to the first step.
func (r *Rank) StepAt(t int64) int {
	i := sort.Search(len(r.ends), func(i int) bool { return r.ends[i] > t })
	if i == len(r.ends) {
		return -1
	}
	return i
}
