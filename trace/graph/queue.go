package graph

// what is a thing that happens at a time. Of one time, what ends comes first, so that what it
// blocks starts before what comes after it.
type what uint8

const (
	ending   what = iota // a node ends
	moving               // a transfer begins to move data
	starting             // a node starts, if nothing is in its way
)

// entry is something that is going to happen.
type entry struct {
	at      int64
	node    Node
	version int32
	kind    what
}

// queue holds entries, the first to happen on top: a heap.
type queue []entry

func (e *entry) before(o *entry) bool {
	if e.at != o.at {
		return e.at < o.at
	}
	if e.kind != o.kind {
		return e.kind < o.kind
	}
	return e.node < o.node
}

func (q *queue) push(e entry) {
	h := append(*q, e)
	i := len(h) - 1
	for i > 0 {
		above := (i - 1) / 2
		if !e.before(&h[above]) {
			break
		}
		h[i], i = h[above], above
	}
	h[i] = e
	*q = h
}

func (q *queue) pop() entry {
	h := *q
	top, e := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	*q = h
	if len(h) == 0 {
		return top
	}
	i := 0
	for {
		below := 2*i + 1
		if below >= len(h) {
			break
		}
		if below+1 < len(h) && h[below+1].before(&h[below]) {
			below++
		}
		if !h[below].before(&e) {
			break
		}
		h[i], i = h[below], below
	}
	h[i] = e
	return top
}
