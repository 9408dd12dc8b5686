package memory

// Held is memory that was allocated in forward and is released in a backward pass of the
// same step: activations that autograd keeps, and whatever else lives as long.
type Held struct {
	Bytes    int64
	Forwards int // forward passes that the backward passes which release it run back through
}

// block is memory allocated in forward, by the index of its event.
type block struct {
	from  int
	bytes int64
}

// lease is a block that a backward pass released: held from one event to before another.
type lease struct {
	from, to int // indices of events
	bytes    int64
	pass     int // index into Window.Backwards
}

// leases finds what forward holds until backward among the events [from, to) of a window.
// An address that is given away again without a release ends an earlier life of it, whose
// release the trace lacks.
func (s *stream) leases(w *Window, from, to int) []lease {
	if !s.placed || len(w.Backwards) == 0 {
		return nil
	}
	clear(s.alive)
	var list []lease
	for i := from; i < to; i++ {
		e := &s.events[i]
		switch {
		case e.addr == 0 || e.bytes == 0:
		case e.bytes > 0 && w.phase(e.at) == Forward:
			s.alive[e.addr] = block{i, e.bytes}
		default:
			b, ok := s.alive[e.addr]
			delete(s.alive, e.addr)
			if pass := w.pass(e.at); ok && e.bytes < 0 && pass >= 0 {
				list = append(list, lease{b.from, i, b.bytes, pass})
			}
		}
	}
	return list
}

// holdings are the bytes held after each of n events, the first of which has index from.
func holdings(list []lease, from, n int) []int64 {
	held := make([]int64, n)
	for _, l := range list {
		held[l.from-from] = plus(held[l.from-from], l.bytes)
		held[l.to-from] = plus(held[l.to-from], -l.bytes)
	}
	for i := 1; i < n; i++ {
		held[i] = plus(held[i-1], held[i])
	}
	return held
}

// heldAt is what is held after an event.
func heldAt(list []lease, w *Window, event int) Held {
	var h Held
	passes := make(map[int]bool)
	for _, l := range list {
		if l.from <= event && event < l.to {
			h.Bytes = plus(h.Bytes, l.bytes)
			if !passes[l.pass] {
				passes[l.pass] = true
				h.Forwards += max(1, w.Backwards[l.pass].Forwards)
			}
		}
	}
	return h
}
