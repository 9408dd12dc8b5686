package lateness

import (
	"maps"
	"slices"
)

// sums adds up the periods of a late rank.
type sums struct {
	own, others spent              // of the late rank, and the medians of the others
	late        int64              // ns: how much longer the others stand in collectives of the group
	later       int64              // ns by which it enters collectives later than the next to last
	parts       [NumCauses]int64   // ns beyond the others; compute is not in it
	compute     int64              // likewise
	waitsFor    map[int]*waited    // by source
	around      map[int]bool       // steps of the late rank in which periods lie
	steps       map[int]*ofOneStep // by step of the late rank
}

func newSums() *sums {
	return &sums{waitsFor: make(map[int]*waited), steps: make(map[int]*ofOneStep), around: make(map[int]bool)}
}

// ofOneStep is what makes the rank late in one step.
type ofOneStep struct {
	late  int64
	parts [NumCauses]int64 // MoreWork is all compute
	spans int              // further steps that a period before its end has as a whole
}

// has reports whether a member has the period.
func (p *period) has(m int) bool { return p.last[m] >= 0 && p.after[m] != notHeld }

// unlike is how far from each other ends of recordings may be, as a share of the lateness,
// for periods that end with them to count.
const unlike = 0.5

// add adds a period; it does nothing and returns false if the period cannot be judged.
func (s *sums) add(members []*member, p *period) bool {
	var others []spent
	for m := range members {
		if m > 0 && p.has(m) {
			others = append(others, members[m].spentIn(p.after[m], p.last[m]))
		}
	}
	if len(others) == 0 || !p.has(0) {
		return false
	}
	own, middle := members[0].spentIn(p.after[0], p.last[0]), medianOf(others)
	late := middle.own - own.own
	if p.open {
		differ, most := float64(middle.length-own.length), unlike*float64(late)
		if differ > most || -differ > most {
			return false
		}
	}
	s.late, s.later = s.late+late, s.later+p.later
	s.own.add(&own)
	s.others.add(&middle)
	step := s.stepOf(members[0], p)
	step.late += late
	for c := range s.parts {
		s.parts[c] += own.parts[c] - middle.parts[c]
		step.parts[c] += own.parts[c] - middle.parts[c]
	}
	s.compute += own.compute - middle.compute
	step.parts[MoreWork] += own.compute - middle.compute
	from := members[0].start(p.after[0])
	members[0].eachWait(from, from+own.length, s.wait)
	return true
}

// waited is how long the late rank waits for another one beside nothing.
type waited struct {
	ns      int64
	longest int64 // in one collective
	in      int32 // that one
}

// wait adds one wait.
func (s *sums) wait(w *wait, ns int64) {
	of := s.waitsFor[w.of]
	if of == nil {
		of = &waited{}
		s.waitsFor[w.of] = of
	}
	if of.ns += ns; ns > of.longest {
		of.longest, of.in = ns, w.in
	}
}

// start is when a period begins after one of the stretches.
func (m *member) start(after int32) int64 {
	if after < 0 {
		return m.work.Start
	}
	return m.work.Stretches[after].End
}

// stepOf is the step of the late rank in which a period ends. It notes all around it.
func (s *sums) stepOf(m *member, p *period) *ofOneStep {
	start, end, at, whole := m.start(p.after[0]), m.work.Stretches[p.last[0]].End, -1, 0
	for i := range m.Steps {
		for _, w := range m.Steps[i].Windows {
			if w.Device != m.device || w.Start >= end {
				continue
			}
			if at = i; w.End > start {
				s.around[i] = true
			}
			if w.Start >= start && w.End < end {
				whole++
			}
		}
	}
	if s.steps[at] == nil {
		s.steps[at] = &ofOneStep{}
	}
	s.steps[at].spans += whole
	return s.steps[at]
}

func (s *spent) add(of *spent) {
	for c := range s.parts {
		s.parts[c] += of.parts[c]
	}
	s.compute += of.compute
	s.own += of.own
	s.length += of.length
}

// medianOf is the median of each figure.
func medianOf(list []spent) spent {
	values := make([]int64, len(list))
	of := func(get func(*spent) int64) int64 {
		for i := range list {
			values[i] = get(&list[i])
		}
		return median(values)
	}
	m := spent{
		compute: of(func(s *spent) int64 { return s.compute }),
		own:     of(func(s *spent) int64 { return s.own }),
		length:  of(func(s *spent) int64 { return s.length }),
	}
	for c := range m.parts {
		m.parts[c] = of(func(s *spent) int64 { return s.parts[c] })
	}
	return m
}

// enough is the share of the lateness that its cause must explain.
const enough = 0.5

// judge names the cause of a lateness and fills in its figures, by sums over n steps.
func (s *sums) judge(l *Lateness, d *differences, n int64) {
	s.splitCompute(l, d)
	l.Late = s.late / n
	l.Rest = l.Late
	for c := range NumCauses {
		l.Parts[c] = s.parts[c] / n
		l.Rest -= l.Parts[c]
	}
	best := s.largest()
	rest := max(l.Rest, -l.Rest)
	if l.Cause = best; l.Late <= 0 || float64(s.share(best)) < enough*float64(s.late) || 2*rest > l.Late {
		l.Cause = Unknown
		return
	}
	l.NS, l.Own, l.Others = l.Parts[best], s.own.parts[best]/n, s.others.parts[best]/n
	if best == SlowerKernels || best == MoreWork {
		l.Own, l.Others = s.own.compute/n, s.others.compute/n
		l.Kernels.most(d, best)
	}
	l.LateIn = min(s.stepsOf(best), l.Steps)
	l.Around = slices.Sorted(maps.Keys(s.around))
}

// largest is the cause with the largest part.
func (s *sums) largest() Cause {
	best := DataLoading
	for c := range NumCauses {
		if c != OtherIdle && c != OtherCommunication && s.parts[c] > s.parts[best] {
			best = c
		}
	}
	return best
}

// share is what a cause explains of the lateness.
func (s *sums) share(c Cause) int64 {
	if c == LaunchBound || c == HostStall { // one thing in shorter and in longer gaps
		return s.parts[LaunchBound] + s.parts[HostStall]
	}
	return s.parts[c]
}

// stepsOf is in how many steps a cause makes the rank late.
func (s *sums) stepsOf(c Cause) (n int) {
	if c == SlowerKernels {
		c = MoreWork
	}
	for at, step := range s.steps {
		if at >= 0 && step.late > 0 && float64(step.parts[c]) >= enough*float64(step.late) {
			n += 1 + step.spans
		}
	}
	return n
}

// splitCompute divides what the rank computes longer by what the kernels show: it may run
// some at the same time, so their durations are shares.
func (s *sums) splitCompute(l *Lateness, d *differences) {
	var slower, more int64
	k := &l.Kernels
	for i := range d.list {
		of := &d.list[i]
		slower, more = slower+of.slower, more+of.more()
		k.Count, k.OthersCount = k.Count+of.count, k.OthersCount+of.others
		k.NS, k.OthersNS = k.NS+of.ns, k.OthersNS+of.othersNS
		k.SameNS, k.SameOthers = k.SameNS+of.same, k.SameOthers+of.sameOthers
	}
	k.Larger, k.Shapes = d.larger(), d.shapesKnown()
	part := int64(0)
	if total := slower + more; total > 0 && s.compute > 0 && !k.Larger {
		part = int64(float64(s.compute) * min(1, max(0, float64(slower)/float64(total))))
	}
	s.parts[SlowerKernels], s.parts[MoreWork] = part, s.compute-part
}

// perStep divides what was summed over n steps.
func (k *Kernels) perStep(n int64) {
	for _, v := range []*int64{&k.Count, &k.OthersCount, &k.NS, &k.OthersNS, &k.SameNS, &k.SameOthers} {
		*v /= n
	}
}

// most names the kernel that adds most to a cause.
func (k *Kernels) most(d *differences, cause Cause) {
	best, ns := -1, int64(0)
	for i := range d.list {
		of := &d.list[i]
		adds := of.ns - of.othersNS
		if cause == SlowerKernels {
			adds = of.slower
		}
		if of.count > 0 && adds > ns {
			best, ns = i, adds
		}
	}
	if best < 0 {
		return
	}
	of := &d.list[best]
	k.Most, k.MostMean = of.longest, of.ns/of.count
	if of.others > 0 {
		k.MostOthers = of.othersNS / of.others
	}
}
