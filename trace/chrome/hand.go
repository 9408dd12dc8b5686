package chrome

import (
	"bytes"
	"runtime/debug"

	"github.com/gaprof/gaprof/trace"
)

const (
	lookback = 64      // bytes before an event that are searched for the end of the one before
	maxNames = 1 << 16 // distinct texts that a hand keeps; with more it starts anew

	maxTables = 8 << 20 // bytes of its tables, likewise

	typicalEvent = 256 // bytes
)

// hand is one of a team. It goes by the rules alone: whatever is odd ends its run
// and is left to the reader of the team.
type hand struct {
	team *team
	d    *reader

	rows    int   // of the last run: the next will have about as many
	counted int64 // bytes of it that are in team.tables
}

// work reads chunks until there are no more.
func (h *hand) work() {
	t := h.team
	debug.SetPanicOnFault(true) // of this goroutine: a mapped file may have become shorter
	for {
		select {
		case <-t.quit:
			return
		case r := <-t.free:
			chunk := t.next.Add(1) - 1
			if r.chunk = chunk; chunk >= t.end {
				return
			}
			h.read(r)
			t.done <- r
			if t.chunks.EndsBefore(chunk) {
				return
			}
		}
	}
}

// read makes a run of chunk r.chunk. Where it panics there is none: if the fault
// lies in what is to be read, the reader of the team meets it where somebody
// catches it.
func (h *hand) read(r *run) {
	r.start = -1
	defer func() {
		if h.d != nil {
			h.d.Release()
		}
		if recover() != nil {
			r.start, h.d = -1, nil
		}
	}()
	if h.d == nil || h.d.b.NumStrings() > maxNames || h.d.b.Bytes() > maxTables {
		h.renew()
	}
	d, first := h.d, r.chunk*h.team.size
	d.events, d.others, d.kineto, d.spans = 0, 0, false, r.spans[:0]
	clear(d.known)
	d.b.Reserve(max(h.rows+h.rows/8, int(h.team.size/typicalEvent)))
	if h.team.chunks.Open(&h.d.Window, r.chunk, lookback) {
		if i := d.findEvent(first, first+h.team.size); i >= 0 {
			start := d.At(i)
			r.stop = h.events(i, first+h.team.size)
			r.start = start
		}
	}
	h.rows = d.b.Len()
	d.b.Cut(&r.part)
	d.part++
	h.count(r)
	r.events, r.others, r.kineto, r.spans = d.events, d.others, d.kineto, d.spans
}

// renew makes a reader that has learned nothing yet.
func (h *hand) renew() {
	h.d = newReader(nil, h.team.d.opts, minChunk)
	h.d.isHand = true
	h.d.begin(0)
	h.d.b = trace.NewPartBuilder()
}

// findEvent returns the place of the first brace at an offset from first to before
// end where an event seems to begin, -1 where there is none.
func (d *reader) findEvent(first, end int64) int {
	for i := int(first - d.Base); ; i++ {
		if d.N-i < roomy && !d.EOF {
			from := max(i-lookback, 0)
			d.Slide(from)
			i -= from
		}
		k := bytes.IndexByte(d.Buf[min(i, d.N):d.N], '{')
		switch {
		case k < 0 && d.EOF || d.At(i+max(k, 0)) >= end:
			return -1
		case k < 0:
			i = d.N - 1
			continue
		}
		if i += k; !d.followsEvent(i) {
			continue
		}
		found, at, _ := d.try(i)
		if i = at; found {
			return i
		}
	}
}

// followsEvent tells whether a closing brace and a comma stand before the brace at i.
func (d *reader) followsEvent(i int) bool {
	if i = d.backOverSpace(i); i < 0 || d.Buf[i] != ',' {
		return false
	}
	i = d.backOverSpace(i)
	return i >= 0 && d.Buf[i] == '}'
}

// backOverSpace returns the last place before i without white space, -1 for none.
func (d *reader) backOverSpace(i int) int {
	for i--; i >= 0; i-- {
		if c := d.Buf[i]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			break
		}
	}
	return i
}

// events reads from the event at i on, up to the first that begins at end or behind
// it, and returns where it stopped.
func (h *hand) events(i int, end int64) (at spot) {
	d := h.d
	entry, comma := false, true
	for {
		if d.N-i < roomy && !d.EOF {
			d.Slide(i)
			i = 0
		}
		i = d.Space(i)
		at = spot{d.At(i), entry, comma}
		switch c := d.Buf[i]; {
		case c == ',' && entry:
			entry, comma = false, true
			i++
		case c == '{' && comma && at.pos < end && !h.team.stopped.Load():
			var stopped stop
			if i, stopped = d.plain(i, end); stopped != atEvent {
				entry, comma = stopped == behind, stopped == atComma
				continue
			}
			at = spot{d.At(i), false, true}
			if i = d.strictEvent(i); i < 0 {
				return at
			}
			entry, comma = true, false
		default:
			return at
		}
	}
}

// strictEvent reads the event at i as entry does, by the rules only; next is
// negative where one is broken.
func (d *reader) strictEvent(i int) (next int) {
	for {
		next = d.event(i)
		if next >= 0 {
			d.accept(i)
			return next
		}
		if !d.Wants(i, ^next) {
			return next
		}
		d.Slide(i)
		i = 0
	}
}
