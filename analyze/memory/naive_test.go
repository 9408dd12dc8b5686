package memory

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/steps"
)

// naive is the peak of a window by its definition, in the square of the events: each step
// looks at all of them. The events are in order and all have totals.
func naive(events []event, w *Window, start int64) (p Peak) {
	p.Allocated, p.Reserved, p.At = start, -1, w.Start
	top := -1
	var in []int
	for i, e := range events {
		switch {
		case e.at >= w.End || e.at < w.Start:
			continue
		case e.allocated > p.Allocated:
			p.Allocated, p.At, top = e.allocated, e.at, i
		}
		in = append(in, i)
	}
	p.Start, p.Phase = start, w.phase(p.At)
	held := func(at int) (h Held) {
		seen := make(map[int]bool)
		for k, i := range in {
			for _, j := range in[k+1:] {
				if events[j].addr != events[i].addr || events[i].addr == 0 {
					continue
				}
				pass := w.pass(events[j].at)
				if events[i].bytes > 0 && w.phase(events[i].at) == Forward && events[j].bytes < 0 && pass >= 0 &&
					i <= at && at < j {
					h.Bytes += events[i].bytes
					if !seen[pass] {
						seen[pass] = true
						h.Forwards += w.Backwards[pass].Forwards
					}
				}
				break // the next event of the address ends its life
			}
		}
		return h
	}
	p.AtPeak = held(top)
	for _, i := range in {
		if h := held(i); h.Bytes > p.Most.Bytes {
			p.Most = h
		}
	}
	return p
}

// randomWindows are steps that follow one another, with some backward passes each.
func randomWindows(r *rand.Rand, length int64) []Window {
	var list []Window
	at := int64(0)
	for at < length {
		w := Window{Start: at, End: at + 50 + r.Int64N(200)}
		for b := w.Start + r.Int64N(40); b+20 < w.End-20; b += 25 + r.Int64N(60) {
			end := min(b+r.Int64N(40), w.End-20)
			w.Backwards = append(w.Backwards, gradients.Backward{Start: b, End: end, Forwards: 1 + r.IntN(3)})
			b = end
		}
		if r.IntN(4) > 0 {
			w.Update = steps.Interval{Start: w.End - 10, End: w.End}
		}
		list = append(list, w)
		at = w.End
	}
	return list
}

// What Find says of random events is what its definitions say.
func TestAgainstNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	held := 0
	for range 300 {
		windows := randomWindows(r, 900)
		var b strings.Builder
		var events []event
		level, first := int64(100), int64(100)
		for at := int64(0); at < windows[len(windows)-1].End; at += r.Int64N(9) {
			e := event{at: at, bytes: 1 + r.Int64N(50), addr: r.Int64N(12)}
			if level > 300 || r.IntN(2) == 0 && level > 100 {
				e.bytes = -min(e.bytes, level)
			}
			level += e.bytes
			e.allocated = level
			events = append(events, e)
			fmt.Fprintf(&b, "1/1 %d i - [memory] size=%d addr=%d devid=0 devtype=1 allocated=%d\n",
				at, e.bytes, e.addr, level)
		}
		if len(events) == 0 {
			continue
		}
		got := Find(rank(t, b.String()), windows)[0].Peaks
		start := first
		for i := range windows {
			w := &windows[i]
			want := naive(events, w, start)
			p := got[i]
			p.Window, p.Event = want.Window, want.Event
			if p.Reserved = -1; fmt.Sprint(p) != fmt.Sprint(want) {
				t.Fatalf("window %d %+v\n got %+v\nwant %+v", i, w, p, want)
			}
			if p.Most.Bytes > 0 {
				held++
			}
			for _, e := range events {
				if e.at < w.End {
					start = e.allocated
				}
			}
		}
	}
	if held < 300 {
		t.Errorf("only %d windows hold anything", held)
	}
}
