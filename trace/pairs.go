package trace

import (
	"math"
	"slices"
)

// pairing turns each begin event of a trace into a complete one that lasts to its end,
// and leaves the ends to be taken out. What has no partner is counted; an open begin ends
// with the last event of its track. Rows are in order by track and start, so the partner
// of an end is the last begin that is still open.
type pairing struct {
	t        *Trace
	problems *problemList
}

// any reports whether there is something to pair.
func (p *pairing) any() bool {
	return slices.Contains(p.t.col.Phase, Begin) || slices.Contains(p.t.col.Phase, End)
}

func (p *pairing) pair() {
	var open []int32
	for first, next := 0, 0; first < p.t.Len(); first = next {
		open, next = p.track(first, open[:0])
	}
}

// track pairs the rows of the track that begins with row first, and returns its end.
// open is room for those that are open.
func (p *pairing) track(first int, open []int32) (room []int32, next int) {
	c := &p.t.col
	lastEnd := int64(math.MinInt64)
	for next = first; next < len(c.Start) && c.Track[next] == c.Track[first]; next++ {
		lastEnd = max(lastEnd, c.Start[next]+c.Dur[next])
		switch {
		case c.Phase[next] == Begin:
			open = append(open, int32(next))
		case c.Phase[next] == End && len(open) == 0:
			p.problem(UnpairedBegin, next)
		case c.Phase[next] == End:
			begin := int(open[len(open)-1])
			p.close(begin, c.Start[next])
			p.merge(begin, next)
			open = open[:len(open)-1]
		}
	}
	for _, i := range open {
		p.problem(UnpairedBegin, int(i))
		p.close(int(i), lastEnd)
	}
	return open, next
}

// problem counts one case of damage, at the event in row i.
func (p *pairing) problem(code Code, i int) {
	p.problems.add(code, 1, -1, p.t.String(p.t.col.Name[i]))
}

// close makes the begin event in row i a complete one.
func (p *pairing) close(i int, end int64) {
	c := &p.t.col
	c.Phase[i], c.Dur[i] = Complete, end-c.Start[i]
	if c.Dur[i] < 0 || c.Dur[i] > LongestEvent { // or further apart than an int64 holds
		p.problem(NumberRange, i)
		c.Dur[i] = 0
	}
}

// merge adds the name and the arguments of the end event in row end to the event in
// row i. Of an argument that both have the end's counts, as the format says.
func (p *pairing) merge(i, end int) {
	c := &p.t.col
	if c.Name[i] == 0 {
		c.Name[i] = c.Name[end]
	}
	if c.Corr[end] != 0 {
		c.Corr[i] = c.Corr[end]
	}
	if c.External[end] != 0 {
		c.External[i] = c.External[end]
	}
	if c.Args[i] == 0 || c.Args[end] == 0 {
		c.Args[i] = max(c.Args[i], c.Args[end])
		return
	}
	args, places := p.t.Event(i).Args(), make(map[Key]int)
	for k, a := range args {
		places[a.Key] = k
	}
	for _, a := range p.t.Event(end).Args() {
		if k, both := places[a.Key]; both {
			args[k] = a
		} else {
			args = append(args, a)
		}
	}
	c.Args[i] = p.t.args.add(args)
}
