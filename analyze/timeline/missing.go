package timeline

import (
	"math/bits"

	"github.com/gaprof/gaprof/trace"
)

// Ends says how many ends of launch flows on devices there are, which writers put where a device
// event begins, and of how many there is no such event.
type Ends struct{ All, Bare int }

// EndsOf counts the ends of launch flows on the streams of a rank's devices.
func EndsOf(r *Rank) Ends {
	var n Ends
	if len(r.Devices) == 0 { // of a thousand processes few have any
		return n
	}
	own := make(map[string]bool)
	for _, d := range r.Devices {
		own[d.PID] = true
	}
	for _, track := range r.Trace.Tracks() {
		if track.Activity && own[track.PID] {
			n.onStream(r, track)
		}
	}
	return n
}

// onStream goes over a stream by the instants at which something begins there.
func (n *Ends) onStream(r *Rank, track trace.Track) {
	starts, phases, cats := r.Col.Start, r.Col.Phase, r.Col.Cat
	for i := track.First; i < track.First+track.N; {
		at, flows, begun := starts[i], 0, false
		for ; i < track.First+track.N && starts[i] == at; i++ {
			if phases[i] == trace.Complete {
				begun = true
			} else {
				flows += oneIf(phases[i] == trace.FlowEnd && cats[i] == trace.CatLaunchFlow)
			}
		}
		n.All += flows
		if !begun {
			n.Bare += flows
		}
	}
}

// Launching says how the operators of a rank launch work, by their names: those that do in every
// call are steady, those that do in most calls, but not in all, are broken.
type Launching struct {
	Steady, Broken int // names of at least leastCalls calls that launch
	Missing        int // calls of broken ones without a launch
	Calls          int // of both
}

const (
	leastCalls  = 8    // of an operator, to say how it launches
	brokenShare = 0.02 // of its calls that have to launch nothing
	mostBroken  = 0.5  // more do not launch on purpose, such as those on the host
)

// operatorCalls is how many calls of an operator there are, and how many of them launch work.
type operatorCalls struct{ all, launch int32 }

// launchers are the operators that are innermost around a call which launches work.
type launchers struct {
	r     *Rank
	marks []uint64        // by row: those that launch
	calls []operatorCalls // by name
}

// mark takes in a call that launches work.
func (l *launchers) mark(launch int32) {
	col := &l.r.Col
	op := col.Parent[launch]
	for op != trace.NoParent && col.Cat[op].IsRuntime() {
		op = col.Parent[op]
	}
	if op == trace.NoParent || col.Cat[op] != trace.CatCPUOp {
		return
	}
	if word, bit := &l.marks[op/64], uint64(1)<<(op%64); *word&bit == 0 {
		*word |= bit
		l.calls[col.Name[op]].launch++
	}
}

// LaunchingOf looks at the operators of a rank: at calls that launch a kernel, also one that a graph
// captures, and at all that have a device event.
func LaunchingOf(r *Rank) Launching {
	var n Launching
	if len(r.Devices) == 0 {
		return n
	}
	l := launchers{r, make([]uint64, len(r.Col.Cat)/64+1), make([]operatorCalls, r.Trace.NumStrings())}
	for _, d := range r.Devices {
		for _, launch := range d.Launch {
			if launch >= 0 {
				l.mark(launch)
			}
		}
	}
	for _, id := range r.Host {
		track := r.Trace.Tracks()[id]
		for row := track.First; row < track.First+track.N; row++ {
			switch cat := r.Col.Cat[row]; {
			case cat == trace.CatCPUOp:
				l.calls[r.Col.Name[row]].all++
			case cat.IsRuntime() && r.Is(int32(row), KernelLaunch):
				l.mark(int32(row))
			}
		}
	}
	for _, c := range l.calls {
		n.add(c)
	}
	return n
}

func (n *Launching) add(c operatorCalls) {
	missing := float64(c.all - c.launch)
	switch {
	case c.launch < leastCalls || missing > mostBroken*float64(c.all):
		return
	case missing >= 2 && missing >= brokenShare*float64(c.all):
		n.Broken++
		n.Missing += int(missing)
	default:
		n.Steady++
	}
	n.Calls += int(c.all)
}

// Numbers is what the numbers of operators say: a profiler counts them, so that all numbers between
// the first and the last are there.
type Numbers struct {
	There   int // different numbers
	Missing int // between them, but for what threads leave of their blocks
}

// block is how many numbers a thread takes at a time (at::RecordFunction): what it does not use
// of its first and of its last block is missing in every recording.
const block = 512

// NumbersOf looks at the numbers ("External id") of the operators and annotations of a rank.
// Numbers that are far apart are no count, and give nothing.
func NumbersOf(r *Rank) Numbers {
	const sparse = 8 // as many numbers to each that is there are no count
	least, most, n := trace.ID(0), trace.ID(0), 0
	eachNumber(r, func(id trace.ID) {
		if n == 0 || id < least {
			least = id
		}
		most = max(most, id)
		n++
	})
	if n == 0 || uint64(most-least) > sparse*uint64(n) {
		return Numbers{}
	}
	seen := make([]uint64, (most-least)/64+1)
	eachNumber(r, func(id trace.ID) { seen[(id-least)/64] |= 1 << ((id - least) % 64) })
	return missing(seen, int(least))
}

func eachNumber(r *Rank, do func(trace.ID)) {
	for _, id := range r.Host {
		track := r.Trace.Tracks()[id]
		cats, ids := r.Col.Cat[track.First:track.First+track.N], r.Col.External[track.First:track.First+track.N]
		for i, number := range ids {
			if number != 0 && (cats[i] == trace.CatCPUOp || cats[i] == trace.CatUserAnnotation) {
				do(number)
			}
		}
	}
}

// missing counts the numbers that are there, as bits from the first number on, and those that
// are not.
func missing(seen []uint64, first int) (n Numbers) {
	next := 0 // after the last number that is there
	for i, word := range seen {
		for word != 0 {
			at := bits.TrailingZeros64(word)
			ones := bits.TrailingZeros64(^(word >> at))
			from, to := first+next, first+64*i+at // half-open, of what is missing
			if left := from%block == 1 || to%block == 1; to-from >= 2*block || !left {
				n.Missing += to - from
			}
			n.There += ones
			next = 64*i + at + ones
			word &^= (1<<ones - 1) << at
		}
	}
	return n
}

// CrossingSpans counts the host spans that outlast the one in which they begin, by more than rounding
// explains, and all spans.
func CrossingSpans(r *Rank) (crossing, all int) {
	const rounding = 2000 // ns
	for _, id := range r.Host {
		track := r.Trace.Tracks()[id]
		for row := int32(track.First); row < int32(track.First+track.N); row++ {
			if r.Col.Phase[row] != trace.Complete {
				continue
			}
			all++
			in := r.Col.Parent[row]
			crossing += oneIf(in != trace.NoParent && r.End(row) > r.End(in)+rounding)
		}
	}
	return crossing, all
}
